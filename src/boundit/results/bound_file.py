"""Bound tables in files: versioned JSON, written whole or not at all, refused whole."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from boundit.core.errors import DamagedFile, UnreadableFile
from boundit.core.files import write_page

FORMAT, VERSION = "boundit bounds", 4
_READ = (3, VERSION)
"""The versions that are read; in version 3, of 0.2.0, parts have other names."""
_AT_ONCE = 4096
"""How many items of a list are spelled at once."""


def write(path: str | os.PathLike[str], record: Mapping[str, object]) -> None:
    """Write a bound table's record to a JSON file, with its format's version and a checksum.

    A crash leaves the old file or the new.
    """
    write_page(path, json.dumps(seal_record(record), ensure_ascii=False))


def seal_record(record: Mapping[str, object]) -> dict[str, object]:
    """Put the format's version and a checksum before a bound table's record.

    Gives what ``open_record`` takes.
    """
    head = {"format": FORMAT, "version": VERSION, "checksum": compute_checksum(record)}
    return {**head, **record}


def read(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read the record of a bound table from a file; refuse one that is damaged or no such file."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(path, f"it is not whole JSON ({error})") from None
    return open_record(record, partial(DamagedFile, path))


def open_record(record: object, refuse: Callable[[str], Exception]) -> dict[str, object]:
    """Check format, version and checksum of what ``write`` wrote, and give the table's record.

    ``refuse`` makes the error that is raised.
    """
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise refuse("it does not say so")
    if (found := record.get("version")) not in _READ:
        known = " and ".join(map(str, _READ))
        raise refuse(f"it has version {found!r}, and this release reads {known}")
    body = {k: v for k, v in record.items() if k not in {"format", "version", "checksum"}}
    if record.get("checksum") != compute_checksum(body):
        raise refuse("it was changed after it was saved; save it anew")
    return body


def compute_checksum(record: Mapping[str, object]) -> str:
    """Compute the checksum of a JSON record, so that a single changed digit in a file shows."""
    found = sha256()
    for piece in _spell_pieces(record):
        found.update(piece.encode())
    return found.hexdigest()


def _spell_pieces(record: object) -> Iterator[str]:
    """Spell a JSON record as ``json.dumps`` does with sorted keys, some rows at a time.

    The whole text of a large table would take as much memory as its file.

    >>> "".join(_spell_pieces({"b": [1, {"d": 0.5, "c": None}], "a": "x"}))
    '{"a": "x", "b": [1, {"c": null, "d": 0.5}]}'
    """
    if isinstance(record, Mapping) and record:
        for i, key in enumerate(sorted(record)):
            yield f"{', ' if i else '{'}{json.dumps(key)}: "
            yield from _spell_pieces(record[key])
        yield "}"
    elif isinstance(record, list) and len(record) > _AT_ONCE:
        for i in range(0, len(record), _AT_ONCE):
            yield ", " if i else "["
            yield json.dumps(record[i : i + _AT_ONCE], sort_keys=True)[1:-1]
        yield "]"
    else:
        yield json.dumps(record, sort_keys=True)
