"""Figures for users: shown in a notebook or by pyplot, or saved in a file."""

from os import PathLike
from typing import TYPE_CHECKING

from boundit.report.figures.canvas import give_figure
from boundit.report.figures.intervals import draw_intervals
from boundit.report.figures.ladders import LimitCurve, make_ladders
from boundit.report.figures.sensitivity import draw_sensitivity
from boundit.report.figures.whiskers import Whiskers
from boundit.results.bound_table import BoundTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_bounds(
    table: BoundTable, path: str | PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw a table of bounds, a panel for each context; give the axes of the panels."""
    return give_figure(draw_intervals(Whiskers(table)), path)


def plot_sensitivity(
    curve: LimitCurve, path: str | PathLike[str] | None = None
) -> "tuple[Axes, ...]":
    """Draw bounds against the limit, a panel for each arm and context; give their axes."""
    return give_figure(draw_sensitivity(make_ladders(curve)), path)
