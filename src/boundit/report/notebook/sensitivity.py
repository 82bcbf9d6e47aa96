"""Bounds against a limit in a notebook: how far apart their ends move, drawn and in numbers."""

from boundit.bounds.sensitivity import SensitivityCurve
from boundit.core.rounding import choose_decimals
from boundit.report.figures.ladders import make_ladders
from boundit.report.notebook.lines import draw_band
from boundit.report.notebook.snippet import (
    MOST_ROWS,
    Cell,
    describe_cut,
    write_snippet,
    write_table,
    write_words,
)


def show_sensitivity(curve: SensitivityCurve) -> str:
    """Write bounds at growing limits as HTML for a notebook, a row for each arm and context."""
    ladders = make_ladders(curve)
    shown = ladders[:MOST_ROWS]
    if not shown:
        return write_snippet("Bounds against a limit", write_words(curve.summary()))
    scale = curve.tables[0].outcome_range
    places = choose_decimals(*scale)
    ends = (0, -1) if len(curve.limits) > 1 else (0,)
    rows: list[list[Cell]] = [
        [
            ladder.name,
            draw_band(ladder, scale),
            *(f"{ladder.lower[i]:.{places}f} to {ladder.upper[i]:.{places}f}" for i in ends),
        ]
        for ladder in shown
    ]
    first, last = curve.limits[0], curve.limits[-1]
    head = ["arm | context", f"limits {first:g} to {last:g}"]
    head += [f"at {curve.limits[i]:g}" for i in ends]
    edge = shown[0].edge
    return write_snippet(
        f"Bounds against a limit on {edge or 'selection'}",
        write_words(curve.summary()),
        write_table(head, rows, caption="", right=(2, 3)),
        write_words(describe_cut(len(shown), len(ladders), "curve.frame()")),
    )
