"""A causal graph laid out: where every node stands and which way every edge takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from typing import TypeAlias

from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.report.lettering import break_label, estimate_width
from boundit.report.ordering import (
    RowLink,
    RowOrder,
    RowSlot,
    assign_layers,
    order_rows,
    place_slots,
)

FONT = 14
LINE = 17
LONGEST = 18
"""After how many characters a label breaks."""
_HEIGHT = 34
_LEAST_WIDTH = 44
_GAP, _LANE_GAP = 22.0, 9.0
MARGIN = 16.0
_WIDEST = 620.0
_LEAN = 4.0
"""How far a lane may lean within its row."""

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node: its label's lines, the middle of its box and its size."""

    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        """The y of the box's upper edge, where edges end."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The y of the box's lower edge, where edges downwards start."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class EdgeRoute:
    """An edge: the points where it enters and leaves each row; an arc stays above one row.

    ``side`` is to which side it bends, so that an arrow between the same nodes fits. One
    with a ``handle`` is a single curve that is drawn towards it.
    """

    edge: Edge
    bidirected: bool
    points: tuple[Point, ...]
    arc: bool = False
    side: int = 0
    handle: Point | None = None


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """A graph ready to be drawn: the box of every node, the route of every edge, the size."""

    boxes: Mapping[str, NodeBox]
    routes: tuple[EdgeRoute, ...]
    width: float
    height: float


def lay_out_graph(
    graph: CausalGraph, labels: Mapping[str, tuple[str, ...]] | None = None
) -> GraphLayout:
    """Lay a graph out in rows, causes above effects, no edge across a node.

    Gives the box of every node and the route of every edge, in pixels; ``labels`` are lines of
    nodes that have more to say than their name.

    >>> from boundit.graph.text import parse
    >>> found = lay_out_graph(parse("X -> Y; X <-> Y"))
    >>> found.boxes["X"].bottom < found.boxes["Y"].top, len(found.routes)
    (True, 2)
    """
    lines = {n: write_lines(graph, n) for n in graph.nodes}
    lines |= labels or {}
    sizes = {n: measure_node(lines[n]) for n in graph.nodes}
    rows = assign_layers(graph, {n: w + _GAP for n, (w, _) in sizes.items()}, most=_WIDEST)
    order = order_rows(graph, rows)
    x = _place_across(order, sizes)
    tops, bottoms = _place_rows(order, x, sizes)
    boxes = {
        s.name: NodeBox(lines[s.name], x[s], (tops[s.row] + bottoms[s.row]) / 2, *sizes[s.name])
        for s in x
        if s.lane is None
    }
    right = max(*x.values(), *(box.x + box.width / 2 for box in boxes.values()))
    routes = _route_edges(order, boxes, x, tops, bottoms)
    return GraphLayout(boxes, tuple(routes), right + MARGIN, bottoms[-1] + MARGIN)


def _place_across(
    order: RowOrder, sizes: Mapping[str, tuple[float, float]]
) -> dict[RowSlot, float]:
    """Find the x of every node, and of every lane: the gap through which an edge passes a row."""
    slots = [slot for row in order.rows for slot in row]
    widths = {s: sizes[s.name][0] if s.lane is None else 2.0 for s in slots}
    gaps = {s: _GAP if s.lane is None else _LANE_GAP for s in slots}
    placed = place_slots(order, widths, gaps)
    return {slot: x + MARGIN for slot, x in placed.items()}


def write_lines(graph: CausalGraph, node: str) -> tuple[str, ...]:
    """Write the lines of a node's label."""
    return (*break_label(node, LONGEST), *_write_note(graph, node))


def _write_note(graph: CausalGraph, node: str) -> tuple[str, ...]:
    """Write the word "selected" for the selection node, nothing for others.

    It stands below the node's name.
    """
    return ("selected",) if node == graph.selection else ()


def measure_node(lines: tuple[str, ...]) -> tuple[float, float]:
    """Compute how wide and high the box around a node's name is, in pixels."""
    width = max(estimate_width(line, FONT) for line in lines) + 22
    return max(width, _LEAST_WIDTH), _HEIGHT + LINE * (len(lines) - 1)


def _place_rows(
    drawing: RowOrder, x: Mapping[RowSlot, float], sizes: Mapping[str, tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """Find the y of the upper and lower edge of every row, with space between for edges to turn."""
    rows = {s.name: s.row for row in drawing.rows for s in row}
    arched = {rows[a] for a, _ in drawing.arcs}
    reach = dict.fromkeys(range(len(drawing.rows)), 0.0)
    for link in drawing.links:
        for a, b in pairwise(link.slots):
            reach[b.row] = max(reach[b.row], abs(x[a] - x[b]))
    tops, bottoms, at = list[float](), list[float](), MARGIN
    for i, row in enumerate(drawing.rows):
        if i:
            at += 50 + min(70, 0.14 * reach[i])
        at += 26 if i in arched else 0
        tops.append(at)
        at += max(sizes[s.name][1] for s in row if s.lane is None)
        bottoms.append(at)
    return tops, bottoms


def _route_edges(
    drawing: RowOrder,
    boxes: Mapping[str, NodeBox],
    lanes: Mapping[RowSlot, float],
    tops: list[float],
    bottoms: list[float],
) -> list[EdgeRoute]:
    """Find the points that every edge passes, from box to box through the rows between."""
    ports = _place_ports(drawing, boxes, lanes)
    ways = list[EdgeRoute]()
    for i, link in enumerate(drawing.links):
        upper, lower = link.slots[0], link.slots[-1]
        points = [(ports[i, "down"], boxes[upper.name].bottom)]
        for before, slot, after in zip(
            link.slots, link.slots[1:], link.slots[2:], strict=False
        ):
            lean = max(-_LEAN, min(_LEAN, (lanes[after] - lanes[before]) / 16))
            points.append((lanes[slot] - lean, tops[slot.row]))
            points.append((lanes[slot] + lean, bottoms[slot.row]))
        points.append((ports[i, "up"], boxes[lower.name].top))
        side = _choose_side(link, lanes)
        ways.append(EdgeRoute(link.edge, link.bidirected, tuple(points), side=side))
    for a, b in drawing.arcs:
        left, right = sorted((a, b), key=lambda n: boxes[n].x)
        ends = (
            (boxes[left].x + boxes[left].width / 4, boxes[left].top),
            (boxes[right].x - boxes[right].width / 4, boxes[right].top),
        )
        ways.append(EdgeRoute((a, b), bidirected=True, points=ends, arc=True))
    return ways


def _choose_side(link: RowLink, lanes: Mapping[RowSlot, float]) -> int:
    """Choose to which side a dashed edge bends, so that an arrow between its nodes fits.

    Gives -1 for left, 1 for right, 0 for straight.
    """
    if not link.bidirected or len(link.slots) > 2:
        return 0
    upper, lower = link.slots
    return -1 if lanes[lower] > lanes[upper] + 1 else 1


def _place_ports(
    drawing: RowOrder, boxes: Mapping[str, NodeBox], lanes: Mapping[RowSlot, float]
) -> dict[tuple[int, str], float]:
    """Find the x at which each edge leaves and enters a box, so that edges do not cross there.

    Keyed by the edge's number and the side of the box.
    """
    sides: dict[tuple[str, str], list[tuple[float, int, int]]] = {}
    for i, link in enumerate(drawing.links):
        for side, near, slot in _list_link_ends(link):
            entry = lanes[near], _choose_side(link, lanes), i
            sides.setdefault((slot.name, side), []).append(entry)
    ports = dict[tuple[int, str], float]()
    for (name, side), entries in sides.items():
        step = min(14.0, 0.6 * boxes[name].width / max(1, len(entries) - 1))
        first = boxes[name].x - step * (len(entries) - 1) / 2
        for k, (_, _, i) in enumerate(sorted(entries)):
            ports[i, side] = first + k * step
    return ports


def _list_link_ends(
    link: RowLink,
) -> tuple[tuple[str, RowSlot, RowSlot], tuple[str, RowSlot, RowSlot]]:
    """List both ends of an edge: the side of the box, the edge's next place, the box's place."""
    return ("down", link.slots[1], link.slots[0]), ("up", link.slots[-2], link.slots[-1])


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
    """Make the boxes of nodes, as seen from ``origin``."""
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
    """Count how many points of a curve lie on boxes."""
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
    """Find where a line to a point leaves a box."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    share = min(
        (box.width / 2 + 2) / (abs(dx) or 1e-9), (box.height / 2 + 2) / (abs(dy) or 1e-9)
    )
    return box.x + dx * share, box.y + dy * share
