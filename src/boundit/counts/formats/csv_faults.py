"""What is wrong with a CSV file that an engine gave up on: the line, in words of ours."""

import csv
from collections.abc import Iterator
from itertools import chain

from boundit.counts.formats.text_lines import MOST_LINES, read_lines
from boundit.terms.errors import shorten

_MARKS = ",;\t|"
_REMEDY = "save the file with one kind of line ends"


def find_fault(path: str, lines: int = MOST_LINES) -> str | None:
    """Find the first line of a CSV file that does not fit its header, and say why; or None.

    Called by ``FileSource.kinds`` and ``FileSource._explain_error`` once DuckDB gave up.
    """
    return read_lines(path, _compare_with_header, lines)


def _compare_with_header(texts: Iterator[str]) -> str | None:
    """Find the first row with more or fewer fields than the header, and describe it; or None.

    Fields are separated by the mark that the header has most of. Called by ``find_fault``.
    """
    header = next(texts, "").removeprefix("\ufeff")
    mark = max(_MARKS, key=header.count)
    ends = dict[bool, int]()
    rows = csv.reader(_note_ends(chain([header], texts), ends), delimiter=mark)
    try:
        names, before = next(rows, []), rows.line_num
        for row in rows:
            # A mark at the end of each line makes a last value of nothing.
            found = len(row) - (len(row) == len(names) + 1 and not row[-1])
            if row and found != len(names):
                return _describe_misfit(before + 1, found, names, rows.line_num - before)
            before = rows.line_num
    except csv.Error as error:
        broken = "new-line" in str(error)
        why = f"has a carriage return within it; {_REMEDY}" if broken else f"is no CSV: {error}"
        return f"line {rows.line_num:,} {why}"
    if len(ends) > 1:
        return f"line {max(ends.values()):,} ends otherwise than line 1; {_REMEDY}"
    return None


def _note_ends(texts: Iterator[str], ends: dict[bool, int]) -> Iterator[str]:
    """Give lines on, and note where the first with each kind of end is.

    Called by ``_compare_with_header``: a file with two kinds is one that DuckDB gives up on.
    """
    for i, text in enumerate(texts, 1):
        if text.endswith("\n"):
            ends.setdefault(text.endswith("\r\n"), i)
        yield text


def _describe_misfit(line: int, found: int, names: list[str], spans: int) -> str:
    """Say that a row has too many or too few fields, and that a quote may be open.

    Called by ``_compare_with_header``.
    """
    values = f"{found:,} value{'' if found == 1 else 's'}"
    header = shorten(", ".join(names), 60)
    hint = f"; is a quote left open, as the row goes on for {spans:,} lines?" * (spans > 1)
    return f"line {line:,} has {values}, the header has {len(names):,} ({header}){hint}"
