"""What a drawing claims: one sentence for each edge, and one for each that is missing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from msgspec import Struct

from boundit.core.errors import (
    BounditError,
    EmptyGraph,
    HasCycle,
    SelectionHasChildren,
    SelfLoop,
    UnknownNode,
)
from boundit.core.formula import StepRecord
from boundit.core.names import Nodes, sort_names, write_name
from boundit.decisions.stress import MissingEdge, list_missing
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import GraphDraft, draft_text
from boundit.report.highlights import find_highlight, write_edge
from boundit.studio.drawing import make_draft
from boundit.studio.project import Drawing, DrawnEdge, EdgeSign, ProjectQuery

MOST_CLAIMS = 20_000
"""How many sentences are written at most; a drawing that large is read by nobody."""
_KEPT = "which rows are kept"


class EdgeClaim(Struct, frozen=True):
    """An edge, or one that is missing, and what that says in one sentence."""

    tail: str
    head: str
    kind: EdgeSign
    claim: str
    text: str
    """The edge as graphs are written, which limits on its hidden cause are kept under."""


class LitParts(Struct, frozen=True):
    """Nodes and edges of a drawing that a sentence speaks of."""

    nodes: tuple[str, ...] = ()
    edges: tuple[DrawnEdge, ...] = ()
    caption: str = ""


class DrawingProblem(Struct, frozen=True):
    """Why a drawing is no causal graph, or a question makes no sense for it."""

    where: str
    message: str
    lit: LitParts = LitParts()


class DrawingClaims(Struct, frozen=True):
    """Everything that a drawing says, and what is wrong with it."""

    edges: tuple[EdgeClaim, ...]
    missing: tuple[EdgeClaim, ...]
    arcs: tuple[DrawnEdge, ...]
    """Pairs with a hidden common cause, drawn as ``<->`` or as a hidden node."""
    selection: str
    problems: tuple[DrawingProblem, ...]
    query: str | None
    """The question as text, once there is one."""


def make_claims(drawing: Drawing, query: ProjectQuery) -> DrawingClaims:
    """Say what every edge and every missing edge of a drawing claims.

    Of a drawing that is no causal graph only edges are told, and what is wrong.
    """
    draft = make_draft(drawing)
    graph, problems = judge(draft, query)
    words = _Words(draft, graph)
    missing = () if graph is None else tuple(islice(words.list_missing(graph), MOST_CLAIMS))
    return DrawingClaims(
        edges=tuple(
            _make_claim(edge.tail, edge.kind, edge.head, words.describe_edge(edge))
            for edge in drawing.edges
        ),
        missing=missing,
        arcs=() if graph is None else _list_arcs(draft),
        selection=words.describe_selection(),
        problems=tuple(problems),
        query=write_question(query),
    )


def _list_arcs(draft: GraphDraft) -> tuple[DrawnEdge, ...]:
    """List the pairs that have a hidden common cause, once hidden nodes are projected away."""
    arcs = sorted(draft.make_graph().bidirected)
    return tuple(DrawnEdge(tail=a, head=b, kind="<->") for a, b in arcs)


def _make_claim(tail: str, kind: EdgeSign, head: str, claim: str) -> EdgeClaim:
    """Make the claim of an edge, drawn or missing."""
    return EdgeClaim(tail, head, kind, claim, write_edge(tail, kind, head))


def write_question(query: ProjectQuery) -> str | None:
    """Write a question as the command line takes it; None while treatment or outcome is missing.

    >>> write_question(ProjectQuery(outcome="Y", treatments=("X",), context=("time of day",)))
    'Y | do(X), "time of day"'
    """
    if query.outcome is None or not query.treatments:
        return None
    arms = ", ".join(map(write_name, query.treatments))
    return ", ".join(
        [f"{write_name(query.outcome)} | do({arms})", *map(write_name, query.context)]
    )


def judge(
    draft: GraphDraft, query: ProjectQuery
) -> tuple[CausalGraph | None, list[DrawingProblem]]:
    """Make the graph of all drawn nodes, hidden ones too, and list what is wrong.

    Gives None for the graph where the drawing is none.
    """
    problems, graph = list[DrawingProblem](), None
    try:
        draft.make_graph()
        graph = CausalGraph.of(
            draft.nodes,
            directed=draft.directed,
            bidirected=draft.bidirected,
            selection=next(iter(draft.selections), None),
            groups=draft.groups.values(),
        )
    except EmptyGraph:
        if draft.nodes:
            message = "every node is hidden or the selection node: nothing was recorded"
        else:
            message = "nothing is drawn yet: add a node, or write a graph as text"
        problems.append(DrawingProblem("graph", message))
    except BounditError as error:
        problems.append(DrawingProblem("graph", str(error), _light(error, draft)))
    problems += _judge_question(draft, query)
    return graph, problems


def _light(error: BounditError, draft: GraphDraft) -> LitParts:
    """Find the nodes and edges that an error speaks of."""
    match error:
        case HasCycle():
            hops = zip(error.cycle, error.cycle[1:], strict=False)
            edges = tuple(DrawnEdge(tail=a, head=b) for a, b in hops)
            return LitParts(tuple(dict.fromkeys(error.cycle)), edges)
        case SelfLoop():
            return LitParts((error.name,))
        case SelectionHasChildren():
            edges = tuple(DrawnEdge(tail=error.selection, head=b) for b in error.children)
            return LitParts((error.selection,), edges)
        case _:
            several = len(draft.selections) > 1
            return LitParts(tuple(sort_names(draft.selections)) if several else ())


def _judge_question(draft: GraphDraft, query: ProjectQuery) -> Iterator[DrawingProblem]:
    """List what of a question makes no sense for a drawing."""
    seen = draft.nodes - draft.hidden - draft.selections
    named = [("query.outcome", "the outcome", query.outcome)] if query.outcome else []
    named += [
        (f"query.treatments[{i}]", "a treatment", n) for i, n in enumerate(query.treatments)
    ]
    named += [(f"query.context[{i}]", "a context", n) for i, n in enumerate(query.context)]
    roles = dict[str, str]()
    for where, role, name in named:
        lit = LitParts((name,))
        if name not in draft.nodes:
            yield DrawingProblem(where, f"{role}: {UnknownNode(name, draft.nodes)}")
        elif name not in seen:
            unseen = "hidden" if name in draft.hidden else "the selection node"
            message = f"{name} cannot be {role}: it is {unseen}, so no row says what it was"
            yield DrawingProblem(where, message, lit)
        elif name in roles:
            message = f"{name} is {roles[name]} and {role} at once; it can be one of them"
            yield DrawingProblem(where, message, lit)
        roles[name] = role


class _Words:
    """The sentences of one drawing."""

    def __init__(self, draft: GraphDraft, graph: CausalGraph | None) -> None:
        self._draft, self._graph = draft, graph
        self._selection = draft.selections

    def describe_edge(self, edge: DrawnEdge) -> str:
        """Say what an edge claims.

        An edge is the weaker claim: it may be there, and be as weak as nothing.
        """
        tail, head = self._name(edge.tail), self._name(edge.head)
        if edge.kind == "<->":
            both = {edge.tail, edge.head} & self._selection
            if both:
                other = head if edge.tail in both else tail
                return f"Something that nobody recorded may move both {other} and {_KEPT}."
            return f"Something that nobody recorded may move both {tail} and {head}."
        if edge.head in self._selection:
            return f"Rows are kept depending on {tail}: it may have a say in {_KEPT}."
        return f"{tail} may change {head} directly."

    def list_missing(self, graph: CausalGraph) -> Iterator[EdgeClaim]:
        """List the claim of every edge that could be drawn and is not."""
        for edge in list_missing(graph):
            if edge.kind == "->" and edge.tail in self._selection:
                continue  # being kept has no effects: there is nothing to claim
            said = (
                self._deny_arrow(graph, edge)
                if edge.kind == "->"
                else self._deny_arc(graph, edge)
            )
            yield _make_claim(edge.tail, edge.kind, edge.head, said)

    def _deny_arrow(self, graph: CausalGraph, edge: MissingEdge) -> str:
        """Say what a missing arrow claims."""
        between = self._find_ways(graph, edge.tail, edge.head)
        tail, head = self._name(edge.tail), self._name(edge.head)
        if edge.head in self._selection:
            if between:
                return f"{tail} has a say in {_KEPT} only by way of {between}."
            return f"{tail} has no say in {_KEPT}."
        if between:
            return f"{tail} changes {head} only by way of {between}, not directly."
        return f"{tail} has no effect on {head}."

    def _deny_arc(self, graph: CausalGraph, edge: MissingEdge) -> str:
        """Say what a missing two-headed edge claims."""
        hidden = frozenset(self._draft.hidden)
        shared = hidden & graph.ancestors(edge.tail) & graph.ancestors(edge.head)
        apart = f"Apart from {_join(shared - edge.ends)}, nothing" if shared else "Nothing"
        ends = [self._name(end) for end in (edge.tail, edge.head) if end not in self._selection]
        both = f"{ends[0]} and {_KEPT}" if len(ends) == 1 else " and ".join(ends)
        if edge.ends & shared:
            return f"Nothing else that nobody recorded moves both {both}."
        return f"{apart} that nobody recorded moves both {both}."

    def _find_ways(self, graph: CausalGraph, one: str, other: str) -> str:
        """Name the effects of one node by which it moves another; empty where it does not."""
        children = frozenset(graph.links[one].children)
        return _join(children & graph.ancestors(other))

    def _name(self, node: str) -> str:
        """Name a node in a sentence; a hidden one is called so."""
        return f"{node} (hidden)" if node in self._draft.hidden else node

    def describe_selection(self) -> str:
        """Say which rows the log has, in one sentence."""
        if not self._selection:
            return (
                "No selection node: the log is taken for a fair sample of everyone. If some "
                "rows were likelier to be kept than others, mark a node as selection."
            )
        name = sort_names(self._selection)[0]
        causes = frozenset(a for a, b in self._draft.directed if b in self._selection)
        unseen = frozenset(
            a if b in self._selection else b
            for a, b in self._draft.bidirected
            if {a, b} & self._selection
        )
        if not causes and not unseen:
            return (
                f"{name} has no causes: rows are kept by chance alone, so the log is a fair "
                "sample. Draw an edge from whatever decides which rows are kept."
            )
        parts = []
        if causes:
            parts.append(f"depending on {_join(causes)}")
        if unseen:
            parts.append(f"depending on something hidden that also moves {_join(unseen)}")
        return f"Rows are kept {' and '.join(parts)}, and on nothing else."


def _join(names: Nodes) -> str:
    """Write names as a sentence has them: ``A, B and C``."""
    *first, last = sort_names(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def make_lighter(drawing: Drawing, graph: CausalGraph) -> Callable[[StepRecord], LitParts]:
    """Make a function that finds what a step speaks of in a drawing.

    The library speaks of the graph without hidden nodes; an edge that stands for one is lit
    through it.
    """
    draft, plain = make_draft(drawing), graph.without_groups()

    @cache
    def light(step: StepRecord) -> LitParts:
        found = find_highlight(plain, step)
        if found is None:
            return LitParts()
        one, other = found.between
        nodes, edges = {*one, *other, *found.given}, set[DrawnEdge]()
        for text in found.edges:
            lit = light_edge(draft, text)
            nodes.update(lit.nodes)
            edges.update(lit.edges)
        return _sort(nodes, edges, found.caption)

    return light


def light_edge(draft: GraphDraft, text: str) -> LitParts:
    """Light an edge of the graph in a drawing, through hidden nodes where it stands for them."""
    read = draft_text(text)
    if read.directed:
        ((tail, head),) = read.directed
        return _light_arrow(draft, tail, head)
    ((one, other),) = read.bidirected
    for a, b in ((one, other), (other, one)):
        if (a, b) in draft.bidirected:
            edge = DrawnEdge(tail=a, head=b, kind="<->")
            return LitParts((a, b), (edge,))
    return _light_cause(draft, one, other)


def light_walk(draft: GraphDraft, walk: Sequence[str]) -> LitParts:
    """Light a walk through the graph, ``("X", "<-", "Z", "->", "Y")``, in a drawing."""
    hops = zip(walk[::2], walk[1::2], walk[2::2], strict=False)
    return join_lit(light_edge(draft, write_edge(*hop)) for hop in hops)


def _light_arrow(draft: GraphDraft, tail: str, head: str) -> LitParts:
    """Light an arrow, or the hidden way that it stands for."""
    if (tail, head) in draft.directed:
        return LitParts((tail, head), (DrawnEdge(tail=tail, head=head),))
    arrows = _find_ways(draft, {tail}, head)
    return _sort({tail, head, *_name_ends(arrows)}, arrows)


def _light_cause(draft: GraphDraft, one: str, other: str) -> LitParts:
    """Light the hidden nodes that move both of two."""
    shared = {
        node
        for node in draft.hidden
        if _find_ways(draft, {node}, one) and _find_ways(draft, {node}, other)
    }
    edges = _find_ways(draft, shared, one) | _find_ways(draft, shared, other)
    reached = {one, other, *_name_ends(edges)}
    for a, b in draft.bidirected:
        if {a, b} <= reached | draft.hidden and {a, b} & draft.hidden:
            edges.add(DrawnEdge(tail=a, head=b, kind="<->"))
    return _sort({one, other, *_name_ends(edges)}, edges)


def _find_ways(draft: GraphDraft, starts: Iterable[str], end: str) -> set[DrawnEdge]:
    """Find the arrows on ways from some nodes to another that pass hidden nodes alone."""
    back, waiting = {end}, [end]
    while waiting:
        node = waiting.pop()
        for a, b in draft.directed:
            if b == node and a in draft.hidden and a not in back:
                back.add(a)
                waiting.append(a)
    found, waiting, seen = set[DrawnEdge](), list(starts), set[str]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for a, b in draft.directed:
            if a == node and b in back:
                found.add(DrawnEdge(tail=a, head=b))
                waiting += [b] if b in draft.hidden else []
    return found


def _name_ends(edges: Iterable[DrawnEdge]) -> set[str]:
    """Name all nodes that some edges join."""
    return {end for edge in edges for end in (edge.tail, edge.head)}


def join_lit(parts: Iterable[LitParts]) -> LitParts:
    """Join what several steps light up."""
    nodes, edges = set[str](), set[DrawnEdge]()
    for part in parts:
        nodes.update(part.nodes)
        edges.update(part.edges)
    return _sort(nodes, edges)


def _sort(nodes: set[str], edges: set[DrawnEdge], caption: str = "") -> LitParts:
    """Put nodes and edges in an order, so that answers repeat."""
    ordered = sorted(edges, key=lambda edge: (edge.tail, edge.head, edge.kind))
    return LitParts(tuple(sorted(nodes)), tuple(ordered), caption)
