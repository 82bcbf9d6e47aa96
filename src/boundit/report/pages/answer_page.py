"""The page of one answer: what it is in words, the rows behind it, and what was assumed."""

from collections.abc import Sequence
from dataclasses import dataclass

from boundit.core.formula import Line
from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer
from boundit.report.pages.sections import Section, make_notes, make_table_section
from boundit.report.records import Grid

MOST_ROWS = 200
"""How many rows of a table a page has; a record for programs has all."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Rows of an answer under a title; the first rows matter most."""

    title: str
    grid: Grid
    caption: str = ""


@dataclass(frozen=True, slots=True)
class AnswerNotes:
    """Remarks on an answer under a title, such as what was assumed or not looked at."""

    title: str
    remarks: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """An answer as a page shows it: the answer in words first, then tables, then notes.

    Tables without rows and notes without remarks are left out.
    """

    title: str
    answer: PageAnswer
    tables: tuple[AnswerTable, ...] = ()
    notes: tuple[AnswerNotes, ...] = ()


def write_answer_page(page: AnswerPage, *, command: str = "") -> str:
    """Write an answer as one HTML page, with the command that repeats it."""
    sections: list[Section] = [
        make_table_section(
            Grid(table.grid.head, table.grid.rows[:MOST_ROWS]),
            title=table.title,
            caption=_write_caption(table),
            stacked=True,
        )
        for table in page.tables
        if table.grid.rows
    ]
    sections += [make_notes(part.title, part.remarks) for part in page.notes if part.remarks]
    return render_page(
        page.title, sections, answer=page.answer, origin=describe_origin(command)
    )


def make_answer_table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str | float]], *, caption: str = ""
) -> AnswerTable:
    """Make a table of an answer; columns in which no row has anything are left out.

    >>> make_answer_table("Edges", ["edge", "on the log"], [["X -> Y", ""]]).grid
    Grid(head=('edge',), rows=(('X -> Y',),))
    """
    kept = [i for i in range(len(head)) if any(row[i] != "" for row in rows)]
    grid = Grid(
        tuple(head[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows)
    )
    return AnswerTable(title, grid, caption)


def _write_caption(table: AnswerTable) -> str:
    """Write what is said below a table, and how many rows are not shown."""
    size = len(table.grid.rows)
    cut = f"Shown are the first {MOST_ROWS} of {size:,} rows; --json has all."
    return " ".join(filter(None, (table.caption, cut if size > MOST_ROWS else "")))
