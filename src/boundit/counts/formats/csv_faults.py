"""What is wrong with a CSV file that an engine gave up on: the line, in words of ours."""

import csv
from collections.abc import Iterator

from boundit.counts.formats.text_lines import MOST_LINES, read_lines
from boundit.terms.errors import shorten

_MARKS = ",;\t|"


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
    names = next(csv.reader([header], delimiter=mark), [])
    rows = csv.reader(texts, delimiter=mark)
    begin = 2
    try:
        for row in rows:
            # A mark at the end of each line makes a last value of nothing.
            found = len(row) - (len(row) == len(names) + 1 and not row[-1])
            if row and found != len(names):
                return _describe_misfit(begin, found, names, rows.line_num + 2 - begin)
            begin = rows.line_num + 2
    except csv.Error as error:
        return f"line {begin:,} is no CSV: {error}"
    return None


def _describe_misfit(line: int, found: int, names: list[str], spans: int) -> str:
    """Say that a row has too many or too few fields, and that a quote may be open.

    Called by ``_compare_with_header``.
    """
    values = f"{found:,} value{'' if found == 1 else 's'}"
    header = shorten(", ".join(names), 60)
    hint = f"; is a quote left open, as the row goes on for {spans:,} lines?" * (spans > 1)
    return f"line {line:,} has {values}, the header has {len(names):,} ({header}){hint}"
