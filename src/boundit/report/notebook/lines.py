"""Curves over rounds or limits as small drawings for a notebook, without matplotlib."""

from collections.abc import Sequence
from html import escape
from math import isfinite, log

from boundit.report.notebook.snippet import Drawn
from boundit.report.palette import name_series_colour, write_colour_variable
from boundit.report.records import Curve, Ladder

_WIDE, _HIGH, _LEFT, _TOP, _BELOW = 620.0, 230.0, 58.0, 14.0, 34.0
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_MOST_POINTS = 200


def draw_lines(curves: Sequence[Curve], *, title: str, x_label: str) -> str:
    """Draw curves with their bands as SVG, with the ends of both axes in numbers.

    >>> drawn = draw_lines([Curve("A", (1, 2), (0.1, 0.4))], title="Regret", x_label="rounds")
    >>> drawn.count("<path"), "<title>Regret</title>" in drawn
    (2, True)
    """
    frame = _Frame.around(curves)
    drawn = "".join(_draw_curve(curve, i, frame) for i, curve in enumerate(curves))
    return (
        f'<svg class="lines" role="img" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}" '
        f'width="{_WIDE:.0f}" style="max-width:100%;height:auto" '
        f'font-family="inherit" font-size="12"><title>{escape(title)}</title>'
        f"{_draw_axes(frame, x_label)}{drawn}</svg>"
    )


def draw_key(i: int) -> str:
    """Draw the line of the ``i``-th curve as a sample for the table beside a drawing."""
    return (
        '<svg class="key" width="34" height="8" viewBox="0 0 34 8" aria-hidden="true" '
        'focusable="false">'
        f'<path d="M0 4H34" fill="none" stroke-width="2.4"{_write_dash(i)} '
        f'style="stroke:{_find_colour(i)}"/></svg>'
    )


def draw_band(ladder: Ladder, scale: tuple[float, float]) -> Drawn:
    """Draw how the two ends of an interval move apart with a limit, small enough for a row.

    ``scale`` is what the whole height stands for.
    """
    limits = ladder.limits if len(ladder.limits) > 1 else (*ladder.limits, ladder.limits[0] + 1)
    n = len(limits) - len(ladder.limits) + 1
    lower, upper = (ends + ends[-1:] * (n - 1) for ends in (ladder.lower, ladder.upper))
    across, high = log(limits[-1] / limits[0]), (scale[1] - scale[0]) or 1.0

    def place(limit: float, end: float) -> str:
        x = 160 * log(limit / limits[0]) / across
        return f"{x:.1f} {36 * (1 - (end - scale[0]) / high):.1f}"

    there = [place(limit, end) for limit, end in zip(limits, lower, strict=True)]
    back = [place(limit, end) for limit, end in zip(limits, upper, strict=True)]
    colour = _find_colour(0)
    lines = "".join(
        f'<path d="M{"L".join(ends)}" fill="none" stroke-width="1.8" '
        f'vector-effect="non-scaling-stroke" style="stroke:{colour}"/>'
        for ends in (there, back)
    )
    return Drawn(
        '<svg class="band" viewBox="0 0 160 36" preserveAspectRatio="none" aria-hidden="true" '
        'focusable="false"><rect width="160" height="36" fill="currentColor" '
        f'fill-opacity=".06"/><path d="M{"L".join([*there, *reversed(back)])}Z" '
        f'fill-opacity=".22" style="fill:{colour}"/>{lines}</svg>'
    )


class _Frame:
    """Where numbers of a drawing stand: the ends of both axes."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    @classmethod
    def around(cls, curves: Sequence[Curve]) -> "_Frame":
        """Make the frame that holds all curves, from 0 where they are above it."""
        at = [place for curve in curves for place in curve.at if isfinite(place)]
        heights = [
            height
            for curve in curves
            for height in (*curve.mean, *curve.low, *curve.high, *curve.median)
            if isfinite(height)
        ]
        x, y = (
            (min(at, default=0.0), max(at, default=1.0)),
            (
                min([0.0, *heights]),
                max([0.0, *heights]),
            ),
        )
        return cls(x if x[1] > x[0] else (x[0], x[0] + 1), y if y[1] > y[0] else (y[0], 1.0))

    def place(self, x: float, y: float) -> str:
        """Write the point of a number at a place, in pixels."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        left = _LEFT + across * (_WIDE - _LEFT - 10)
        top = _TOP + (1 - up) * (_HIGH - _TOP - _BELOW)
        return f"{left:.1f} {top:.1f}"


def _draw_curve(curve: Curve, i: int, frame: _Frame) -> str:
    """Draw one curve, the band around it and its median."""
    step = max(1, len(curve.at) // _MOST_POINTS)
    kept = [*range(0, len(curve.at) - 1, step), len(curve.at) - 1]
    colour = _find_colour(i)
    band = ""
    if curve.low:
        there = [(curve.at[k], curve.low[k]) for k in kept]
        back = [(curve.at[k], curve.high[k]) for k in reversed(kept)]
        band = (
            f'<path d="{_write_path([*there, *back], frame)}Z" stroke="none" '
            f'fill-opacity=".18" style="fill:{colour}"/>'
        )
    line = _write_path([(curve.at[k], curve.mean[k]) for k in kept], frame)
    middle = ""
    if curve.median:
        path = _write_path([(curve.at[k], curve.median[k]) for k in kept], frame)
        middle = f'<path d="{path}" fill="none" stroke-width=".8" style="stroke:{colour}"/>'
    return (
        f'{band}{middle}<path d="{line}" fill="none" stroke-width="2" stroke-linejoin="round"'
        f'{_write_dash(i)} style="stroke:{colour}"/>'
    )


def _write_path(points: Sequence[tuple[float, float]], frame: _Frame) -> str:
    """Write points as the path of an SVG; those without a number are left out."""
    return "M" + "L".join(frame.place(x, y) for x, y in points if isfinite(x) and isfinite(y))


def _draw_axes(frame: _Frame, x_label: str) -> str:
    """Draw the two axes with the numbers at their ends."""
    bottom, left, right = _HIGH - _BELOW, _LEFT, _WIDE - 10
    low, high = (f"{end:,.4g}" for end in frame.y)
    first, last = (f"{end:,.6g}" for end in frame.x)
    words = (
        (left - 6, bottom, "end", low),
        (left - 6, _TOP + 8, "end", high),
        (left, bottom + 16, "start", first),
        (right, bottom + 16, "end", last),
        ((left + right) / 2, bottom + 16, "middle", x_label),
    )
    return (
        f'<path d="M{left} {_TOP}V{bottom}H{right}" fill="none" stroke="currentColor" '
        'stroke-opacity=".4"/>'
        + "".join(
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="currentColor">'
            f"{escape(said)}</text>"
            for x, y, anchor, said in words
        )
    )


def _find_colour(i: int) -> str:
    """Find the colour of the ``i``-th curve."""
    return write_colour_variable(name_series_colour(i))


def _write_dash(i: int) -> str:
    """Write how the ``i``-th curve is dashed."""
    dashes = _DASHES[i % len(_DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""
