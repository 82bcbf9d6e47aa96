"""What is wrong with a CSV file that an engine gave up on: the line, in words of ours."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from boundit.terms.errors import shorten

MOST_LINES = 10**7
"""Of a longer file only so many lines are looked at."""
_MARKS = ",;\t|"


class _NotText(Exception):
    """A line that is no text."""

    def __init__(self, line: int) -> None:
        self.line = line


def find_fault(path: str, lines: int = MOST_LINES) -> str | None:
    """Find the first line of a CSV file that does not fit its header, and say why; or None.

    Files compressed by zstd are not looked into. Called by ``FileSource.kinds`` and
    ``FileSource._explain_error`` once DuckDB gave up.
    """
    if path.lower().endswith(".zst"):
        return None
    try:
        with _open_bytes(path) as file:
            return _compare_with_header(_decode_lines(islice(file, lines)))
    except _NotText as error:
        return f"line {error.line:,} is not UTF-8 text; save the file as UTF-8"
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return "it is damaged or was cut short: it cannot be unpacked"
    except OSError as error:
        return error.strerror or str(error)


def _open_bytes(path: str) -> BinaryIO | gzip.GzipFile:
    """Open a CSV file for reading bytes, packed by gzip or not. Called by ``find_fault``."""
    return gzip.open(path) if path.lower().endswith(".gz") else Path(path).open("rb")


def _decode_lines(lines: Iterator[bytes]) -> Iterator[str]:
    """Decode a file's lines one by one from UTF-8; raise at the first that is no text.

    Called by ``find_fault``.
    """
    for i, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if i == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _NotText(i) from None
        if "\0" in text:
            raise _NotText(i)
        yield text


def _compare_with_header(texts: Iterator[str]) -> str | None:
    """Find the first row with more or fewer fields than the header, and describe it; or None.

    Fields are separated by the mark that the header has most of. Called by ``find_fault``.
    """
    header = next(texts, "")
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
