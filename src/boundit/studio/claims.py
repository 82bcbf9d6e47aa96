"""What a drawing claims: one sentence for each edge, and one for each that is missing."""

from collections.abc import Iterator
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
from boundit.core.names import Nodes, sort_names, write_name
from boundit.decisions.stress.edges import MissingEdge, list_missing
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.report.graph.highlights import write_edge
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
    selection: str
    problems: tuple[DrawingProblem, ...]
    query: str | None
    """The question as text, once there is one."""


def make_claims(drawing: Drawing, query: ProjectQuery) -> DrawingClaims:
    """Say what every edge and every missing edge of a drawing claims.

    Of a drawing that is no causal graph only edges are told, and what is wrong. Called for
    ``/api/graph/claims``.
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
        selection=words.describe_selection(),
        problems=tuple(problems),
        query=write_question(query),
    )


def _make_claim(tail: str, kind: EdgeSign, head: str, claim: str) -> EdgeClaim:
    """Make the claim of an edge, drawn or missing."""
    return EdgeClaim(tail, head, kind, claim, write_edge(tail, kind, head))


def write_question(query: ProjectQuery) -> str | None:
    """Write a question as the command line takes it; None while arm or reward is missing.

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
        problems.append(DrawingProblem("graph", str(error), _light(error)))
    problems += _judge_question(draft, query)
    return graph, problems


def _light(error: BounditError) -> LitParts:
    """Find the nodes and edges that an error speaks of; called by ``judge``."""
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
            names = getattr(error, "names", None)
            return LitParts(tuple(names) if isinstance(names, list) else ())


def _judge_question(draft: GraphDraft, query: ProjectQuery) -> Iterator[DrawingProblem]:
    """List what of a question makes no sense for a drawing; called by ``judge``."""
    seen = draft.nodes - draft.hidden - draft.selections
    named = [("query.outcome", "the reward", query.outcome)] if query.outcome else []
    named += [(f"query.treatments[{i}]", "an arm", n) for i, n in enumerate(query.treatments)]
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
        """Say what an edge claims; called by ``make_claims``.

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
            if edge.kind == "->" and edge.one in self._selection:
                continue  # being kept has no effects: there is nothing to claim
            said = (
                self._deny_arrow(graph, edge)
                if edge.kind == "->"
                else self._deny_arc(graph, edge)
            )
            yield _make_claim(edge.one, edge.kind, edge.other, said)

    def _deny_arrow(self, graph: CausalGraph, edge: MissingEdge) -> str:
        """Say what a missing arrow claims; called by ``_Words.list_missing``."""
        between = self._find_ways(graph, edge.one, edge.other)
        tail, head = self._name(edge.one), self._name(edge.other)
        if edge.other in self._selection:
            if between:
                return f"{tail} has a say in {_KEPT} only by way of {between}."
            return f"{tail} has no say in {_KEPT}."
        if between:
            return f"{tail} changes {head} only by way of {between}, not directly."
        return f"{tail} has no effect on {head}."

    def _deny_arc(self, graph: CausalGraph, edge: MissingEdge) -> str:
        """Say what a missing two-headed edge claims; called by ``_Words.list_missing``."""
        hidden = frozenset(self._draft.hidden)
        shared = hidden & graph.ancestors(edge.one) & graph.ancestors(edge.other)
        apart = f"Apart from {_join(shared - edge.ends)}, nothing" if shared else "Nothing"
        ends = [self._name(end) for end in (edge.one, edge.other) if end not in self._selection]
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
