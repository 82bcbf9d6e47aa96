"""The lines of a drawn graph: ways turned into smooth curves with heads, as SVG."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from math import hypot
from typing import TypeAlias

from boundit.report.graph.highlights import write_edge
from boundit.report.graph.layout import EdgeRoute, Point

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
