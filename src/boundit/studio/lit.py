"""What a reason speaks of, as nodes and edges of the drawing that the page lights up."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from boundit.core.formula import StepRecord
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.graph.text import draft_text
from boundit.report.graph.highlights import find_highlight, write_edge
from boundit.studio.claims import LitParts
from boundit.studio.drawing import make_draft
from boundit.studio.project import Drawing, DrawnEdge


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
    """Light an arrow, or the hidden way that it stands for; called by ``light_edge``."""
    if (tail, head) in draft.directed:
        return LitParts((tail, head), (DrawnEdge(tail=tail, head=head),))
    arrows = _find_ways(draft, {tail}, head)
    return _sort({tail, head, *_name_ends(arrows)}, arrows)


def _light_cause(draft: GraphDraft, one: str, other: str) -> LitParts:
    """Light the hidden nodes that move both of two; called by ``light_edge``."""
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
    """Name all nodes that some edges join; called by ``_light_arrow`` and ``_light_cause``."""
    return {end for edge in edges for end in (edge.tail, edge.head)}


def join_lit(parts: Iterable[LitParts]) -> LitParts:
    """Join what several steps light up; called by ``describe_rules``."""
    nodes, edges = set[str](), set[DrawnEdge]()
    for part in parts:
        nodes.update(part.nodes)
        edges.update(part.edges)
    return _sort(nodes, edges)


def _sort(nodes: set[str], edges: set[DrawnEdge], caption: str = "") -> LitParts:
    """Put nodes and edges in an order, so that answers repeat; called by ``join_lit``."""
    ordered = sorted(edges, key=lambda edge: (edge.tail, edge.head, edge.kind))
    return LitParts(tuple(sorted(nodes)), tuple(ordered), caption)
