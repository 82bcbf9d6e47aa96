"""Pages of decisions: sentences, tables and notes."""

from collections.abc import Mapping, Sequence

from boundit.core.message import Note
from boundit.report.page import Page
from boundit.report.sections import Notes, Section, make_table

Table = tuple[str, Sequence[str], Sequence[Sequence[str]], str]
"""A title, the head, the rows and a caption."""


def make_page(
    title: str,
    sentences: Sequence[str],
    tables: Sequence[Table],
    confidence: float | None,
    *,
    caveats: Sequence[Note] = (),
    notes: Mapping[str, Sequence[str]] | None = None,
) -> Page:
    """Make the page of an answer: sentences, the first of which is the verdict, tables, notes."""
    sure = "Plug-in estimates, without sampling error."
    if confidence is not None:
        sure = f"{100 * confidence:.6g}% confidence."
    lines = tuple(map(str, caveats))
    critical = tuple(line for line in lines if line.startswith("critical: "))
    parts = {"Caveats": [line for line in lines if line not in critical], **(notes or {})}
    sections: list[Section] = [
        make_table(name, head, rows, caption=caption)
        for name, head, rows, caption in tables
        if rows
    ]
    sections += [Notes(name, tuple(lines)) for name, lines in parts.items() if lines]
    return Page(title, (*sentences, sure), tuple(sections), critical)
