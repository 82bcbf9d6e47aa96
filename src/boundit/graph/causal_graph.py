"""Causal graphs: acyclic mixed graphs with at most one selection node, and their projection.

A directed edge ``A -> B`` says that A may cause B, a bidirected edge ``A <-> B`` that an
unmeasured variable may cause both. The *selection node* indicates which rows were logged: the
log shows the population given ``S = 1``. A ``CausalGraph`` has no hidden variables: ``project``
replaces them by bidirected edges.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from boundit.core.verdict import Verdict
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

    from boundit.estimand.derivation import Paths
    from boundit.estimand.query import EffectQuery

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
        """Refuse what cannot be a causal graph; ``make_part`` need not, as the whole was."""
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
    def make_part(
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

    @cached_property
    def bits(self) -> "BitGraph":
        """The links as bit masks, for searches."""
        return BitGraph(self)

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
        return self.make_part(
            inside,
            frozenset(e for e in self.directed if e[0] in inside and e[1] in inside),
            frozenset(e for e in self.bidirected if e[0] in inside and e[1] in inside),
            self.selection if self.selection in inside else None,
            restrict_groups(self.groups, inside) if self.groups else (),
        )

    def without_edges_into(self, targets: Names) -> Self:
        """Make ``G`` without edges into ``targets``, bidirected too: the graph under ``do``."""
        cut = self.require(targets)
        return self.make_part(
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
        return self.make_part(self.nodes, kept, self.bidirected, self.selection)

    def without_groups(self) -> Self:
        """Make the same graph without the names of its groups; their edges stay."""
        if not self.groups:
            return self
        return self.make_part(self.nodes, self.directed, self.bidirected, self.selection)

    def format(self, to: Literal["text", "dot", "dagitty", "json"] = "text") -> str:
        """Write the graph as ``"text"``, ``"dot"``, ``"dagitty"`` or ``"json"``."""
        written: str = find_forwarded("format_graph")(self, to)
        return written

    def separated(self, a: Names, b: Names, given: Names = ()) -> Verdict:
        """Judge whether ``given`` separates two sets of variables (m-separation).

        Returns
        -------
        Verdict
            True if every path is blocked; otherwise ``witness`` is a shortest open one.

        Examples
        --------
        >>> graph = CausalGraph.of(directed=[("Talent", "Fame"), ("Looks", "Fame")])
        >>> bool(graph.separated("Talent", "Looks"))
        True
        >>> print(graph.separated("Talent", "Looks", given="Fame"))
        no, by m-separation: a path is open [Talent -> Fame <- Looks]
        """
        walk = find_forwarded("open_walk")(self, a, b, given=given)
        reason = "a path is open" if walk else "every path is blocked"
        return Verdict(walk is None, "m-separation", reason, walk or ())

    def paths(self, query: "EffectQuery | str") -> "Paths":
        """List the causal and the biasing paths of the effect that a query asks for.

        Returns
        -------
        Paths
            ``causal``, the proper causal paths, and ``biasing``, the non-causal paths that are
            open in logged rows of one context; each as it is drawn, shortest first.

        Examples
        --------
        >>> graph = CausalGraph.of(directed=[("Z", "X"), ("Z", "Y"), ("X", "Y")])
        >>> graph.paths("Y | do(X)").biasing
        (('X', '<-', 'Z', '->', 'Y'),)
        """
        found: Paths = find_forwarded("list_paths")(self, query)
        return found

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


class BitGraph:
    """The links of a graph as bit masks, for searches: node ``i`` of ``names`` is ``1 << i``.

    A set of nodes is an integer, and ``within`` a part of the graph to stay in. Edges ``into``
    and ``out_of`` some nodes count as cut.

    >>> chain = CausalGraph.of(directed=[("A", "B"), ("B", "C")]).bits
    >>> chain.read(chain.ancestors(chain.mask("B"))) == frozenset("AB")
    True
    """

    def __init__(self, graph: CausalGraph) -> None:
        self.names = graph.order
        self.places = {name: 1 << i for i, name in enumerate(self.names)}
        links = [graph.links[name] for name in self.names]
        self.parents = [self.mask(link.parents) for link in links]
        self.children = [self.mask(link.children) for link in links]
        self.siblings = [self.mask(link.siblings) for link in links]
        self.everything = (1 << len(self.names)) - 1
        self.selection = self.places[graph.selection] if graph.selection else 0

    def mask(self, names: Iterable[str]) -> int:
        """Write a set of nodes as the bits of an integer."""
        found = 0
        for name in names:
            found |= self.places[name]
        return found

    def read(self, mask: int) -> Nodes:
        """Read the bits of an integer as a set of nodes."""
        return frozenset([self.names[i] for i in list_bits(mask)])

    def ancestors(self, of: int, into: int = 0, out_of: int = 0, within: int = -1) -> int:
        """Find ``An(of)``."""
        found, queue, parents, usable = of, of & ~into, self.parents, within & ~out_of
        while queue:
            bit = queue & -queue
            new = parents[bit.bit_length() - 1] & usable & ~found
            found |= new
            queue = (queue ^ bit) | (new & ~into)
        return found

    def find_parents(self, of: int) -> int:
        """Find the direct causes of the members of a set, those in it included."""
        found = 0
        for i in list_bits(of):
            found |= self.parents[i]
        return found

    def components(self, within: int) -> list[int]:
        """List the c-components of a part of the graph, in the order of their first nodes."""
        found, left = list[int](), within
        while left:
            part = queue = left & -left
            while queue:
                bit = queue & -queue
                new = self.siblings[bit.bit_length() - 1] & within & ~part
                part |= new
                queue = (queue ^ bit) | new
            found.append(part)
            left &= ~part
        return found

    def find_reached(
        self, start: int, given: int, inside: int, opening: int, into: int = 0, out_of: int = 0
    ) -> int:
        """Collect what walks inside ``inside`` reach from ``start``, the given ones among it.

        A given node lets only colliders pass, and of the others only those of ``opening`` may be
        passed as colliders. A node is left at most twice: entered by an arrowhead or a tail.
        """
        found, tails, heads = start, start | out_of, into
        new_tails, new_heads = start, 0
        while new := new_heads or new_tails:
            bit = new & -new
            i, known = bit.bit_length() - 1, given & bit
            if new_heads:
                new_heads ^= bit
                passed = opening & bit
            else:
                new_tails ^= bit
                passed = not known
            down = 0 if known or out_of & bit else self.children[i]
            if passed and not into & bit:
                down |= self.siblings[i]
                up = self.parents[i] & inside & ~tails
                tails, new_tails, found = tails | up, new_tails | up, found | up
            down &= inside & ~heads
            heads, new_heads, found = heads | down, new_heads | down, found | down
        return found

    def find_boundary(
        self, of: int, given: int, into: int = 0, out_of: int = 0, within: int = -1
    ) -> int:
        """Find the Markov boundary of ``of`` in ``given``: it separates the rest of it."""
        opening = self.ancestors(given, into, out_of, within)
        # An open walk between two nodes never leaves the causes of the two and of what is given.
        inside = self.ancestors(of | opening, into, out_of, within)
        return given & self.find_reached(of, given, inside, opening, into, out_of)


def list_bits(mask: int) -> Iterator[int]:
    """List the places of the bits that are set in a mask: the nodes in it.

    >>> list(list_bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit


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
    arrows = frozenset((a, b) for a, (_, children, _) in links.items() for b in children)
    arcs = frozenset((a, b) for a, (_, _, siblings) in links.items() for b in siblings if a < b)
    if not graph.groups:
        return graph.make_part(graph.nodes - gone, arrows, arcs, graph.selection)
    groups = restrict_groups(graph.groups, graph.nodes - gone)
    return CausalGraph.of(
        links, directed=arrows, bidirected=arcs, selection=graph.selection, groups=groups
    )


def order_causally(
    children: Mapping[str, Sequence[str]], *, last: str | None = None
) -> tuple[str, ...]:
    """Put every node after its causes, ties by name, and ``last`` at the end.

    ``last`` must have no children. Raises HasCycle with a shortest cycle through its first node
    if there is none.

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
