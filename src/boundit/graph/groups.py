"""Groups: names for sets of variables, most often with arbitrary relations among them.

The members of ``Z = {Age, Sex, Income}`` may be related in any way: each may cause others, in
whatever order, and unmeasured causes may be common to several. The graph says so by a
bidirected edge between every two members, and by leading each edge into one member into all of
them, since its cause may affect the others through that one.

Why that suffices: take any model in which the members cause each other in some order, with
unmeasured causes, and solve its equations for the members. Each member is then a function of
the causes of the group outside it and of one shared unmeasured variable, which is what the
edges say. An intervention on other variables leaves the solution as it is, so every
distribution of the model, observed or under such an intervention, is one of the graph. The
effect of a member on the others is not in the graph: a member cannot be a treatment. And edges
must not lead out of the group and back into it, for then none exists.

The members of ``Z = independent {A, B}`` have no edges among each other, which is a claim.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

from boundit.core.errors import GraphError, shorten
from boundit.core.names import Nodes, is_name, sort_names, write_name

Edges = frozenset[tuple[str, str]]


class InvalidGroup(GraphError):
    """A group that names nothing, or whose members cannot be related as it says."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        shown = write_name(name) if is_name(name) else repr(name)
        super().__init__(f"group {shorten(shown)}: {reason}")


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A name for several variables; unless ``independent`` they may be related in any way."""

    name: str
    members: Nodes
    independent: bool = False

    def __str__(self) -> str:
        word = "independent " if self.independent else ""
        members = ", ".join(map(write_name, sort_names(self.members)))
        return f"{write_name(self.name)} = {word}{{{members}}}"


Groups = tuple[NodeGroup, ...]


def sort_groups(groups: Iterable[NodeGroup]) -> Groups:
    """Put groups in the order of their names, so that graphs compare."""
    place = {name: i for i, name in enumerate(sort_names({group.name for group in groups}))}
    return tuple(sorted(groups, key=lambda group: place[group.name]))


def restrict_groups(groups: Groups, kept: Nodes) -> Groups:
    """Make the groups of a part of the graph; a group without members there is left out."""
    return tuple(replace(g, members=g.members & kept) for g in groups if g.members & kept)


def find_relatives(groups: Groups) -> dict[str, Nodes]:
    """Find for each member of a group whose members may be related the whole group."""
    return {name: g.members for g in groups if not g.independent for name in g.members}


def close_groups(groups: Groups, directed: Edges, bidirected: Edges) -> tuple[Edges, Edges]:
    """Add the edges that a graph needs if members of groups may be related in any way.

    Every two members share a hidden cause, and what leads into one leads into all.
    """
    whole = find_relatives(groups)
    arrows = {
        (a, each)
        for a, b in directed
        for each in ((b,) if a in whole.get(b, ()) else whole.get(b, (b,)))
    }
    arcs = {
        (min(one, other), max(one, other))
        for a, b in bidirected
        for one in whole.get(a, (a,))
        for other in whole.get(b, (b,))
        if one != other or a == b
    }
    for members in whole.values():
        arcs.update(combinations(sorted(members), 2))
    return frozenset(arrows), frozenset(arcs)


def check_members(groups: Groups, nodes: Nodes, selection: str | None) -> None:
    """Refuse groups without members, of one name, or that share a variable."""
    taken, names = dict[str, str](), set[str]()
    for group in groups:
        name, unknown = group.name, sort_names(group.members - nodes)
        for is_wrong, reason in (
            (name in names, "it is defined twice; define it once"),
            (not is_name(name), "its name must be printable text"),
            (name in nodes, "a node has the same name; call the group otherwise"),
            (not group.members, "it has no members; write them as in 'Z = {Age, Sex}'"),
            (unknown, f"{next(iter(unknown), '')!r} is not a node of the graph"),
            (
                selection in group.members,
                f"{selection!r} is the selection node, which belongs to no group",
            ),
        ):
            if is_wrong:
                raise InvalidGroup(str(name), reason)
        names.add(name)
        for member in sort_names(group.members):
            if member in taken:
                raise InvalidGroup(
                    name,
                    f"{member!r} is in the group {taken[member]!r} too; a variable is in one "
                    "group at most, so write one group of all of them",
                )
            taken[member] = name


def check_edges(groups: Groups, directed: Edges, bidirected: Edges) -> None:
    """Refuse edges between members called independent, and a graph that lacks a group's edges."""
    for group in groups:
        for a, b in sorted(directed | bidirected if group.independent else ()):
            if a in group.members and b in group.members:
                raise InvalidGroup(
                    group.name,
                    f"an edge joins {write_name(a)} and {write_name(b)}, which it calls "
                    "independent; leave out the edge, or the word 'independent'",
                )
    if close_groups(groups, directed, bidirected) != (directed, bidirected):
        related = next(group for group in groups if not group.independent)
        raise InvalidGroup(
            related.name,
            "edges between its members, or into all of them, are missing; make the graph with "
            "CausalGraph.of, which adds them",
        )
