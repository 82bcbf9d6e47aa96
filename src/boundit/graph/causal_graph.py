"""Causal graphs: acyclic mixed graphs with at most one selection node, and their projection.

A directed edge ``A -> B`` says that A may cause B, a bidirected edge ``A <-> B`` that an
unmeasured variable may cause both. The *selection node* indicates which rows were logged: the
log shows the population given ``S = 1``. A ``CausalGraph`` has no hidden variables: ``project``
replaces them by bidirected edges.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from boundit.core.errors import (
    EmptyGraph,
    GraphError,
    HasCycle,
    InvalidName,
    SelectionHasChildren,
    SelfLoop,
    UnknownNode,
    shorten,
)
from boundit.core.names import (
    Names,
    Nodes,
    is_name,
    join_names,
    read_nodes,
    sort_names,
    write_name,
)
from boundit.core.public_names import find_forwarded
from boundit.graph.groups import (
    Groups,
    InvalidGroup,
    NodeGroup,
    check_edges,
    check_members,
    close_groups,
    find_relatives,
    restrict_groups,
    sort_groups,
)

if TYPE_CHECKING:
    import networkx as nx

Edge: TypeAlias = tuple[str, str]


class Links(NamedTuple):
    """The neighbours of one node: by edges into it, out of it, and bidirected."""

    parents: tuple[str, ...]
    children: tuple[str, ...]
    siblings: tuple[str, ...]


@dataclass(frozen=True)
class CausalGraph:
    """An acyclic mixed graph over observed variables and one optional selection node.

    >>> arrows = [("X", "Y"), ("Y", "S")]
    >>> g = CausalGraph.of(directed=arrows, bidirected=[("Y", "X")], selection="S")
    >>> print(g)
    X -> Y; Y -> [S]; X <-> Y
    >>> sorted(g.observed), g.selection
    (['X', 'Y'], 'S')
    """

    nodes: Nodes
    directed: frozenset[Edge]
    bidirected: frozenset[Edge]
    selection: str | None = None
    groups: Groups = ()

    @classmethod
    def of(
        cls,
        nodes: Names = (),
        *,
        directed: Iterable[Edge] = (),
        bidirected: Iterable[Edge] = (),
        selection: str | None = None,
        groups: Iterable[NodeGroup] = (),
    ) -> Self:
        """Build a graph from edges.

        Parameters
        ----------
        nodes
            Nodes; those that have an edge need not be listed.
        directed, bidirected
            Pairs of nodes.
        selection
            The selection node, if there is one.
        groups
            Groups of variables; the edges that groups of arbitrary relations imply are added.

        Returns
        -------
        CausalGraph
            The graph; what cannot be a causal graph is refused.
        """
        arrows = frozenset(map(_read_edge, directed))
        arcs = frozenset((a, b) if a <= b else (b, a) for a, b in map(_read_edge, bidirected))
        named = read_nodes(nodes).union(*arrows, *arcs, (selection,) if selection else ())
        if held := tuple(groups):
            held = sort_groups(held)
            named = named.union(*(group.members for group in held))
            check_members(held, named, selection)
            _refuse_return(held, named, arrows)
            arrows, arcs = close_groups(held, arrows, arcs)
        return cls(named, arrows, arcs, selection, held)

    def __post_init__(self) -> None:
        """Refuse what cannot be a causal graph; ``_make_part`` need not, as the whole was."""
        for name in self.nodes:
            if not is_name(name):
                raise InvalidName(name)
        for a, b in sorted(self.directed | self.bidirected):
            self.require((a, b))
            if a == b:
                raise SelfLoop(a)
        if self.selection is not None:
            self.require(self.selection)
            if children := self.links[self.selection].children:
                raise SelectionHasChildren(self.selection, children)
        if not self.observed:
            raise EmptyGraph("it has no observed node" if self.nodes else "it has no nodes")
        _ = self.order
        if self.groups:
            check_members(self.groups, self.nodes, self.selection)
            check_edges(self.groups, self.directed, self.bidirected)

    @classmethod
    def _make_part(
        cls,
        nodes: Nodes,
        directed: frozenset[Edge],
        bidirected: frozenset[Edge],
        selection: str | None,
        groups: Groups = (),
    ) -> Self:
        """Make a graph of some nodes and edges of a valid one, without checking them again.

        It may be empty, and has no groups where edges of theirs were cut.
        """
        graph = object.__new__(cls)
        vars(graph).update(
            nodes=nodes,
            directed=directed,
            bidirected=bidirected,
            selection=selection,
            groups=groups,
        )
        return graph

    @property
    def observed(self) -> Nodes:
        """``V``: every node but the selection node."""
        return self.nodes - {self.selection} if self.selection else self.nodes

    @cached_property
    def links(self) -> Mapping[str, Links]:
        """The parents, children and siblings of every node, sorted, so that searches repeat."""
        found: dict[str, tuple[list[str], list[str], list[str]]] = {
            node: ([], [], []) for node in self.nodes
        }
        for a, b in sorted(self.directed):
            found[a][1].append(b)
            found[b][0].append(a)
        for a, b in sorted(self.bidirected):
            found[a][2].append(b)
            found[b][2].append(a)
        return {node: Links(*map(tuple, kinds)) for node, kinds in found.items()}

    @cached_property
    def relatives(self) -> Mapping[str, Nodes]:
        """The members of the group of each variable that is in one of arbitrary relations."""
        return find_relatives(self.groups)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every node after its causes; the selection node last; ties by name."""
        return order_causally(
            {node: links.children for node, links in self.links.items()}, last=self.selection
        )

    def require(self, names: Names) -> Nodes:
        """Return ``names`` as a set, or raise UnknownNode for the first that is missing."""
        asked = read_nodes(names)
        if not asked <= self.nodes:
            name = sort_names(asked - self.nodes)[0]
            for group in self.groups:
                if group.name == name:
                    members = join_names(group.members)
                    raise InvalidGroup(
                        name, f"it is not a variable; name its members, {members}"
                    )
            raise UnknownNode(name, self.nodes)
        return asked

    def ancestors(self, of: Names) -> Nodes:
        """Find ``An(of)``: all causes of these nodes, direct or not, and the nodes themselves."""
        return self._follow_links(self.require(of), 0)

    def descendants(self, of: Names) -> Nodes:
        """Find ``De(of)``: all effects of these nodes, direct or not, and the nodes themselves."""
        return self._follow_links(self.require(of), 1)

    def parents(self, of: Names) -> Nodes:
        """Find ``Pa(of)``: the direct causes of the set that lie outside it."""
        asked = self.require(of)
        return frozenset().union(*(self.links[n].parents for n in asked)) - asked

    def selecting(self) -> Nodes:
        """Find ``An(S)``: the selection node and all its causes; empty without one."""
        return (
            self._follow_links(frozenset((self.selection,)), 0) if self.selection else Nodes()
        )

    def components(self) -> tuple[Nodes, ...]:
        """List the c-components: the largest sets of nodes that bidirected edges join.

        The selection node is in one of them; they come in the causal order of their first
        nodes.

        >>> chain = [("X", "M"), ("M", "Y")]
        >>> front_door = CausalGraph.of(directed=chain, bidirected=[("X", "Y")])
        >>> [sorted(c) for c in front_door.components()]
        [['X', 'Y'], ['M']]
        """
        found: list[Nodes] = []
        placed: set[str] = set()
        for node in self.order:
            if node not in placed:
                found.append(self._follow_links(frozenset((node,)), 2))
                placed |= found[-1]
        return tuple(found)

    def induced(self, kept: Names) -> Self:
        """Make ``G_kept``: the graph of these nodes and the edges among them."""
        inside = self.require(kept)
        return self._make_part(
            inside,
            frozenset(e for e in self.directed if e[0] in inside and e[1] in inside),
            frozenset(e for e in self.bidirected if e[0] in inside and e[1] in inside),
            self.selection if self.selection in inside else None,
            restrict_groups(self.groups, inside) if self.groups else (),
        )

    def without_edges_into(self, targets: Names) -> Self:
        """Make ``G`` without edges into ``targets``, bidirected too: the graph under ``do``."""
        cut = self.require(targets)
        return self._make_part(
            self.nodes,
            frozenset(e for e in self.directed if e[1] not in cut),
            frozenset(e for e in self.bidirected if e[0] not in cut and e[1] not in cut),
            self.selection,
        )

    def without_edges_out_of(self, sources: Names) -> Self:
        """Make ``G`` without the edges out of ``sources``, as Rule 2 of the do-calculus asks."""
        cut = self.require(sources)
        return self.without_edges(e for e in self.directed if e[0] in cut)

    def without_edges(self, edges: Iterable[Edge]) -> Self:
        """Make ``G`` without these directed edges."""
        kept = self.directed - frozenset(edges)
        return self._make_part(self.nodes, kept, self.bidirected, self.selection)

    def without_groups(self) -> Self:
        """Make the same graph without the names of its groups; their edges stay."""
        if not self.groups:
            return self
        return self._make_part(self.nodes, self.directed, self.bidirected, self.selection)

    def format(self, to: Literal["text", "dot", "dagitty", "json"] = "text") -> str:
        """Write the graph as ``"text"``, ``"dot"``, ``"dagitty"`` or ``"json"``."""
        written: str = find_forwarded("format_graph")(self, to)
        return written

    @classmethod
    def from_networkx(cls, source: "nx.Graph") -> "CausalGraph":
        """Read a graph of networkx, or one that a graph of pgmpy or dowhy holds.

        An edge with a true attribute ``bidirected`` is bidirected.
        """
        made: CausalGraph = find_forwarded("from_networkx")(source)
        return made

    def to_networkx(self) -> "nx.MultiDiGraph":
        """Write the graph for networkx; a bidirected edge has ``bidirected=True``."""
        made: nx.MultiDiGraph = find_forwarded("to_networkx")(self)
        return made

    def __repr__(self) -> str:
        return f"<CausalGraph {shorten(str(self), 200)}>"

    def _repr_html_(self) -> str:
        """Show the drawing of the graph in a notebook."""
        shown: str = find_forwarded("show_graph")(self)
        return shown

    def __str__(self) -> str:
        return self.format()

    def _follow_links(self, start: Nodes, kind: int) -> Nodes:
        """Collect ``start`` and what links of one kind, a place in ``Links``, reach from it."""
        links, reached, queue = self.links, set(start), deque(start)
        while queue:
            for node in links[queue.pop()][kind]:
                if node not in reached:
                    reached.add(node)
                    queue.append(node)
        return frozenset(reached)


def project(graph: CausalGraph, hidden: Names) -> CausalGraph:
    """Make the latent projection of a graph (Verma and Pearl 1990): hide some of its nodes.

    ``A -> B`` when a directed path leads from A to B through hidden nodes alone; ``A <-> B``
    when a common cause reaches both through hidden nodes alone. The projection has the same
    separations among the nodes that stay.

    Parameters
    ----------
    graph
        The causal graph.
    hidden
        The nodes to hide.

    Returns
    -------
    CausalGraph
        The graph of the other nodes.

    Examples
    --------
    >>> drawn = CausalGraph.of(directed=[("C", "X"), ("C", "Y"), ("X", "M"), ("M", "Y")])
    >>> print(project(drawn, {"C", "M"}))
    X -> Y; X <-> Y
    """
    gone = graph.require(hidden)
    if graph.selection in gone:
        raise GraphError(
            f"{write_name(graph.selection)} is the selection node; every row shows it"
        )
    if gone >= graph.observed:
        raise EmptyGraph("every node is hidden")
    links = {node: tuple(map(set, kinds)) for node, kinds in graph.links.items()}

    def count_fill(node: str) -> int:
        """Count the edges that hiding a node may add."""
        return len(links[node][1]) * sum(map(len, links[node]))

    # Cheapest first: eliminating a node joins its causes and siblings to its effects.
    for node in sorted(sort_names(gone), key=count_fill):
        parents, children, siblings = links.pop(node)
        for cause in parents:
            links[cause][1].discard(node)
            links[cause][1].update(children)
        for sibling in siblings:
            links[sibling][2].discard(node)
            links[sibling][2].update(children - {sibling})
        for effect in children:
            above, _, beside = links[effect]
            above.discard(node)
            above.update(parents)
            beside.update((children | siblings) - {effect})
    return CausalGraph.of(
        links,
        directed=((a, b) for a, (_, children, _) in links.items() for b in children),
        bidirected=((a, b) for a, (_, _, siblings) in links.items() for b in siblings),
        selection=graph.selection,
        groups=restrict_groups(graph.groups, graph.nodes - gone),
    )


def order_causally(
    children: Mapping[str, Sequence[str]], *, last: str | None = None
) -> tuple[str, ...]:
    """Put every node after its causes, ties by name, and ``last`` at the end.

    ``last`` must have no children. Raises HasCycle with a shortest cycle through its first node
    when there is no order.

    >>> order_causally({"Y": [], "X": ["Y"], "S": [], "A": []}, last="S")
    ('A', 'X', 'Y', 'S')
    """
    waiting = dict.fromkeys(children, 0)
    for effects in children.values():
        for effect in effects:
            waiting[effect] += 1
    ready = [node for node, n in waiting.items() if n == 0]
    order = list[str]()
    heapq.heapify(ready)
    while ready:
        order.append(heapq.heappop(ready))
        for effect in children[order[-1]]:
            waiting[effect] -= 1
            if waiting[effect] == 0:
                heapq.heappush(ready, effect)
    if len(order) < len(children):
        raise HasCycle(_find_cycle(children))
    if last is not None:
        order.remove(last)
        order.append(last)
    return tuple(order)


def _find_cycle(children: Mapping[str, Sequence[str]]) -> list[str]:
    """Find a directed cycle, as short as one through its first node can be."""
    cycle: Sequence[str] = ()
    try:
        TopologicalSorter({node: children[node] for node in sorted(children)}).prepare()
    except CycleError as error:
        cycle = error.args[1]
    start = min(cycle)
    came_from, queue = dict[str, str](), deque([start])
    while start not in came_from:
        node = queue.popleft()
        for effect in children[node]:
            if effect not in came_from:
                came_from[effect] = node
                queue.append(effect)
    walk = [start, came_from[start]]
    while walk[-1] != start:
        walk.append(came_from[walk[-1]])
    return walk[::-1]


def _refuse_return(groups: Groups, nodes: Nodes, directed: Iterable[Edge]) -> None:
    """Refuse arrows that lead out of a group of arbitrary relations, and back into it."""
    unit = {name: g.name for g in groups if not g.independent for name in g.members}
    children: dict[str, list[str]] = {unit.get(name, name): [] for name in nodes}
    for a, b in sorted(directed):
        one, other = unit.get(a, a), unit.get(b, b)
        if one != other:
            children[one].append(other)
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


def _refuse_edge(found: object) -> GraphError:
    shown = shorten(repr(found), 40)
    return GraphError(f"an edge is a pair of names such as ('X', 'Y'), found {shown}")


def _read_edge(edge: Edge) -> Edge:
    """Read an edge as a pair of names, or refuse it."""
    match edge:
        case (str(a), str(b)):
            return a, b
        case _:
            raise _refuse_edge(edge)
