"""Regret and the like over rounds: a line and a band for each, named where it ends."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from boundit.report.errors import NothingToDraw
from boundit.report.figures.canvas import (
    add_axes,
    draw_grid,
    make_figure_with_note,
    use_style,
    write_inline_svg,
)
from boundit.report.graph.placing import spread_apart
from boundit.report.palette import DASHES, SERIES, get_light_colour, name_series_colour
from boundit.report.records import Curve
from boundit.report.text.lettering import cut_to_length, estimate_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAVED, WIDE, NARROW = 720.0, 960.0, 350.0
_APART = 16.0
_LONGEST = 22


def draw_curves(
    curves: Sequence[Curve],
    *,
    width: float = SAVED,
    x_label: str = "rounds",
    y_label: str = "cumulative regret",
    note: str = "",
) -> "Figure":
    """Draw regret curves in one figure, with names at their ends that stand apart.

    ``note`` is written below them: what is averaged, what the bands are.
    """
    if not curves:
        raise NothingToDraw("no curves were given")
    high = max(0.44 * width, 210.0, _APART * (len(curves) + 2))
    margin = min(max(estimate_width(_shorten_name(c), 12) for c in curves) + 20, 0.42 * width)
    left = 52.0
    with use_style():
        figure = make_figure_with_note(width, high + 74, note, arrange=False)
        axes = add_axes(figure, left, 26, width - left - margin, high)
        draw_grid(axes, "y")
        axes.tick_params(labelsize=11)
        axes.set_xlabel(x_label, fontsize=11.5)
        axes.set_title(
            y_label,
            x=0,
            pad=8,
            fontsize=11.5,
            fontweight="normal",
            color=get_light_colour("muted"),
        )
        for i, curve in enumerate(curves):
            _draw_curve(axes, curve, i)
        _set_limits(axes, curves)
        _name_ends(axes, curves, high)
    return figure


def write_curve_svgs(curves: Sequence[Curve], *, title: str) -> tuple[str, str]:
    """Draw curves as two SVGs, for a wide page and for a narrow one."""
    ends = ", ".join(map(_describe_end, curves))
    said = f"{title}. At the end: {ends}."
    wide, narrow = (
        write_inline_svg(draw_curves(curves, width=width), title=said)
        for width in (WIDE, NARROW)
    )
    return wide, narrow


def _describe_end(curve: Curve) -> str:
    """Write where a curve ends, and its median, for those who do not see the figure."""
    middle = f" (median {curve.median[-1]:,.4g})" if curve.median else ""
    return f"{curve.name} {curve.mean[-1]:,.4g}{middle}"


def _draw_curve(axes: "Axes", curve: Curve, i: int) -> None:
    """Draw one curve, the band around it, and its median as a thin line."""
    colour = get_light_colour(name_series_colour(i))
    dashes = DASHES[(i + i // len(SERIES)) % len(DASHES)]
    axes.plot(curve.at, curve.mean, color=colour, linewidth=2, linestyle=dashes, zorder=3)
    if curve.median:
        axes.plot(curve.at, curve.median, color=colour, linewidth=0.8, linestyle=dashes)
    if curve.low:
        axes.fill_between(
            curve.at, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0, zorder=2
        )


def _set_limits(axes: "Axes", curves: Sequence[Curve]) -> None:
    """Set both axes of a curve figure: all rounds, and 0 to a little above the highest."""
    ends = [y for c in curves for y in (*c.mean, *c.low, *c.high, *c.median) if isfinite(y)]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    axes.set_ylim(least, most + 0.04 * ((most - least) or 1.0))
    starts, stops = [c.at[0] for c in curves], [c.at[-1] for c in curves]
    axes.set_xlim(min(starts), max(stops) if max(stops) > min(starts) else min(starts) + 1)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x == int(x) else f"{x:g}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.10g}")
    axes.locator_params(axis="x", nbins=5)
    axes.locator_params(axis="y", nbins=6)


def _name_ends(axes: "Axes", curves: Sequence[Curve], high: float) -> None:
    """Write the name of each curve beside its right end, spread so that none overlap."""
    low, top = axes.get_ylim()
    ends = [c.mean[-1] if isfinite(c.mean[-1]) else low for c in curves]
    wishes = sorted(((end - low) / (top - low) * high, i) for i, end in enumerate(ends))
    places = _push_names_inside(
        spread_apart([(wish, 1.0) for wish, _ in wishes], [_APART] * (len(curves) - 1)), high
    )
    for (wish, i), place in zip(wishes, places, strict=True):
        axes.annotate(
            _shorten_name(curves[i]),
            xy=(1, wish / high),
            xycoords="axes fraction",
            xytext=(14, place - wish),
            textcoords="offset points",
            va="center",
            color=get_light_colour(name_series_colour(i)),
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": get_light_colour(name_series_colour(i)),
                "relpos": (0, 0.5),
            },
        )


def _push_names_inside(places: list[float], high: float) -> list[float]:
    """Move names of curves that would stand above or below the axes beside them again.

    Gives the new heights; others move only as these need.
    """
    found = list[float]()
    for place in places:
        found.append(max(place, found[-1] + _APART if found else _APART / 2))
    for i in reversed(range(len(found))):
        found[i] = min(found[i], found[i + 1] - _APART if i + 1 < len(found) else high)
    return found


def _shorten_name(curve: Curve) -> str:
    """Shorten the name of a curve that is too long for the margin."""
    return cut_to_length(curve.name, _LONGEST)
