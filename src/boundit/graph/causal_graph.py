"""The mixed graph that carries every assumption.

A directed edge ``A -> B`` says that A may cause B; a bidirected edge ``A <-> B`` that something
unobserved may cause both. At most one node, the *selection* node, says which rows were logged:
the log shows the population given ``S = 1``. Hidden variables exist only as bidirected edges:
``boundit.graph.projection`` folds them away before a ``CausalGraph`` is made.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

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
from boundit.graph.notation import write_statements
from boundit.graph.order import order_causally
from boundit.terms.errors import (
    EmptyGraph,
    InvalidName,
    NotAnEdge,
    SelectionHasChildren,
    SelfLoop,
    UnknownNode,
    shorten,
)
from boundit.terms.names import Names, Nodes, is_name, join_names, read_nodes, sort_names
from boundit.terms.public_names import find_forwarded

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
        """Build a graph from edges; nodes that have an edge need not be listed.

        Groups whose members may be related in any way bring the edges that say so. For users
        who have edges rather than text; called by ``GraphDraft.make_graph`` at the end of every
        reader.
        """
        arrows = frozenset(map(_read_edge, directed))
        arcs = frozenset((a, b) if a <= b else (b, a) for a, b in map(_read_edge, bidirected))
        named = read_nodes(nodes).union(*arrows, *arcs, (selection,) if selection else ())
        held = sort_groups(groups)
        if held:
            named = named.union(*(group.members for group in held))
            check_members(held, named, selection)
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
        parents: dict[str, list[str]] = {node: [] for node in self.nodes}
        children: dict[str, list[str]] = {node: [] for node in self.nodes}
        siblings: dict[str, list[str]] = {node: [] for node in self.nodes}
        for a, b in sorted(self.directed):
            children[a].append(b)
            parents[b].append(a)
        for a, b in sorted(self.bidirected):
            siblings[a].append(b)
            siblings[b].append(a)
        return {
            node: Links(tuple(parents[node]), tuple(children[node]), tuple(siblings[node]))
            for node in self.nodes
        }

    @cached_property
    def relatives(self) -> Mapping[str, Nodes]:
        """The members of the group of each variable that may be related to others in any way.

        Variables in no group, or in one of independent variables, are not in it.
        """
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
                    raise InvalidGroup(
                        name,
                        f"it is no variable; name its members, {join_names(group.members)}",
                    )
            raise UnknownNode(name, self.nodes)
        return asked

    def ancestors(self, of: Names) -> Nodes:
        """Find ``An(of)``: all causes of these nodes, direct or not, and the nodes themselves.

        Users ask it; also called by ``factorize``, ``identify`` and other searches for
        formulas.
        """
        return self._follow_links(self.require(of), 0)

    def descendants(self, of: Names) -> Nodes:
        """Find ``De(of)``: all effects of these nodes, direct or not, and the nodes themselves.

        Users ask it; also called by ``find_proper_causal_effects`` and ``read_bandit_query``.
        """
        return self._follow_links(self.require(of), 1)

    def parents(self, of: Names) -> Nodes:
        """Find ``Pa(of)``: the direct causes of the set that lie outside it.

        Users ask it; also called by ``order_from_end`` and ``_find_needed_factors``.
        """
        asked = self.require(of)
        return frozenset().union(*(self.links[n].parents for n in asked)) - asked

    def selecting(self) -> Nodes:
        """Find ``An(S)``: selection and all its causes, which have a say in who was logged.

        Empty without a selection node. Users ask it; also called by ``recover_factor`` and by
        ``show_graph`` on the command line.
        """
        return (
            self._follow_links(frozenset((self.selection,)), 0)
            if self.selection
            else frozenset()
        )

    def components(self) -> tuple[Nodes, ...]:
        """List the c-components: the largest sets of nodes that bidirected edges join.

        The selection node is in one of them; they come in the causal order of their first
        nodes. Users ask it; also called by ``factorize`` and ``identify``.

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
        """Make ``G_kept``: the graph of these nodes and the edges among them.

        Users ask for it; also called by ``factorize``, ``identify`` and ``recover_factor``.
        """
        inside = self.require(kept)
        return self._make_part(
            inside,
            frozenset(e for e in self.directed if e[0] in inside and e[1] in inside),
            frozenset(e for e in self.bidirected if e[0] in inside and e[1] in inside),
            self.selection if self.selection in inside else None,
            restrict_groups(self.groups, inside) if self.groups else (),
        )

    def without_edges_into(self, targets: Names) -> Self:
        """Make ``G`` with the edges into ``targets`` cut, bidirected too (the overline).

        That is the graph under ``do(targets)``. Users ask for it; also called by
        ``find_selection_walk`` and wherever a rule of the do-calculus is checked.
        """
        cut = self.require(targets)
        return self._make_part(
            self.nodes,
            frozenset(e for e in self.directed if e[1] not in cut),
            frozenset(e for e in self.bidirected if e[0] not in cut and e[1] not in cut),
            self.selection,
        )

    def without_edges_out_of(self, sources: Names) -> Self:
        """Make ``G`` with the edges out of ``sources`` cut (the underline).

        Rule 2 of the do-calculus looks at it. Users ask for it; also called by
        ``_cut_for_rule_2``.
        """
        cut = self.require(sources)
        return self._make_part(
            self.nodes,
            frozenset(e for e in self.directed if e[0] not in cut),
            self.bidirected,
            self.selection,
        )

    def without_edges(self, edges: Iterable[Edge]) -> Self:
        """Make ``G`` without these directed edges.

        Users ask for it; also called by ``make_back_door_graph``.
        """
        kept = self.directed - frozenset(edges)
        return self._make_part(self.nodes, kept, self.bidirected, self.selection)

    def without_groups(self) -> Self:
        """Make the same graph without the names of its groups; their edges stay."""
        return (
            self._make_part(self.nodes, self.directed, self.bidirected, self.selection)
            if self.groups
            else self
        )

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
        return write_statements(
            self.nodes, self.directed, self.bidirected, self.selection, self.groups
        )

    def _follow_links(self, start: Nodes, kind: int) -> Nodes:
        """Collect ``start`` and every node reached from it by links of one kind alone.

        ``kind`` is the place in ``Links``: parents, children or siblings.
        """
        links, reached, queue = self.links, set(start), deque(start)
        while queue:
            for node in links[queue.pop()][kind]:
                if node not in reached:
                    reached.add(node)
                    queue.append(node)
        return frozenset(reached)


def _read_edge(edge: Edge) -> Edge:
    """Read an edge as a pair of names, or raise NotAnEdge."""
    match edge:
        case (str(a), str(b)):
            return a, b
        case _:
            raise NotAnEdge(edge)
