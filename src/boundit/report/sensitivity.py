"""Bounds against the limit G of a sensitivity analysis: a panel for each arm.

At G = 1 the log is taken at its word; the larger G, the more may be hidden, and the further
the ends move apart. Where the bands of two arms begin to overlap, their order is open.
"""

from collections.abc import Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING

from boundit.report.canvas import canvas, inline, look, room, ruled
from boundit.report.errors import NothingToDraw
from boundit.report.lettering import cut
from boundit.report.palette import light
from boundit.report.records import Ladder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARMS = 12
_WIDTH, _HEIGHT, _COLUMNS = 300.0, 200.0, 3
_LEFT, _TOP, _RIGHT, _BOTTOM = 46.0, 30.0, 12.0, 40.0
_FAR = 8.0
"""From which ratio of limits on their axis counts factors instead of steps."""


def sensitivity_figure(ladders: Sequence[Ladder]) -> "Figure":
    """Draw every panel on one sheet."""
    shown, (low, high) = _drawn(ladders), _span(ladders)
    columns = min(_COLUMNS, len(shown))
    rows = ceil(len(shown) / columns)
    with look():
        figure = canvas(columns * _WIDTH, rows * _HEIGHT)
        for i, ladder in enumerate(shown):
            left, top = (i % columns) * _WIDTH, (i // columns) * _HEIGHT
            _panel(figure, ladder, left, top, (low, high))
    return figure


def sensitivity_panels(ladders: Sequence[Ladder]) -> tuple[str, ...]:
    """Draw every panel by itself, for a page that lays them out as its width allows."""
    drawn, span = [], _span(ladders)
    for ladder in _drawn(ladders):
        with look():
            figure = canvas(_WIDTH, _HEIGHT)
            _panel(figure, ladder, 0, 0, span)
        drawn.append(inline(figure, title=f"Bounds of {ladder.name} against the limit G"))
    return tuple(drawn)


def left_out(ladders: Sequence[Ladder]) -> str:
    """What is left out, in words."""
    if len(ladders) <= MOST_ARMS:
        return ""
    return f"Shown are the first {MOST_ARMS} of {len(ladders)}."


def _drawn(ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    if not any(isfinite(limit) for ladder in ladders for limit in ladder.limits):
        raise NothingToDraw("no bounds at a finite limit were given")
    return ladders[:MOST_ARMS]


def _span(ladders: Sequence[Ladder]) -> tuple[float, float]:
    ends = [end for ladder in ladders for end in (*ladder.lower, *ladder.upper)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    pad = 0.05 * ((high - low) or 1.0)
    return low - pad, high + pad


def _panel(
    figure: "Figure", ladder: Ladder, left: float, top: float, span: tuple[float, float]
) -> None:
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    axes = room(figure, left + _LEFT, top + _TOP, width, height)
    ruled(axes, "y")
    axes.tick_params(labelsize=10.5)
    axes.set_ylim(*span)
    axes.locator_params(axis="y", nbins=5)
    axes.set_title(cut(ladder.name, 26), x=0, pad=7)
    axes.set_xlabel("limit G", fontsize=11)
    colour = light("series-1")
    axes.fill_between(
        ladder.limits, ladder.lower, ladder.upper, color=colour, alpha=0.14, linewidth=0
    )
    for ends in (ladder.lower, ladder.upper):
        axes.plot(ladder.limits, ends, color=colour, linewidth=2, marker="o", markersize=3.5)
    _limits(axes, [limit for limit in ladder.limits if isfinite(limit)])


def _limits(axes: "Axes", limits: Sequence[float]) -> None:
    if not limits or min(limits) <= 0 or max(limits) < _FAR * min(limits):
        return
    axes.set_xscale("log")
    ticks = [limits[0], limits[len(limits) // 2], limits[-1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
