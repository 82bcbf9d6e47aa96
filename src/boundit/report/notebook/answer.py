"""An answer of sentences, tables and notes in a notebook."""

from boundit.core.formula import join_line
from boundit.report.notebook.snippet import (
    MOST_ROWS,
    describe_cut,
    write_notes,
    write_snippet,
    write_table,
    write_words,
)
from boundit.report.pages.answer_page import AnswerPage, AnswerTable
from boundit.report.pages.sections import make_table_section


def show_answer(page: AnswerPage) -> str:
    """Write an answer as HTML for a notebook: its sentences, its tables, and notes to unfold."""
    return write_snippet(
        page.title,
        write_words(page.answer.verdict, *page.answer.said),
        *(_show_table(table) for table in page.tables if table.grid.rows),
        write_words(
            *(join_line(f"{word}: ", line) for word, line in page.answer.basis.items())
        ),
        *(write_notes(part.title, part.remarks) for part in page.notes),
    )


def _show_table(table: AnswerTable) -> str:
    """Write one table of an answer."""
    grid = table.grid
    sides = make_table_section(grid, title=table.title).right
    shown = [[str(cell) for cell in row] for row in grid.rows[:MOST_ROWS]]
    written = write_table(
        grid.head,
        shown,
        caption=table.title,
        right=[i for i, right in enumerate(sides) if right],
    )
    cut = describe_cut(len(shown), len(grid.rows), "record()")
    return written + write_words(table.caption, cut)
