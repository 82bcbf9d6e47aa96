"""Curves over rounds in a notebook, with a table that names them and has their numbers."""

from collections.abc import Sequence

from boundit.report.notebook.lines import draw_key, draw_lines
from boundit.report.notebook.snippet import Cell, Drawn, write_snippet, write_table, write_words
from boundit.report.records import Curve


def show_curves(
    title: str,
    curves: Sequence[Curve],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
) -> str:
    """Write curves as HTML for a notebook: drawn, and a row of numbers for each, in order."""
    keyed: list[list[Cell]] = [[Drawn(draw_key(i)), *row] for i, row in enumerate(rows)]
    return write_snippet(
        title,
        draw_lines(curves, title=f"{title}. {caption}", x_label="rounds"),
        write_table(("line", *head), keyed, caption="", right=range(2, len(head) + 1)),
        write_words(caption),
    )
