"""A causal graph as a drawing: SVG that stands in a page or by itself, light and dark."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import hypot
from typing import TypeAlias

from boundit.core.names import Names, join_names, read_nodes
from boundit.graph.causal_graph import CausalGraph
from boundit.report.highlights import fold_groups, write_edge
from boundit.report.layout import (
    FONT,
    LINE,
    EdgeRoute,
    NodeBox,
    Point,
    lay_out_graph,
    place_graph,
)
from boundit.report.lettering import estimate_width
from boundit.report.palette import use_color

Roles: TypeAlias = dict[str, str]
"""Which nodes are treatment, context, outcome or selection."""

_SMALL = 12
_SMALLEST = 0.72
"""How far a drawing may shrink before it is scrolled instead."""
_LEAST_LEGEND = 300.0
_KEY = 34.0
"""How wide the sample before a word of the legend is."""


def draw_graph(
    graph: CausalGraph,
    *,
    treatments: Names = (),
    context: Names = (),
    outcomes: Names = (),
    title: str = "The causal graph",
    places: Mapping[str, Point] | None = None,
) -> str:
    """Draw a causal graph as SVG, with a legend of the marks that occur.

    Arrows are solid, hidden common causes dashed with two heads, and roles have shapes. A group
    whose members may be related in any way is one box. Nodes stand at their ``places`` if these
    are given and the graph has no groups.

    >>> from boundit.graph.text import parse
    >>> drawing = draw_graph(parse("X -> Y; X <-> Y; Y -> [S]"), treatments="X", outcomes="Y")
    >>> drawing.startswith("<svg"), drawing.count('class="node"'), drawing.count('class="edge"')
    (True, 3, 3)
    """
    named = _assign_roles(graph, treatments, context, outcomes)
    folded = fold_groups(graph, named)
    drawn_graph, roles = folded.graph, {folded.find_box(n): r for n, r in named.items()}
    if places is not None and not graph.groups:
        layout = place_graph(graph, places)
    else:
        layout = lay_out_graph(drawn_graph, folded.labels)
    width = max(layout.width, _LEAST_LEGEND)
    legend, below = _draw_legend(drawn_graph, roles, layout.height, width)
    height = layout.height + below
    drawn = [draw_edge(way) for way in layout.routes]
    drawn += [_draw_node(n, layout.boxes[n], roles.get(n, "")) for n in drawn_graph.order]
    return (
        f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="system-ui, sans-serif" '
        f'style="color: {use_color("ink")}; min-width: {_SMALLEST * width:.0f}px">'
        f"<title>{escape(title)}</title><desc>{escape(_describe(graph))}</desc>"
        f'<g transform="translate({(width - layout.width) / 2:.1f} 0)">{"".join(drawn)}</g>'
        f"{legend}</svg>"
    )


def _assign_roles(
    graph: CausalGraph, treatments: Names, context: Names, outcomes: Names
) -> Roles:
    """Map nodes to their roles: treatment, context, outcome or selection; others have none."""
    named = {"treatment": treatments, "context": context, "outcome": outcomes}
    roles = {n: role for role, names in named.items() for n in graph.require(read_nodes(names))}
    return roles | ({graph.selection: "selection"} if graph.selection else {})


def _describe(graph: CausalGraph) -> str:
    """Write the nodes and edges of a graph in words, for readers who do not see the drawing."""
    return f"{len(graph.nodes)} nodes: {join_names(graph.nodes)}. Edges: {graph}."


def _draw_node(name: str, box: NodeBox, role: str) -> str:
    """Draw a node as SVG: a box in the shape of its role, and its name."""
    first, last = box.y - LINE * (len(box.lines) - 1) / 2, len(box.lines) - 1
    labels = "".join(
        _draw_text(
            box.x,
            first + LINE * i,
            line,
            size=_SMALL - 1 if role == "selection" and i == last else FONT,
            anchor="middle",
        )
        for i, line in enumerate(box.lines)
    )
    frame = _draw_frame(box.x - box.width / 2, box.top, box.width, box.height, role)
    said = escape(name)
    return f'<g class="node" data-name="{said}"><title>{said}</title>{frame}{labels}</g>'


def _draw_frame(x: float, y: float, width: float, height: float, role: str) -> str:
    """Draw the frame of a node as SVG: square for treatments, two rims for the selection node."""
    square = role in {"treatment", "selection"}
    radius = 3.0 if square else min(height / 2, 17)
    heavy = 2.6 if role == "outcome" else 1.6
    color = use_color(role or "muted")
    rims = [(0.0, radius, heavy, 0.14 if role else 0.05)]
    if role == "selection":
        rims.append((3.5, 1.0, 1.0, 0.0))
    return "".join(
        f'<rect x="{x + inset:.1f}" y="{y + inset:.1f}" width="{width - 2 * inset:.1f}" '
        f'height="{height - 2 * inset:.1f}" rx="{rim:.0f}" stroke-width="{line}" '
        f'fill-opacity="{tint}" style="fill: {color}; stroke: {color}"/>'
        for inset, rim, line, tint in rims
    )


def _draw_text(x: float, y: float, words: str, *, size: float, anchor: str) -> str:
    """Write one line of text in a drawing as SVG."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}" '
        f'dominant-baseline="central" fill="currentColor">{escape(words)}</text>'
    )


def _draw_legend(
    graph: CausalGraph, roles: Roles, top: float, width: float
) -> tuple[str, float]:
    """Draw the legend of a graph's marks in lines as wide as the drawing.

    Gives it and its height.
    """
    x, y, drawn = 16.0, top + 22, list[str]()
    for words, sample in _draw_samples(graph, roles):
        wide = _KEY + estimate_width(words, _SMALL) + 18
        if x > 16 and x + wide > width:
            x, y = 16.0, y + 24
        drawn.append(f'<g transform="translate({x:.1f} {y:.1f})">{sample}</g>')
        drawn.append(_draw_text(x + _KEY, y, words, size=_SMALL, anchor="start"))
        x += wide
    return f'<g class="legend">{"".join(drawn)}</g>', y - top + 20 if drawn else 0.0


def _draw_samples(graph: CausalGraph, roles: Roles) -> list[tuple[str, str]]:
    """Draw for the legend a sample of every mark that occurs in the graph, with its words."""
    found = [
        (role, _draw_frame(0, -8, 26, 16, role))
        for role in ("treatment", "context", "outcome", "selection")
        if role in roles.values()
    ]
    line = [((0.0, 0.0), (9.0, 0.0), (18.0, 0.0), (28.0, 0.0))]
    if graph.directed:
        found.append(("may cause", draw_stroke(line, two_headed=False)))
    if graph.bidirected:
        found.append(("hidden common cause", draw_stroke(line, two_headed=True)))
    return found


CubicCurve: TypeAlias = tuple[Point, Point, Point, Point]
"""A cubic curve: its start, two handles, its end."""
_HEAD, _HALF = 9.0, 4.0
_BULGE = 26.0
_STEEP = 0.5


def draw_edge(way: EdgeRoute) -> str:
    """Draw an edge as SVG: solid with one head, or dashed with two.

    >>> draw_edge(EdgeRoute(("X", "Y"), False, ((0, 0), (0, 50)))).count("<path")
    2
    >>> draw_edge(EdgeRoute(("X", "Y"), True, ((0, 0), (0, 50)))).count("<path")
    3
    """
    a, b = way.edge
    sign = "<->" if way.bidirected else "->"
    named = f'data-edge="{escape(write_edge(a, sign, b))}"'
    drawn = draw_stroke(make_curves(way), two_headed=way.bidirected)
    return f'<g class="edge" {named}><title>{escape(f"{a} {sign} {b}")}</title>{drawn}</g>'


def make_curves(way: EdgeRoute) -> list[CubicCurve]:
    """Turn the route of an edge into Bezier curves, one after another."""
    if way.handle is not None:
        return [_make_bow(way.points[0], way.points[-1], way.handle)]
    return _make_arc(way) if way.arc else _make_route_curves(way)


def _make_bow(start: Point, end: Point, handle: Point) -> CubicCurve:
    """Make the cubic curve that is the quadratic one with this handle."""
    near, far = (
        (x + 2 / 3 * (handle[0] - x), y + 2 / 3 * (handle[1] - y)) for x, y in (start, end)
    )
    return start, near, far, end


def draw_stroke(curves: list[CubicCurve], *, two_headed: bool) -> str:
    """Draw the line of an edge as SVG, with an arrow head at its end, or one at each.

    ``curves`` are its Bezier curves.
    """
    first, last = curves[0], curves[-1]
    heads = [_draw_head(last[3], last[2])]
    curves = [*curves[:-1], (*last[:3], _find_point_before(last[3], last[2], _HEAD - 1))]
    if two_headed:
        heads.append(_draw_head(first[0], first[1]))
        curves[0] = (_find_point_before(first[0], first[1], _HEAD - 1), *curves[0][1:])
    path = f"M{_format_point(curves[0][0])}" + "".join(
        f"C{_format_point(c[1])} {_format_point(c[2])} {_format_point(c[3])}" for c in curves
    )
    dash = ' stroke-dasharray="5 4"' if two_headed else ""
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".75" '
        f'stroke-width="1.5"{dash}/>{"".join(heads)}'
    )


def _make_arc(way: EdgeRoute) -> list[CubicCurve]:
    """Make the curve of an edge between two nodes of one row, which passes above the others."""
    (x0, y0), (x1, y1) = way.points
    rise = min(44.0, 20 + 0.1 * abs(x1 - x0))
    lean = 0.18 * (x1 - x0)
    return [((x0, y0), (x0 + lean, y0 - rise), (x1 - lean, y1 - rise), (x1, y1))]


def _make_route_curves(way: EdgeRoute) -> list[CubicCurve]:
    """Make the curves of an edge from row to row, smooth where it passes a row."""
    bend = _BULGE * way.side
    slopes = _find_slopes(way.points)
    return [
        (
            (x0, y0),
            (x0 + bend + 0.45 * (y1 - y0) * slopes[i], y0 + 0.45 * (y1 - y0)),
            (x1 + bend - 0.45 * (y1 - y0) * slopes[i + 1], y1 - 0.45 * (y1 - y0)),
            (x1, y1),
        )
        for i, ((x0, y0), (x1, y1)) in enumerate(pairwise(way.points))
    ]


def _find_slopes(points: Sequence[Point]) -> list[float]:
    """Find the slant of an edge at each point of its route: pixels aside for a pixel down."""
    steps = [(x1 - x0) / (y1 - y0) for (x0, y0), (x1, y1) in pairwise(points)]
    lanes = [slope for lane in steps[1::2] for slope in (lane, lane)]
    first, last = (max(-_STEEP, min(_STEEP, steps[i])) for i in (0, -1))
    return [first, *lanes, last]


def _draw_head(tip: Point, handle: Point) -> str:
    """Draw the arrow head at the tip of an edge as SVG; ``handle`` is where it comes from."""
    x, y = _find_point_before(tip, handle, _HEAD)
    across = (tip[0] - x) * _HALF / _HEAD, (tip[1] - y) * _HALF / _HEAD
    left, right = (x - across[1], y + across[0]), (x + across[1], y - across[0])
    path = f"M{_format_point(tip)}L{_format_point(left)} {_format_point(right)}Z"
    return f'<path d="{path}" fill="currentColor"/>'


def _find_point_before(tip: Point, handle: Point, size: float) -> Point:
    """Find the point ``size`` pixels before an arrow's tip, where its line comes from."""
    dx, dy = tip[0] - handle[0], tip[1] - handle[1]
    share = size / (hypot(dx, dy) or 1.0)
    return tip[0] - share * dx, tip[1] - share * dy


def _format_point(point: Point) -> str:
    """Write the x and y of a point as an SVG path has them."""
    return f"{point[0]:.1f} {point[1]:.1f}"
