"""Charts drawn with matplotlib, for ``plot()``: shown by a notebook or pyplot, or saved."""

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from math import ceil
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from boundit.core.errors import BounditError, MissingExtra, shorten
from boundit.core.files import write_whole
from boundit.report.bounds import chart_bounds, chart_effects
from boundit.report.chart import DASHES, TINT, IntervalChart, LineChart
from boundit.report.lettering import wrap_names, wrap_words
from boundit.report.notebook import LimitCurve, chart_limits
from boundit.report.palette import SERIES, SHADES
from boundit.report.sections import Chart
from boundit.results.bound_table import BoundTable
from boundit.results.effect import Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
_DPI, _SHARP, _SIZE = 100, 180, 10.0
_ROW, _AXIS = 0.27, 0.75
_STYLE: dict[str, object] = {
    "font.family": ["DejaVu Sans"],
    "font.size": _SIZE,
    "axes.edgecolor": SHADES["rule"].light,
    "axes.facecolor": "none",
    "axes.labelcolor": SHADES["muted"].light,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": _SIZE,
    "axes.titleweight": "bold",
    "figure.facecolor": SHADES["paper"].light,
    "grid.color": SHADES["rule"].light,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "text.color": SHADES["ink"].light,
    "text.parse_math": False,
    "xtick.color": SHADES["muted"].light,
    "ytick.color": SHADES["ink"].light,
    "svg.hashsalt": "boundit",
}
_MARKERS = {"unadjusted": "o", "truth": "D"}
_OTHER_MARKERS = ("x", "+", "s")
_DASHED = {"": "-", **{dash: (0, tuple(map(float, dash.split()))) for dash in DASHES if dash}}


class UnknownSuffix(BounditError):
    """A file whose name does not say in which format to draw."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"The figure {shorten(str(path), 60)!r} has no known format. "
            f"Write a name that ends in {' or '.join(SUFFIXES)}."
        )


def require_matplotlib() -> None:
    """Refuse what needs a figure where matplotlib is missing, without importing it."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")


def plot_bounds(
    table: BoundTable, path: str | os.PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw a table of bounds, a panel for each context; give the axes of the panels."""
    return plot(chart_bounds(table), path)


def plot_effects(
    effects: Sequence[Effect], path: str | os.PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw effects against one baseline, a panel for each context; give their axes."""
    return plot(chart_effects(effects), path)


def plot_limits(
    curve: LimitCurve, path: str | os.PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw bounds against the limit, a panel for each arm and context; give their axes."""
    return plot(chart_limits(curve).charts, path)


def plot(
    charts: Chart | Sequence[Chart], path: str | os.PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw a chart, or several side by side; save the figure or show it, and give its axes."""
    if path is not None and Path(path).suffix.lower() not in SUFFIXES:
        raise UnknownSuffix(path)
    with _use_style():
        figure = _draw_figure(charts)
        if path is not None:
            _save(figure, Path(path))
            return tuple(figure.axes)
        figure.draw_without_rendering()  # ticks are made when first drawn, and have our style
    from matplotlib import pyplot as plt  # noqa: PLC0415, an optional package

    # Outside our style, which would undo what a notebook sets when its backend is loaded.
    plt.figure(FigureClass=lambda *_, **__: figure)  # type: ignore[arg-type]
    return tuple(figure.axes)


@contextmanager
def _use_style() -> Iterator[None]:
    require_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415, an optional package

    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]
        # A face lacks some letters; browsers find another for them.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def _save(figure: "Figure", path: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415, an optional package

    found = io.BytesIO()
    if path.suffix.lower() == ".png":
        figure.savefig(found, format="png", dpi=_SHARP, metadata={"Software": None})
    else:
        with mpl.rc_context({"svg.fonttype": "path"}):
            figure.savefig(found, format="svg", metadata={"Date": None, "Creator": None})
    write_whole(path, found.getvalue())


def _draw_figure(charts: Chart | Sequence[Chart]) -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415, an optional package

    several = tuple(charts) if isinstance(charts, Sequence) else (charts,)
    if isinstance(several[0], IntervalChart):
        return _draw_intervals(several[0])
    columns = min(3, len(several))
    rows = ceil(len(several) / columns)
    size = (8.4, 4.6) if len(several) == 1 else (3.6 * columns, 2.6 * rows)
    figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for axes, chart in zip(grid, several, strict=False):
        if isinstance(chart, LineChart):
            _draw_lines(axes, chart, titled=len(several) > 1)
    for axes in list(figure.axes)[len(several) :]:
        axes.remove()
    return figure


def _draw_intervals(chart: IntervalChart) -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415, an optional package

    groups = [(name, list(bars)) for name, bars in groupby(chart.rows, attrgetter("group"))]
    sizes = [len(bars) for _, bars in groups]
    height = _ROW * sum(sizes) + _AXIS + 0.32 * len(groups) + 0.3
    figure = Figure(figsize=(8.0, height), dpi=_DPI, layout="constrained")
    panels = figure.subplots(
        len(groups), 1, squeeze=False, sharex=True, height_ratios=sizes
    ).flat
    for axes, (name, bars) in zip(panels, groups, strict=True):
        axes.set_title("\n".join(wrap_words(name, 640, _SIZE)) if name else "")
        axes.set_ylim(len(bars) - 0.5, -0.5)
        lines = wrap_names([bar.name for bar in bars], 240, _SIZE)
        axes.set_yticks(range(len(bars)), ["\n".join(lines[bar.name]) for bar in bars])
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.set_xlim(*chart.scale)
        axes.set_xticks(*zip(*chart.list_ticks(), strict=True))
        if chart.zero:
            axes.axvline(0, color=SHADES["muted"].light, linewidth=1.3, zorder=2)
        for y, bar in enumerate(bars):
            color = SHADES[bar.color].light
            for ends, thick, tint in ((bar.inner, 8, TINT), ((bar.lower, bar.upper), 1.8, 1)):
                axes.plot(
                    ends, (y, y), color=color, alpha=tint, linewidth=thick, zorder=3,
                    solid_capstyle="butt",
                )  # fmt: skip
            for point, at in bar.points.items():
                axes.plot([at], [y], **_mark(chart, point))
            if bar.note:
                side = axes.get_yaxis_transform()
                axes.text(
                    1.01, y, bar.note, transform=side, va="center", fontsize=9, color=color
                )
    _add_legend(figure, chart)
    return figure


def _mark(chart: IntervalChart, point: str) -> dict[str, object]:
    others = [name for name in chart.markers if name not in _MARKERS]
    marker = _MARKERS.get(point) or _OTHER_MARKERS[others.index(point) % len(_OTHER_MARKERS)]
    color = SHADES[chart.markers[point][1]].light
    paper = SHADES["paper"].light
    return {
        "linestyle": "", "marker": marker, "markersize": 6, "markeredgewidth": 1.5,
        "color": color, "markerfacecolor": paper, "zorder": 5,
    }  # fmt: skip


def _add_legend(figure: "Figure", chart: IntervalChart) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415, an optional package

    used = {bar.color for bar in chart.rows}
    meant = {name: words for name, words in chart.colors.items() if words and name in used}
    first = next((name for name in chart.colors if name in used), "series-1")
    handles, words = list[Line2D](), list[str]()
    if chart.sampled:
        color = SHADES[first].light
        handles = [
            Line2D([], [], color=color, linewidth=8, alpha=TINT),
            Line2D([], [], color=color, linewidth=1.8),
        ]
        words = [chart.inner, "with sampling error"]
    for name, said in meant.items():
        handles.append(Line2D([], [], color=SHADES[name].light, linewidth=4))
        words.append(said)
    for point in chart.markers:
        handles.append(Line2D([], [], **_mark(chart, point)))  # type: ignore[arg-type]
        words.append(point)
    if handles:
        figure.legend(handles, words, loc="outside lower left", ncols=4)
    if chart.more:
        figure.supxlabel(chart.more, fontsize=9, x=0.01, ha="left")


def _draw_lines(axes: "Axes", chart: LineChart, *, titled: bool) -> None:
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.set_xlabel("\n".join([chart.x_label, *wrap_words(chart.note, 700, _SIZE)]).strip())
    axes.set_ylabel(chart.y_label)
    if titled:
        axes.set_title("\n".join(wrap_words(chart.title, 250, _SIZE)[:2]))
    for i, curve in enumerate(chart.curves):
        color = SHADES[SERIES[i % len(SERIES)]].light
        dash = _DASHED[DASHES[i % len(DASHES)]]
        if curve.low:
            axes.fill_between(
                curve.at, curve.low, curve.high, color=color, alpha=0.16, linewidth=0
            )
        for line in [curve.mean] if curve.mean else [curve.low, curve.high]:
            axes.plot(curve.at, line, color=color, linewidth=2, linestyle=dash)
        if curve.median:
            axes.plot(curve.at, curve.median, color=color, linewidth=0.8, linestyle=dash)
    if len(chart.curves) > 1:
        axes.legend(axes.lines[:0], [])
        lines = [line for line in axes.lines if line.get_linewidth() == 2]
        axes.legend(lines, [curve.name for curve in chart.curves], loc="upper left")
    if chart.is_log:
        axes.set_xscale("log")
    axes.set_xlim(*chart.x_range)
    axes.set_ylim(*chart.y_scale)
    axes.set_xticks(*zip(*chart.list_x_ticks(), strict=True))
    axes.set_xticks([], minor=True)
