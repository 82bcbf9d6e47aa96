"""Files in object stores and behind URLs, through fsspec."""

import datetime as dt
from glob import has_magic
from typing import Any, NamedTuple

from boundit.counts.errors import NoFiles, shorten_error
from boundit.counts.formats.file_format import KINDS, find_format
from boundit.terms.errors import BounditError, MissingExtra, hide_password


class FoundFiles(NamedTuple):
    """Files, and the file system of fsspec that they are in."""

    filesystem: Any
    paths: list[str]


def find_remote(path: str) -> FoundFiles:
    """Find the files that a URL, a pattern or a folder in an object store stands for."""
    scheme = path.partition("://")[0].lower()
    try:
        import fsspec  # noqa: PLC0415, only who has such files has it
    except ModuleNotFoundError:
        raise MissingExtra("fsspec", "remote") from None
    try:
        filesystem = fsspec.filesystem(scheme)
        if type(filesystem).modified is fsspec.AbstractFileSystem.modified:
            # DuckDB asks when a file was written; a web server need not tell.
            filesystem.modified = _date_back
        return FoundFiles(filesystem, _list_files(filesystem, path))
    except BounditError:
        raise
    except Exception as error:
        # Each store has errors of its own: a missing package, credentials, no network.
        raise NoFiles(hide_password(path), shorten_error(error)) from error


def _date_back(_: str) -> dt.datetime:
    """Say of any file that it is old."""
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _list_files(filesystem: Any, path: str) -> list[str]:
    """List the data files of a pattern, a folder or a single path."""
    shown = hide_password(path)
    if has_magic(path):
        found = sorted(filesystem.glob(path))
    elif find_format(path):
        if not filesystem.exists(path):
            raise NoFiles(shown, "there is no such file")
        return [path]
    else:
        found = sorted(filesystem.find(path))
    kept = [
        filesystem.unstrip_protocol(name)
        for name in found
        if find_format(name) and not any(part[0] in "._" for part in name.split("/") if part)
    ]
    if not kept:
        raise NoFiles(shown, f"no {KINDS} file is there")
    return kept
