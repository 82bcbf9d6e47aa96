"""Where the events of the service are, fields on the command line, and lengths of time."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from boundit.service.errors import name_extra

if TYPE_CHECKING:
    from boundit.service.engine import Engine
    from boundit.service.store.base import Store

F = TypeVar("F", bound=Callable[..., object])
_URLS = "postgresql://", "postgres://"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def store_option(command: F) -> F:
    """Give a command the option ``--store``."""
    return click.option(
        "--store",
        required=True,
        metavar="DIR|URL",
        envvar="BOUNDIT_STORE",
        help="Where the events are: a folder, which holds one SQLite file, or a database such "
        "as postgresql://user@host/name. [env: BOUNDIT_STORE]",
    )(command)


def find_folder(store: str) -> Path | None:
    """Find the folder that a store is in; None for a database."""
    if store.startswith(_URLS):
        return None
    if "://" in store:
        raise click.UsageError(
            f"--store {store!r} is not a store. Name a folder, or a URL such as "
            "postgresql://user@host/name."
        )
    return Path(store)


def open_store(store: str, *, new: bool = False, read_only: bool = False) -> "Store":
    """Open the store that a command names, or say what is missing.

    Only with ``new`` a folder may be without one, which is then made: to a command that reads,
    a wrong path would look like a store where all is well. ``read_only`` stores need no right
    to write.
    """
    folder = find_folder(store)
    try:
        if folder is not None:
            from boundit.service.store.sqlite import (  # noqa: PLC0415, an extra
                FILE_NAME,
                SqliteStore,
            )

            if not new:
                _require_store(folder, FILE_NAME)
            return SqliteStore(folder, read_only=read_only)
        from boundit.service.store.postgres import PostgresStore  # noqa: PLC0415, an extra
    except ImportError as error:
        raise name_extra(error) from None
    return PostgresStore(store)


def _require_store(folder: Path, file_name: str) -> None:
    """Refuse a folder without a store of ours, and change nothing.

    A file that cannot be read as a database is left to ``SqliteStore``, which says why.
    """
    path = folder / file_name
    missing = f"has no {file_name}" if folder.is_dir() else "does not exist"
    try:
        if path.is_file():
            uri = f"{path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as read:
                query = "SELECT 1 FROM sqlite_master WHERE name = 'boundit_store'"
                if read.execute(query).fetchone() is not None:
                    return
            missing = f"has a {file_name} of something else"
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from None
    except sqlite3.Error:
        return
    raise click.UsageError(
        f"--store {str(folder)!r} {missing}. Name the folder that boundit serve uses, or make a "
        "store with boundit policies create."
    )


@contextmanager
def run_engine(store: str, *, new: bool = False) -> Iterator["Engine"]:
    """Run an engine on a store for one command, beside a server that may use it too."""
    opened = open_store(store, new=new)
    from boundit.service.engine import Engine  # noqa: PLC0415, needs the extra

    with Engine(opened) as engine:
        yield engine


def set_option(known: str) -> Callable[[F], F]:
    """Give a command the option ``--set FIELD=VALUE``, and say which fields there are."""
    return click.option(
        "--set",
        "fields",
        multiple=True,
        metavar="FIELD=VALUE",
        help=f"Another field; again for more. The value is JSON or text. Fields: {known}.",
    )


def read_fields(given: Iterable[str], known: Iterable[str]) -> dict[str, Any]:
    """Read fields as they are set; a value is JSON if it can be, else text."""
    fields, found = list(known), dict[str, Any]()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set {text!r} must be FIELD=VALUE, such as {fields[0]}=1")
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Fields: {', '.join(fields)}."
            raise click.UsageError(f"Unknown field {name!r}. {hint}")
        found[name] = read_value(value)
    return found


def read_value(text: str) -> Any:
    """Read a value as JSON if it can be, else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_times(fields: Mapping[str, Any], units: Mapping[str, float]) -> dict[str, Any]:
    """Read the fields that are lengths of time (90, 30m, 12h, 7d) in units of so many seconds."""
    found = dict(fields)
    for name, unit in units.items():
        value = found.get(name)
        if isinstance(value, str):
            found[name] = read_duration(value) / unit
    return found


def read_duration(text: str) -> float:
    """Read a length of time in seconds, or with a unit: s, m, h or d.

    >>> read_duration("7d")
    604800.0
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if found is None:
        raise click.UsageError(f"{text!r} is not a length of time. Write 90, 30m, 12h or 7d.")
    return float(found[1]) * _UNITS[found[2]]


def write_duration(seconds: float) -> str:
    """Write a length of time as ``read_duration`` reads it, in the largest unit that is whole.

    >>> write_duration(1209600.0), write_duration(90.0), write_duration(0.5)
    ('14d', '90s', '0.5s')
    """
    for unit in "dhm":
        if seconds and seconds % _UNITS[unit] == 0:
            return f"{seconds / _UNITS[unit]:g}{unit}"
    return f"{seconds:g}s"
