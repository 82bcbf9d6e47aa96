"""Which edges a graph leaves out, what each would mean, and which change the question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal, TypeAlias

from boundit.core.names import join_names, sort_names, write_name
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph

EdgeKind: TypeAlias = Literal["->", "<->"]
_LOGGED = "which rows were logged"


@dataclass(frozen=True, slots=True)
class MissingEdge:
    """An edge that the graph leaves out; of a bidirected one the names are sorted.

    ``words`` say what it would mean.

    >>> edge = MissingEdge("Ad", "<->", "Click", "something unseen moves Ad and Click")
    >>> print(edge)
    Ad <-> Click
    """

    one: str
    kind: EdgeKind
    other: str
    words: str

    @property
    def ends(self) -> frozenset[str]:
        """Both nodes that the edge joins."""
        return frozenset((self.one, self.other))

    def __str__(self) -> str:
        return f"{write_name(self.one)} {self.kind} {write_name(self.other)}"


@dataclass(frozen=True, slots=True)
class ApartEdge:
    """A missing edge that would change the question rather than the answer, and why."""

    edge: MissingEdge
    reason: str


def list_missing(graph: CausalGraph) -> Iterator[MissingEdge]:
    """List every edge that could be added to a graph without a cycle, bidirected ones last.

    Of two nodes without an order between them both arrows are listed; an arrow out of the
    selection node too, which ``set_apart`` refuses. Members of a group that may be related in
    any way need no edges, and what would lead into one of them leads into all: it is listed for
    the first alone.

    >>> from boundit.graph.text import parse
    >>> print(*list_missing(parse("X -> Y -> [S]")), sep="; ")
    X -> S; S <-> X; S <-> Y; X <-> Y
    """
    whole = {node: graph.relatives.get(node, frozenset((node,))) for node in graph.nodes}
    after = {node: graph.descendants(whole[node]) for node in graph.nodes}
    names = sort_names(graph.nodes)
    first = {sort_names(members)[0] for members in whole.values()}
    pairs = (pair for pair in permutations(names, 2) if pair[1] in first)
    for one, other in pairs:
        if (one, other) not in graph.directed and after[other].isdisjoint(whole[one]):
            yield _make_edge(graph, one, "->", other)
    arcs = {frozenset(pair) for pair in graph.bidirected}
    for one, other in combinations(sort_names(first), 2):
        if frozenset((one, other)) not in arcs:
            yield _make_edge(graph, one, "<->", other)


def set_apart(graph: CausalGraph, query: EffectQuery, edge: MissingEdge) -> str | None:
    """Say why an edge would change the question; None if it would not.

    Nothing leaves the selection node, and a context is known before the arm is chosen.
    """
    if edge.kind == "->" and edge.one == graph.selection:
        return "selection says which rows were logged, and has no effects"
    if edge.kind == "->":
        late = add_edges(graph, (edge,)).descendants(query.treatments)
        if changed := late.intersection(query.context):
            return f"it would make the context {join_names(changed)} an effect of the arm"
    return None


def add_edges(graph: CausalGraph, edges: Iterable[MissingEdge]) -> CausalGraph:
    """Make the graph with some missing edges added; a cycle is refused."""
    found = list(edges)
    return CausalGraph.of(
        graph.nodes,
        directed=[*graph.directed, *((e.one, e.other) for e in found if e.kind == "->")],
        bidirected=[*graph.bidirected, *((e.one, e.other) for e in found if e.kind == "<->")],
        selection=graph.selection,
        groups=[group for group in graph.groups if not group.independent],
    )


def rank_by_place(graph: CausalGraph, query: EffectQuery, edge: MissingEdge) -> tuple[int, str]:
    """Rank an edge by how likely it does harm, judged by what it joins: least first.

    Reward, arms and selection come before the context, and that before other variables.
    """
    weights = dict.fromkeys((*query.outcomes, *query.treatments), 3)
    weights |= dict.fromkeys(query.context, 1)
    if graph.selection is not None:
        weights[graph.selection] = 2
    return -sum(weights.get(node, 0) for node in edge.ends), str(edge)


def _make_edge(graph: CausalGraph, one: str, kind: EdgeKind, other: str) -> MissingEdge:
    """Make a missing edge with the words that say what it would mean."""
    if other == graph.selection:
        other_words, words = _LOGGED, f"{one} has a say in {_LOGGED}"
    else:
        other_words, words = other, f"{one} acts on {other}"
    if kind == "<->":
        if one == graph.selection:
            words = f"something unseen moves {other} and {_LOGGED}"
        else:
            words = f"something unseen moves {one} and {other_words}"
    return MissingEdge(one, kind, other, words)
