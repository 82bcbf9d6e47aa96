"""Bounds as dots and whiskers: an arm a line, a context a panel.

The thin line is the whole interval, the thick one what would remain without sampling error.
Truth, naive estimates and other intervals stand beside it where they are given; an interval
that leaves the truth out has the colour of misses, and its line a word at its end.
"""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from boundit.report.figures.canvas import (
    draw_grid,
    make_figure_with_note,
    use_style,
)
from boundit.report.figures.marks import INNER_TINT, Mark
from boundit.report.figures.whiskers import Whiskers
from boundit.report.palette import get_light_colour
from boundit.report.text.contexts import name_contexts
from boundit.report.text.fitting import shorten_distinctly, wrap_headings
from boundit.report.text.lettering import estimate_width, label_values
from boundit.results.bound import Arm, Context, Key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_WIDTH, _COLUMNS = 340.0, 3
_LINE, _STEP, _AXIS, _EDGE = 22.0, 8.0, 40.0, 10.0
_NAME, _HEADING, _HEAD_LINE = 11.5, 14.0, 24.0
_WIDEST_NAME = 0.45 * _WIDTH - 12
_LEGEND_LINE = 26.0


def draw_intervals(shown: Whiskers) -> "Figure":
    """Draw the bounds of every context as a panel of one figure, with a legend above."""
    columns = 2 if len(shown.contexts) == 4 else min(_COLUMNS, len(shown.contexts))
    rows = ceil(len(shown.contexts) / columns)
    named = name_contexts(shown.table, shown.contexts)
    titles = wrap_headings(named, _WIDTH - 2 * _EDGE, _HEADING)
    above = _HEAD_LINE * (1 + max(title.count("\n") for title in titles))
    # Entries stand in columns, each as wide as its widest.
    widest = max(estimate_width(mark.name, 11) + 60 for mark in shown.marks)
    ncols = max(int(columns * _WIDTH // widest), 1)
    lines = ceil(len(shown.marks) / ncols)
    height = rows * (above + _measure_panel_height(shown)) + _LEGEND_LINE * lines
    with use_style():
        figure = make_figure_with_note(columns * _WIDTH, height, shown.omission)
        parts = figure.subfigures(rows, columns, squeeze=False).flat
        for part, context, title in zip(parts, shown.contexts, titles, strict=False):
            part.suptitle(title, x=_EDGE / _WIDTH, ha="left")
            _draw_panel(part.subplots(), shown, context)
        _draw_legend(figure, shown.marks, ncols=ncols)
    return figure


def _measure_panel_height(shown: Whiskers) -> float:
    """Compute how high the panel of a context is without its title, in pixels."""
    return _AXIS + len(shown.arms) * _measure_line_height(shown)


def _measure_line_height(shown: Whiskers) -> float:
    """Compute how high the line of one arm is; other series of intervals need more room."""
    return _LINE + _STEP * len(shown.spans)


def _name_arms(shown: Whiskers) -> tuple[str, ...]:
    """Name the arms of a panel so that names fit the margin and differ."""
    names = [label_values(shown.table.treatments, arm) for arm in shown.arms]
    return shorten_distinctly(names, _WIDEST_NAME, _NAME)


def _draw_panel(axes: "Axes", shown: Whiskers, context: Context) -> None:
    """Draw the panel of one context: its arms' bounds from top to bottom."""
    n = len(shown.arms)
    axes.set_xlim(*shown.scale)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_yticks(range(n), _name_arms(shown), fontsize=_NAME)
    axes.tick_params(axis="x", labelsize=10.5)
    draw_grid(axes)
    axes.locator_params(axis="x", nbins=5)
    for i, arm in enumerate(shown.arms):
        _draw_arm(axes, shown, arm, context, i)


def _draw_legend(figure: "Figure", marks: Sequence[Mark], *, ncols: int) -> None:
    """Draw the legend above the panels: each mark and what it means."""
    figure.legend(
        [_make_mark_line(mark) for mark in marks],
        [mark.name for mark in marks],
        loc="outside upper left",
        ncols=ncols,
        frameon=False,
        fontsize=11,
    )


def _draw_arm(axes: "Axes", shown: Whiskers, arm: Arm, context: Context, i: int) -> None:
    """Draw one arm on line ``i`` of a panel: its bounds, other intervals, estimates and truth."""
    key, step = (arm, context), _STEP / _measure_line_height(shown)
    y = i - step * len(shown.spans) / 2
    _draw_bound(axes, shown, key, y)
    _draw_spans(axes, shown, key, [y + step * k for k in range(1, len(shown.spans) + 1)])
    _draw_points(axes, shown, key, y)
    if shown.has_any_miss(key):
        beside = axes.get_yaxis_transform()
        colour = get_light_colour("miss")
        axes.text(1.02, i, "misses", color=colour, transform=beside, va="center", fontsize=10)


def _draw_bound(axes: "Axes", shown: Whiskers, key: Key, y: float) -> None:
    """Draw the bounds of an arm as a line, thick where they would be without sampling error.

    A pair without a row has the reward's range.
    """
    bound = shown.table.bounds.get(key)
    whole = (bound.lower, bound.upper) if bound else shown.table.outcome_range
    inner = (bound.lower_estimate, bound.upper_estimate) if bound else whole
    colour = get_light_colour("miss" if shown.has_bound_miss(key) else "series-1")
    _draw_bar(axes, _clip_estimate(inner, whole), y, colour, 8, tint=INNER_TINT)
    _draw_bar(axes, whole, y, colour, 1.6)


def _draw_spans(axes: "Axes", shown: Whiskers, key: Key, lines: Sequence[float]) -> None:
    """Draw the other intervals of an arm, such as printed ones, each on a line of its own."""
    colours = {mark.name: mark.colour for mark in shown.marks}
    for spans, y in zip(shown.spans, lines, strict=True):
        if key in spans.values:
            span = spans.values[key]
            name = "miss" if shown.has_span_miss(spans, key) else colours[spans.name]
            _draw_bar(axes, (span.lower, span.upper), y, get_light_colour(name), 2.5)


def _draw_points(axes: "Axes", shown: Whiskers, key: Key, y: float) -> None:
    """Draw the naive estimates and the truth of an arm, where they are known."""
    marks = {mark.name: mark for mark in shown.marks}
    found = [(points.name, points.values) for points in shown.points]
    for name, values in (*found, ("truth", shown.truth or {})):
        if key in values:
            axes.add_line(_make_mark_line(marks[name], (values[key],), (y,)))


def _clip_estimate(
    inner: tuple[float, float], whole: tuple[float, float]
) -> tuple[float, float]:
    """Clip the ends an interval has without sampling error to the interval itself.

    Ends that cross are swapped first.
    """
    low, high = sorted(inner)
    return max(low, whole[0]), min(high, whole[1])


def _draw_bar(
    axes: "Axes",
    ends: tuple[float, float],
    y: float,
    colour: str,
    thick: float,
    *,
    tint: float = 1.0,
) -> None:
    """Draw one horizontal line of an interval, with round ends."""
    axes.plot(
        ends,
        (y, y),
        color=colour,
        alpha=tint,
        linewidth=thick,
        solid_capstyle="round",
        zorder=3,
    )


def _make_mark_line(mark: Mark, x: Sequence[float] = (), y: Sequence[float] = ()) -> "Line2D":
    """Make the matplotlib line or marker by which a series is drawn, in a panel or the legend."""
    from matplotlib.lines import Line2D  # noqa: PLC0415, an optional package

    colour = get_light_colour(mark.colour)
    if not mark.marker:
        return Line2D(
            x, y, color=colour, alpha=mark.tint, linewidth=mark.thick, solid_capstyle="round"
        )
    return Line2D(
        x,
        y,
        linestyle="",
        marker=mark.marker,
        markersize=6.5,
        markeredgewidth=1.5,
        color=colour,
        markerfacecolor=get_light_colour("paper") if mark.marker == "D" else "none",
        zorder=5,
    )
