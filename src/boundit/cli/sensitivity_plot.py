"""The bounds of ``boundit bound`` against a limit, on selection or on hidden confounding."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.outputs import notify
from boundit.cli.progress import show_progress

if TYPE_CHECKING:
    from boundit.bounds.count import KeptCounts
    from boundit.bounds.request import BoundRequest
    from boundit.report.records import Ladder
    from boundit.results.bound_table import BoundTable

LIMITS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
"""The limits of a plot."""


def derive_ladders(
    request: "BoundRequest", kept: "KeptCounts", *, edge: str = ""
) -> "tuple[Ladder, ...]":
    """Derive the bounds of every arm and context at growing limits.

    The limits are on hidden confounding by an ``edge``, or else limits G of the sensitivity,
    which say how unevenly rows were logged. Gives one ``Ladder``, bounds at all limits, for
    each pair. ``kept`` holds what was counted for the table, so that no limit reads the rows
    again.
    """
    from boundit.bounds.derive import derive_table  # noqa: PLC0415, keeps --help quick
    from boundit.bounds.sensitivity import sensitivity_curve  # noqa: PLC0415
    from boundit.report.figures.ladders import make_ladders  # noqa: PLC0415

    with show_progress("limits") as advance:

        def bounded(limit: float) -> "BoundTable":
            advance(len(LIMITS) - LIMITS.index(limit), len(LIMITS))
            if edge:
                return derive_table(request.with_confounding(edge, limit), kept)
            return derive_table(request.with_sensitivity(limit), kept)

        curve = sensitivity_curve(bounded, LIMITS)
    if curve.refuted:
        shown = ", ".join(f"{limit:g}" for limit in curve.refuted)
        notify("note", f"the log refutes the limits {shown}")
    return make_ladders(curve)


def choose_edge(request: "BoundRequest") -> str:
    """Choose the edge whose limit a plot varies: the one that --confounding-limit names.

    Without it the only edge that hides a cause of a treatment is taken.
    """
    from boundit.bounds.confounding_limits import name_edge  # noqa: PLC0415

    edges = [*request.limits.by_edge] or [
        name_edge(edge)
        for edge in sorted(request.graph.bidirected)
        if set(edge) & set(request.query.treatments)
    ]
    if len(edges) != 1:
        found = ", ".join(edges) or "none"
        message = f"it draws one edge's limit, found {found}; name one with --confounding-limit"
        raise click.UsageError(f"--confounding-plot: {message}")
    return edges[0]


def draw_ladders(ladders: "tuple[Ladder, ...]", path: Path) -> None:
    """Draw the bounds of every pair against the limit, and save the figure."""
    from boundit.report.figures.canvas import save_figure  # noqa: PLC0415
    from boundit.report.figures.sensitivity import draw_sensitivity  # noqa: PLC0415

    save_figure(draw_sensitivity(ladders), path)
