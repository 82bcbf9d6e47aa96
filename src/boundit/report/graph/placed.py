"""A causal graph drawn where somebody put its nodes, its edges bent past the others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import hypot

from boundit.graph.causal_graph import CausalGraph
from boundit.report.graph.layout import (
    MARGIN,
    EdgeRoute,
    GraphLayout,
    NodeBox,
    Point,
    measure_node,
    write_lines,
)

_BENDS = (0.0, 18.0, -18.0, 36.0, -36.0, 60.0, -60.0, 100.0, -100.0)
"""How far the middle of an arrow may be off the straight line, the best first."""
_HIDDEN_BENDS = (34.0, -34.0, 66.0, -66.0, 100.0)
"""The same of hidden causes, which are never straight: an arrow may join the same nodes."""
_CLEAR = 6.0
"""How far an edge keeps from boxes that it passes."""
_STEPS = 16


def place_graph(graph: CausalGraph, places: Mapping[str, Point]) -> GraphLayout:
    """Lay a graph out with the middle of each node where it was put.

    >>> from boundit.graph.text import parse
    >>> found = place_graph(parse("X -> Y"), {"X": (0, 0), "Y": (200, -50)})
    >>> found.boxes["Y"].x - found.boxes["X"].x, found.boxes["Y"].y < found.boxes["X"].y
    (200.0, True)
    """
    there = _make_boxes(graph, places, (0.0, 0.0))
    corners = [*_list_corners(there, _bend_edges(graph, there))]
    left, top = (min(each[axis] for each in corners) - MARGIN for axis in (0, 1))
    right, bottom = (max(each[axis] for each in corners) + MARGIN for axis in (0, 1))
    boxes = _make_boxes(graph, places, (left, top))
    return GraphLayout(boxes, tuple(_bend_edges(graph, boxes)), right - left, bottom - top)


def _make_boxes(
    graph: CausalGraph, places: Mapping[str, Point], origin: Point
) -> dict[str, NodeBox]:
    """Make the boxes of nodes, as seen from ``origin``; called by ``place_graph``."""
    lines = {name: write_lines(graph, name) for name in graph.order}
    return {
        n: NodeBox(
            lines[n],
            float(places[n][0] - origin[0]),
            float(places[n][1] - origin[1]),
            *measure_node(lines[n]),
        )
        for n in graph.order
    }


def _list_corners(boxes: Mapping[str, NodeBox], routes: Iterable[EdgeRoute]) -> Iterator[Point]:
    """List points that the drawing must hold: corners of boxes, and how far edges bulge."""
    for box in boxes.values():
        yield box.x - box.width / 2, box.top
        yield box.x + box.width / 2, box.bottom
    for way in routes:
        (ax, ay), (bx, by) = way.points
        hx, hy = way.handle or way.points[0]
        yield (ax + 2 * hx + bx) / 4, (ay + 2 * hy + by) / 4


def _bend_edges(graph: CausalGraph, boxes: Mapping[str, NodeBox]) -> Iterator[EdgeRoute]:
    """Yield the way of every edge, bent so that it crosses as few boxes as can be."""
    for edges, hidden in ((graph.directed, False), (graph.bidirected, True)):
        for a, b in sorted(edges):
            others = [box for name, box in boxes.items() if name not in {a, b}]
            one, other = boxes[a], boxes[b]
            bends = _HIDDEN_BENDS if hidden else _BENDS
            handles = [_find_handle(one, other, bend) for bend in bends]
            hits = [_count_hits(one, handle, other, others) for handle in handles]
            handle = handles[hits.index(min(hits))]
            ends = _leave(one, handle), _leave(other, handle)
            yield EdgeRoute((a, b), hidden, ends, handle=handle)


def _find_handle(one: NodeBox, other: NodeBox, bend: float) -> Point:
    """Find the handle of a curve that is ``bend`` off the straight line in its middle.

    It bends to the same side whichever end is named first.
    """
    dx, dy = other.x - one.x, other.y - one.y
    side = 1 if dx > 0 or (dx == 0 and dy > 0) else -1
    off = side * 2 * bend / (hypot(dx, dy) or 1.0)
    return (one.x + other.x) / 2 + off * dy, (one.y + other.y) / 2 - off * dx


def _count_hits(one: NodeBox, handle: Point, other: NodeBox, others: Sequence[NodeBox]) -> int:
    """Count how many points of a curve lie on boxes; called by ``_bend_edges``."""
    hits = 0
    for step in range(1, _STEPS):
        share = step / _STEPS
        x, y = (
            (1 - share) ** 2 * a + 2 * (1 - share) * share * h + share**2 * b
            for a, h, b in ((one.x, handle[0], other.x), (one.y, handle[1], other.y))
        )
        hits += sum(
            abs(x - box.x) < box.width / 2 + _CLEAR and abs(y - box.y) < box.height / 2 + _CLEAR
            for box in others
        )
    return hits


def _leave(box: NodeBox, towards: Point) -> Point:
    """Find where a line to a point leaves a box; called by ``_bend_edges`` for both ends."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    share = min(
        (box.width / 2 + 2) / (abs(dx) or 1e-9), (box.height / 2 + 2) / (abs(dy) or 1e-9)
    )
    return box.x + dx * share, box.y + dy * share
