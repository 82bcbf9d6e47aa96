"""Groups: a name for many variables, whose relations among each other nobody needs to know.

The members of ``Z = {Age, Sex, Income}`` may be related in any way: each may cause others, in
whatever order, and hidden causes may move several of them. The graph says so by a bidirected
edge between every two members, and by leading whatever leads into one member into all of them,
since it may move the others by way of that one.

Why that holds: take any model in which the members cause each other in some order, with hidden
causes, and solve its equations for the members. Each member is then a function of the causes of
the group that lie outside and of one shared hidden variable, which is what the edges say. No
intervention on other variables touches the solution, so every law of the model, observed or
under such an intervention, is a law of the graph. Only what a member itself would do to others
is not in it: a member cannot be an arm. And arrows must not lead out of the group and back into
it, for then there is nothing to solve for at once.

The members of ``Z = independent {A, B}`` have no edges among each other, which is a claim.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

from boundit.graph.order import order_causally
from boundit.terms.errors import HasCycle, InvalidGraph, shorten
from boundit.terms.names import Nodes, is_name, sort_names, write_name

Edges = frozenset[tuple[str, str]]


class InvalidGroup(InvalidGraph):
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

    def restrict(self, kept: Nodes) -> "NodeGroup | None":
        """Make the group of those members that are kept; None if none is."""
        members = self.members & kept
        return NodeGroup(self.name, members, self.independent) if members else None


Groups = tuple[NodeGroup, ...]


def sort_groups(groups: Iterable[NodeGroup]) -> Groups:
    """Put groups in the order of their names, so that graphs compare."""
    place = {name: i for i, name in enumerate(sort_names({group.name for group in groups}))}
    return tuple(sorted(groups, key=lambda group: place[group.name]))


def restrict_groups(groups: Groups, kept: Nodes) -> Groups:
    """Make the groups of a part of the graph; a group without members there is left out."""
    return tuple(part for group in groups if (part := group.restrict(kept)))


def find_relatives(groups: Groups) -> dict[str, Nodes]:
    """Find for each member of a group whose members may be related the whole group."""
    return {name: g.members for g in groups if not g.independent for name in g.members}


def close_groups(groups: Groups, directed: Edges, bidirected: Edges) -> tuple[Edges, Edges]:
    """Add the edges that a graph needs if members of groups may be related in any way.

    Every two members share a hidden cause, and what leads into one leads into all. Refuses
    arrows that lead out of a group and back.
    """
    _refuse_return(groups, directed)
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
        if group.name in names:
            raise InvalidGroup(group.name, "it is defined twice; define it once")
        names.add(group.name)
        _check_names(group, nodes, selection)
        for member in sort_names(group.members):
            if member in taken:
                raise InvalidGroup(
                    group.name,
                    f"{member!r} is in the group {taken[member]!r} too; a variable is in one "
                    "group at most, so write one group of all of them",
                )
            taken[member] = group.name


def check_edges(groups: Groups, directed: Edges, bidirected: Edges) -> None:
    """Refuse edges between members called independent, and a graph that lacks a group's edges."""
    for group in groups:
        if group.independent:
            _refuse_edges(group, directed | bidirected)
    if close_groups(groups, directed, bidirected) != (directed, bidirected):
        related = next(group for group in groups if not group.independent)
        raise InvalidGroup(
            related.name,
            "edges between its members, or into all of them, are missing; make the graph with "
            "CausalGraph.of, which adds them",
        )


def _check_names(group: NodeGroup, nodes: Nodes, selection: str | None) -> None:
    """Refuse a group without members, or whose names are not those of variables."""
    if not is_name(group.name):
        raise InvalidGroup(str(group.name), "its name must be printable text")
    if group.name in nodes:
        raise InvalidGroup(group.name, "a node has the same name; call the group otherwise")
    if not group.members:
        raise InvalidGroup(group.name, "it has no members; write them as in 'Z = {Age, Sex}'")
    if unknown := group.members - nodes:
        raise InvalidGroup(group.name, f"{sort_names(unknown)[0]!r} is no node of the graph")
    if selection in group.members:
        raise InvalidGroup(
            group.name, f"{selection!r} is the selection node, which belongs to no group"
        )


def _refuse_edges(group: NodeGroup, edges: Collection[tuple[str, str]]) -> None:
    """Refuse an edge between members that are called independent."""
    for a, b in sorted(edges):
        if a in group.members and b in group.members:
            raise InvalidGroup(
                group.name,
                f"an edge joins {write_name(a)} and {write_name(b)}, which it calls "
                "independent; leave out the edge, or the word 'independent'",
            )


def _refuse_return(groups: Groups, directed: Edges) -> None:
    """Refuse arrows that lead out of a group, and back into it."""
    unit = {name: g.name for g in groups if not g.independent for name in g.members}
    children: dict[str, list[str]] = {}
    for a, b in sorted(directed):
        one, other = unit.get(a, a), unit.get(b, b)
        children.setdefault(other, [])
        after = children.setdefault(one, [])
        if one != other:
            after.append(other)
    try:
        order_causally(children)
    except HasCycle as error:
        named = [name for name in error.cycle if name in set(unit.values())]
        if not named:
            raise
        way = shorten(" -> ".join(map(write_name, error.cycle)))
        raise InvalidGroup(
            named[0],
            f"arrows lead out of it and back ({way}), and its members may be related in any "
            "way; take those before or those after out of the group",
        ) from None
