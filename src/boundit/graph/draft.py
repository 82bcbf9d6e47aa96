"""Drafts of graphs as readers of files find them: edges and marks, not yet checked."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from boundit.core.errors import EmptyGraph, GraphError, shorten
from boundit.core.names import sort_names, write_name
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.groups import InvalidGroup, NodeGroup

FORWARD, BACKWARD, BIDIRECTED = "->", "<-", "<->"
RELATED, INDEPENDENT = "related", "independent"
"""Attributes of a node that name its group, by how members may be related."""
_NO = frozenset({"", "0", "false", "no", "none", "off"})
_NUMBER = r"([-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][-+]?\d{1,2})?)"
_PLACE = re.compile(rf"\s*{_NUMBER}\s*,\s*{_NUMBER}\s*!?\s*")
"""Where a file draws a node; an exclamation mark is Graphviz's word for "stay there"."""


def refuse_selections(names: Iterable[str]) -> GraphError:
    """Say that a graph marks several selection nodes."""
    shown = shorten(", ".join(map(write_name, sort_names(names))))
    return GraphError(
        f"the graph marks several selection nodes, {shown}; a row is logged or not: give one node "
        "the parents of all of them"
    )


@dataclass
class GraphDraft:
    """What a file says of a graph. Every reader fills one; ``make_graph`` checks it."""

    nodes: set[str] = field(default_factory=set)
    directed: set[tuple[str, str]] = field(default_factory=set)
    bidirected: set[tuple[str, str]] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    selections: set[str] = field(default_factory=set)
    groups: dict[str, NodeGroup] = field(default_factory=dict)
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    exposures: set[str] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)

    @classmethod
    def from_graph(cls, graph: CausalGraph) -> "GraphDraft":
        """Make the draft that a graph would be read from, to be written in some format."""
        return cls(
            nodes=set(graph.nodes),
            directed=set(graph.directed),
            bidirected=set(graph.bidirected),
            selections={graph.selection} if graph.selection else set(),
            groups={group.name: group for group in graph.groups},
        )

    def connect(self, left: str, edge: str, right: str) -> None:
        """Add one edge to the draft as a file writes it: ``->``, ``<-`` or ``<->``."""
        self.nodes |= {left, right}
        match edge:
            case "->":
                self.directed.add((left, right))
            case "<-":
                self.directed.add((right, left))
            case _:
                self.bidirected.add((left, right))

    def add_group(self, name: str, members: Iterable[str], *, independent: bool) -> None:
        """Add a group to the draft; each member is named once."""
        listed = list(members)
        if name in self.groups:
            raise InvalidGroup(name, "it is defined twice; define it once")
        for member in listed:
            if listed.count(member) > 1:
                raise InvalidGroup(name, f"{member!r} is in it twice; name it once")
        self.groups[name] = NodeGroup(name, frozenset(listed), independent)

    def mark_nodes(self, attributes: Mapping[str, Mapping[str, object]]) -> None:
        """Add nodes with what their attributes say: hidden, selection node, member of a group.

        ``latent`` and ``unobserved`` hide a node, and so does ``observed=no``; ``selected``
        makes it the selection node; ``related`` and ``independent`` name its group.
        """
        members: dict[tuple[str, bool], list[str]] = {}
        for node, marks in attributes.items():
            self.nodes.add(node)
            if any(is_flag_set(marks.get(word)) for word in ("latent", "unobserved")) or (
                "observed" in marks and not is_flag_set(marks["observed"])
            ):
                self.hidden.add(node)
            if is_flag_set(marks.get("selected")):
                self.selections.add(node)
            for word in (RELATED, INDEPENDENT):
                if isinstance(name := marks.get(word), str) and name:
                    members.setdefault((name, word == INDEPENDENT), []).append(node)
        for (name, independent), named in members.items():
            if name in self.nodes:
                raise InvalidGroup(name, "a node has the same name; call the group otherwise")
            self.add_group(name, named, independent=independent)

    def name_groups(self) -> dict[str, tuple[str, str]]:
        """Find for each member of a group the attribute that names the group, and its name."""
        return {
            member: (INDEPENDENT if group.independent else RELATED, group.name)
            for group in self.groups.values()
            for member in group.members
        }

    def make_graph(self) -> CausalGraph:
        """Check the draft's names and edges, and make a causal graph without its hidden nodes."""
        if not self.nodes and not self.groups:
            raise EmptyGraph
        if len(self.selections) > 1:
            raise refuse_selections(self.selections)
        if both := self.selections & self.hidden:
            raise GraphError(
                f"{write_name(min(both))} is marked both hidden and selection; every logged row "
                "shows that it was selected"
            )
        self._check_groups()
        graph = CausalGraph.of(
            self.nodes - self.groups.keys(),
            directed=self._expand(self.directed),
            bidirected=self._expand(self.bidirected),
            selection=next(iter(self.selections), None),
            groups=self.groups.values(),
        )
        graph.require(self.hidden)
        return project(graph, self.hidden) if self.hidden else graph

    def place(self, node: str, text: object) -> None:
        """Note where a file draws a node, as in ``"1.5,-2"``; other text is passed over."""
        if found := _PLACE.fullmatch(text) if isinstance(text, str) else None:
            self.positions[node] = float(found[1]), float(found[2])

    def expand(self) -> "GraphDraft":
        """Make a draft whose edges join variables alone, with the members of groups named."""
        return replace(
            self,
            nodes=self.nodes - self.groups.keys(),
            directed=set(self._expand(self.directed)),
            bidirected=set(self._expand(self.bidirected)),
        )

    def _check_groups(self) -> None:
        """Refuse groups in groups, hidden members, and a group that is marked like a node."""
        for name, group in self.groups.items():
            if inner := group.members & self.groups.keys():
                raise InvalidGroup(
                    name, f"{min(inner)!r} is a group itself; name its members instead"
                )
            if unseen := (group.members | {name}) & self.hidden:
                raise InvalidGroup(
                    name,
                    f"{min(unseen)!r} is hidden; members may have hidden causes anyway, so "
                    "leave it out",
                )
            if name in self.selections:
                raise InvalidGroup(
                    name, "it is marked as the selection node, which is one node"
                )

    def _expand(self, edges: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Put the members of a group in place of its name, in every edge."""
        for a, b in edges:
            for name, other in ((a, b), (b, a)):
                if name in self.groups and other in {name, *self.groups[name].members}:
                    raise InvalidGroup(
                        name,
                        f"an edge joins it with {write_name(other)}, which is part of it; draw "
                        "edges between members one by one, or none",
                    )
            yield from product(
                *(self.groups[n].members if n in self.groups else (n,) for n in (a, b))
            )


def is_flag_set(value: object) -> bool:
    """Read a yes-or-no attribute of a graph file: true, yes, 1 or the bare word mean yes.

    >>> [is_flag_set(value) for value in ("yes", True, "False", 0, None)]
    [True, True, False, False, False]
    """
    return value is not None and str(value).strip().casefold() not in _NO
