"""Lines of a text file, one by one, for finding the one that an engine gave up on."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import islice

from boundit.counts.formats.packed_files import open_bytes

MOST_LINES = 10**7
"""Of a longer file only so many lines are looked at."""


class _NotText(Exception):
    """A line that is no text."""

    def __init__(self, line: int) -> None:
        self.line = line


def read_lines(
    path: str, look: Callable[[Iterator[str]], str | None], lines: int = MOST_LINES
) -> str | None:
    """Let ``look`` find what is wrong with the lines of a file; say why they cannot be read.

    None where nothing is found, or where zstd packed the file. Called by ``find_fault`` and
    ``find_json_fault``.
    """
    try:
        file = open_bytes(path)
        if file is None:
            return None
        with file:
            return look(_decode_lines(islice(file, lines)))
    except _NotText as error:
        return f"line {error.line:,} is not UTF-8 text; save the file as UTF-8"
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return "it is damaged or was cut short: it cannot be unpacked"
    except OSError as error:
        return error.strerror or str(error)


def _decode_lines(lines: Iterator[bytes]) -> Iterator[str]:
    """Decode a file's lines one by one from UTF-8; raise at the first that is no text.

    Called by ``read_lines``.
    """
    for i, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise _NotText(i) from None
        if "\0" in text:
            raise _NotText(i)
        yield text
