"""The line of a text file that an engine gave up on: engines name none, or a wrong one."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO

from boundit.core.errors import shorten
from boundit.counts.paths import FileFormat

DAMAGED = "it is damaged or was cut short: it cannot be unpacked"
_MOST_LINES = 10**7


def find_fault(path: str, kind: FileFormat, column: str = "") -> str | None:
    """Find the first line of a CSV or JSON file that cannot be read, and say why in one line.

    Of JSON, a ``column`` whose type changes is a fault too. None where there is none to be
    found, or where zstd packed the file.
    """
    if path.lower().endswith(".zst"):
        return None
    at, ends = 0, dict[bool, int]()

    def decode(lines: Iterator[bytes]) -> Iterator[str]:
        nonlocal at
        for at, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                ends.setdefault(line.endswith(b"\r\n"), at)
            yield line.decode()

    try:
        with gzip.open(path) if path.lower().endswith(".gz") else Path(path).open("rb") as file:
            lines = decode(islice(file, _MOST_LINES))
            if kind is FileFormat.JSON:
                return _check_json(lines, column)
            if found := _check_csv(lines):
                return found
    except UnicodeError:
        return f"line {at:,} is not UTF-8 text; save the file as UTF-8"
    except RecursionError:
        return f"line {at:,} is nested too deeply; a log's line is a flat object"
    except json.JSONDecodeError as error:
        return f"line {at:,} is not JSON: {error.msg}"
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return DAMAGED
    except OSError as error:
        return error.strerror or str(error)
    if len(ends) > 1:
        other = max(ends.values())
        return f"line {other:,} ends otherwise than line 1; save it with one kind of line ends"
    return None


def _check_csv(lines: Iterator[str]) -> str | None:
    header = next(lines, "").removeprefix("\ufeff")
    mark = max(",;\t|", key=header.count)
    rows = csv.reader(chain([header], lines), delimiter=mark, strict=True)
    first = 1
    try:
        names = next(rows, [])
        first = rows.line_num + 1
        for row in rows:
            # A mark at the end of each line makes a last value of nothing.
            found = len(row) - (len(row) == len(names) + 1 and not row[-1])
            if row and found != len(names):
                values = f"{found:,} value{'' if found == 1 else 's'}"
                shown = shorten(", ".join(names), 60)
                return f"line {first:,} has {values}, the header has {len(names):,} ({shown})"
            first = rows.line_num + 1
    except csv.Error as error:
        is_open = "end of data" in str(error)
        why = "leaves a quote open" if is_open else f"is not CSV: {str(error).split(' - ')[0]}"
        return f"line {first:,} {why}"
    return None


def _check_json(lines: Iterator[str], column: str) -> str | None:
    kinds = set[type]()
    for at, line in enumerate(lines, 1):
        found = json.loads(line) if line.strip() else {}
        if not isinstance(found, dict):
            return f'line {at:,} is not an object, such as {{"Age": 30, "Click": 1}}'
        json.dumps(found, ensure_ascii=False).encode()  # half a character is an error
        value = found.get(column)
        if value is not None:
            kinds.add(float if type(value) is int else type(value))
        if len(kinds) > 1:
            shown = shorten(json.dumps(value, ensure_ascii=False), 40)
            return f"{column!r} is {shown} in line {at:,}, of another type than before; give it one"
    return None


_FRAME = b"\x28\xb5\x2f\xfd"
_RLE = 1  # a block of one byte that is repeated


def is_cut_parquet(path: str) -> bool:
    """Tell whether a Parquet file lacks its opening or closing mark, as when cut short."""
    try:
        with Path(path).open("rb") as file:
            head, size = file.read(4), file.seek(0, SEEK_END)
            file.seek(max(4, size - 4))
            return not head == file.read() == b"PAR1"
    except OSError:
        return False


def is_cut_short(path: str) -> bool:
    """Tell whether the end of a file that zstd packed is missing.

    DuckDB would read what there is and say nothing. Only the sizes of blocks are read.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        while file.tell() < size:
            magic = file.read(4)
            skipped = magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5
            if skipped:
                file.seek(_read_number(file, 4), 1)
            elif magic == _FRAME:
                _skip_frame(file, size)
            else:
                # Other bytes are an engine's to refuse; too few are a frame that begins.
                return len(magic) < len(_FRAME)
        return file.tell() > size


def _skip_frame(file: BinaryIO, size: int) -> None:
    """Go from the header of a frame to behind its last block and checksum.

    Where the file ends before, the place is behind its end.
    """
    described = _read_number(file, 1)
    single, checked = bool(described & 0x20), bool(described & 0x04)
    content = (int(single), 2, 4, 8)[described >> 6]
    file.seek((not single) + (0, 1, 2, 4)[described & 3] + content, 1)
    last = False
    while not last:
        if file.tell() + 3 > size:
            file.seek(size + 1)
            return
        header = _read_number(file, 3)
        last, kind = bool(header & 1), header >> 1 & 3
        file.seek(1 if kind == _RLE else header >> 3, 1)
    file.seek(4 * checked, 1)


def _read_number(file: BinaryIO, width: int) -> int:
    """Read a number of so many bytes, the least first."""
    return int.from_bytes(file.read(width), "little")
