"""Bounds against the limit of a sensitivity analysis: a panel for each arm.

The limit is G, on how far selection went, or one on the hidden confounding of an edge. At 1 the
log is taken at its word; the larger it is, the more may be hidden, and the further the ends
move apart. Where the bands of two arms begin to overlap, their order is open.
"""

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

from boundit.report.errors import NothingToDraw
from boundit.report.figures.canvas import (
    draw_grid,
    make_figure,
    make_figure_with_note,
    use_style,
    write_inline_svg,
)
from boundit.report.palette import get_light_colour
from boundit.report.records import Ladder, Panel
from boundit.report.text.fitting import wrap_headings
from boundit.report.text.lettering import estimate_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEANING = (
    "G limits how unevenly rows were kept: no kind of row was logged more than G times as "
    "often as the average, or G times as seldom. At G = 1 all kinds were logged alike; "
    "further right more may be hidden, and the two ends of what an arm would earn move apart."
)
OF_CONFOUNDING = (
    "The limit is on what moves both ends of {edge} unseen: given all that was observed "
    "before, it changes the odds of a treatment by no more than this factor. At 1 nothing is "
    "confounded; further right more may be hidden, and the two ends of what an arm would earn "
    "move apart."
)
MOST_ARMS = 12
_WIDTH, _HEIGHT, _COLUMNS = 300.0, 178.0, 3
_EDGE = 10.0
_HEADING, _LINE = 14.0, 22.0
_FAR = 8.0
"""From which ratio of limits on their axis counts factors instead of steps."""
_ROUND = (1.0, 2.0, 5.0, 3.0, 1.5, 1.25)
"""Where marks stand, and the same times 10 and 0.1: the first ones first, as there is room."""
_MARK, _BETWEEN = 10.5, 5.0


def draw_sensitivity(ladders: Sequence[Ladder]) -> "Figure":
    """Draw how bounds widen with the selection limit G, a panel for each arm and context.

    G limits how unevenly rows were logged: no kind more than G times as often as the average.
    """
    shown, span = _choose_ladders(ladders), _find_axis_range(ladders)
    columns = min(_COLUMNS, len(shown))
    rows = ceil(len(shown) / columns)
    names = wrap_headings([ladder.name for ladder in shown], _WIDTH - 2 * _EDGE, _HEADING)
    above = _LINE * (1 + max(name.count("\n") for name in names))
    with use_style():
        said = " ".join(filter(None, (explain_limit(ladders), describe_omission(ladders))))
        figure = make_figure_with_note(columns * _WIDTH, rows * (above + _HEIGHT), said)
        parts = figure.subfigures(rows, columns, squeeze=False).flat
        for part, ladder, name in zip(parts, shown, names, strict=False):
            part.suptitle(name, x=_EDGE / _WIDTH, ha="left")
            _draw_panel(part.subplots(), ladder, span)
    return figure


def draw_sensitivity_panels(ladders: Sequence[Ladder]) -> tuple[Panel, ...]:
    """Draw bounds against the selection limit G as an SVG for each pair of arm and context."""
    drawn, span = list[Panel](), _find_axis_range(ladders)
    for ladder in _choose_ladders(ladders):
        with use_style():
            figure = make_figure(_WIDTH, _HEIGHT)
            _draw_panel(figure.subplots(), ladder, span)
        title = f"Bounds of {ladder.name} against the {_name_axis(ladder)}"
        drawn.append(Panel(ladder.name, write_inline_svg(figure, title=title)))
    return tuple(drawn)


def explain_limit(ladders: Sequence[Ladder]) -> str:
    """Say in words what the limit is that bounds are drawn against."""
    edge = next((ladder.edge for ladder in ladders), "")
    return OF_CONFOUNDING.format(edge=edge) if edge else MEANING


def _name_axis(ladder: Ladder) -> str:
    """Name the axis of limits."""
    return f"limit on {ladder.edge}" if ladder.edge else "limit G"


def describe_omission(ladders: Sequence[Ladder]) -> str:
    """Say in words how many arms the sensitivity figure leaves out; nothing when none."""
    if len(ladders) <= MOST_ARMS:
        return ""
    return f"Shown are the first {MOST_ARMS} of {len(ladders)}."


def _choose_ladders(ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Choose the first pairs of arm and context to draw; refuse when there are none.

    A ladder has one pair's bounds at growing selection limits.
    """
    if not any(isfinite(limit) for ladder in ladders for limit in ladder.limits):
        raise NothingToDraw("no bounds at a finite limit were given")
    return ladders[:MOST_ARMS]


def _find_axis_range(ladders: Sequence[Ladder]) -> tuple[float, float]:
    """Find the lowest and highest bound of all panels, so that they share one axis."""
    ends = [end for ladder in ladders for end in (*ladder.lower, *ladder.upper)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    pad = 0.05 * ((high - low) or 1.0)
    return low - pad, high + pad


def _draw_panel(axes: "Axes", ladder: Ladder, span: tuple[float, float]) -> None:
    """Draw the panel of one pair: its bounds against the selection limit."""
    draw_grid(axes, "y")
    axes.tick_params(labelsize=_MARK)
    axes.set_ylim(*span)
    axes.locator_params(axis="y", nbins=5)
    axes.set_xlabel(_name_axis(ladder), fontsize=11)
    colour = get_light_colour("series-1")
    axes.fill_between(
        ladder.limits, ladder.lower, ladder.upper, color=colour, alpha=0.14, linewidth=0
    )
    for ends in (ladder.lower, ladder.upper):
        axes.plot(ladder.limits, ends, color=colour, linewidth=2, marker="o", markersize=3.5)
    _mark_limits(axes, [limit for limit in ladder.limits if isfinite(limit)])


def _mark_limits(axes: "Axes", limits: Sequence[float]) -> None:
    """Set ticks of the axis at round selection limits, as many as stand apart."""
    if not limits or min(limits) <= 0:
        return
    low, high = min(limits), max(limits)
    if high >= _FAR * low:
        axes.set_xscale("log")
    axes.set_xlim(axes.get_xlim())
    marks = list[tuple[float, float, float]]()
    for limit in _list_ticks(low, high):
        x, half = _find_pixel(axes, limit), estimate_width(f"{limit:g}", _MARK) / 2
        if all(abs(x - other) >= half + wide + _BETWEEN for other, wide, _ in marks):
            marks.append((x, half, limit))
    ticks = sorted(limit for _, _, limit in marks)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)


def _list_ticks(low: float, high: float) -> list[float]:
    """List where ticks may stand: both ends, then round numbers between them."""
    tens = range(floor(log10(low)), ceil(log10(high)) + 1)
    between = [step * 10.0**ten for step in _ROUND for ten in tens]
    return list(dict.fromkeys([low, high, *(x for x in between if low < x < high)]))


def _find_pixel(axes: "Axes", limit: float) -> float:
    """Find where a selection limit stands on the axis, in pixels."""
    return float(axes.transData.transform((limit, 0.0))[0])
