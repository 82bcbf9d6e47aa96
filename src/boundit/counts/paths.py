"""Where files are: kinds by how names end, patterns, directories, object stores and URLs."""

import datetime as dt
from enum import Enum
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from boundit.core.errors import DataError, MissingExtra, UnreadableFile, hide_password
from boundit.counts.errors import shorten_error

_PACKED = ("", ".gz", ".zst")
_DATABASES = {"duckdb", "mssql", "mysql", "postgres", "postgresql", "sqlite"}


class FileFormat(Enum):
    """A kind of file, and what it is called in messages."""

    PARQUET = "Parquet"
    CSV = "CSV"
    JSON = "JSON lines"
    ARROW = "Arrow"

    @property
    def has_types(self) -> bool:
        """Whether files of this kind say of what type their columns are."""
        return self in {FileFormat.PARQUET, FileFormat.ARROW}


ENDINGS = {
    FileFormat.PARQUET: (".parquet", ".parq", ".pq"),
    FileFormat.CSV: tuple(name + pack for pack in _PACKED for name in (".csv", ".tsv")),
    FileFormat.JSON: tuple(name + pack for pack in _PACKED for name in (".jsonl", ".ndjson")),
    FileFormat.ARROW: (".arrow", ".feather", ".ipc"),
}
"""How the names of files of each kind end."""
KINDS = "Parquet, CSV, JSON lines or Arrow"
"""The kinds in the words of a message."""


def find_format(path: str) -> FileFormat | None:
    """Find the kind of a file by how its name ends; None where that says nothing.

    >>> find_format("logs/2024.JSONL.gz"), find_format("notes.txt")
    (<FileFormat.JSON: 'JSON lines'>, None)
    """
    name = path.lower()
    return next((kind for kind, ends in ENDINGS.items() if name.endswith(ends)), None)


def list_files(paths: list[str]) -> tuple[tuple[str, ...], FileFormat, Any]:
    """List the files that paths, patterns and directories stand for; they are of one kind.

    Returns them, their kind, and the file system of fsspec where they are not on this machine.
    """
    groups = [(_find_remote if "://" in path else _find_here)(path) for path in paths]
    found = [file for _, files in groups for file in files]
    if not found:
        raise UnreadableFile(str(paths), "the list is empty")
    first, place = found[0], groups[0][0]
    for filesystem, files in groups:
        if filesystem is not place:
            reason = f"it is not at the same place as {hide_password(first)!r}"
            raise UnreadableFile(hide_password(files[0]), reason)
    kind = find_format(first)
    for file in found:
        if find_format(file) is not kind:
            raise DataError(
                f"{first!r} and {file!r} are of different kinds; give files of one kind, such as "
                "'logs/*.parquet'"
            )
    if kind is None:
        ends = ", ".join(of[0] for of in ENDINGS.values())
        raise UnreadableFile(first, f"unknown kind; name it {ends}")
    return tuple(dict.fromkeys(found)), kind, place


def _find_here(path: str) -> tuple[None, list[str]]:
    """Find the files that a path, directory or pattern on this machine stands for."""
    root = Path(path).expanduser()
    if root.is_file():
        return None, [str(root)]
    if root.is_dir():
        # Engines keep their own notes beside the data, under names such as _SUCCESS or .crc.
        files = [
            p
            for p in root.rglob("*")
            if not any(part[0] in "._" for part in p.relative_to(root).parts)
        ]
        reason = f"the directory holds no {KINDS} file"
    elif has_magic(str(root)):
        # Unlike Path.glob, this takes absolute and relative patterns alike.
        files = [Path(p) for p in glob(str(root), recursive=True)]  # noqa: PTH207
        reason = f"no {KINDS} file matches"
    else:
        files, reason = [], "there is no such file or directory"
    kept = sorted(str(p) for p in files if find_format(str(p)) and p.is_file())
    if not kept:
        raise UnreadableFile(str(root), reason)
    return None, kept


def _find_remote(path: str) -> tuple[Any, list[str]]:
    """Find the files that a URL, a pattern or a folder in an object store stands for."""
    is_file = find_format(path) is not None and not has_magic(path)
    scheme, shown = path.partition("://")[0].lower(), hide_password(path)
    if scheme.partition("+")[0] in _DATABASES:
        reason = (
            "it is a database; pass an Ibis table in Python, or write the counts of a GROUP BY "
            "to a CSV file and name their column as the weight"
        )
        raise UnreadableFile(shown, reason)
    try:
        import fsspec  # noqa: PLC0415, only who has such files has it
    except ModuleNotFoundError:
        raise MissingExtra("fsspec", "remote") from None
    try:
        filesystem = fsspec.filesystem(scheme)
        if type(filesystem).modified is fsspec.AbstractFileSystem.modified:
            # DuckDB asks when a file was written; a web server need not tell.
            filesystem.modified = lambda _: dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        list_all = filesystem.glob if has_magic(path) else filesystem.find
        is_there = is_file and filesystem.exists(path)
        found = [] if is_file else sorted(list_all(path))
    except Exception as error:
        # Each store has errors of its own: a missing package, credentials, no network.
        raise UnreadableFile(shown, shorten_error(error)) from error
    if is_there:
        return filesystem, [path]
    kept = [
        filesystem.unstrip_protocol(name)
        for name in found
        if find_format(name) and not any(part[0] in "._" for part in name.split("/") if part)
    ]
    if not kept:
        raise UnreadableFile(
            shown, "there is no such file" if is_file else f"no {KINDS} file is there"
        )
    return filesystem, kept
