"""Where the events of the service are: a folder, or a PostgreSQL database."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from boundit.service.extras import name_extra

if TYPE_CHECKING:
    from boundit.service.engine import Engine
    from boundit.service.store.store import Store

F = TypeVar("F", bound=Callable[..., object])


class NoStore(click.UsageError):
    """A folder without a store, named to a command that makes none."""

    def __init__(self, folder: Path, file_name: str) -> None:
        missing = f"has no {file_name}" if folder.is_dir() else "is not there"
        if (folder / file_name).is_file():
            missing = f"has a {file_name} of something else"
        super().__init__(
            f"--data {str(folder)!r} is no store: it {missing}; name the folder that boundit "
            "serve uses, or make a store with boundit policies create"
        )


def store_options(command: F) -> F:
    """Give a command the options ``--data`` and ``--store``; one of them is needed."""
    return _add_options(command, "The folder of the events, in one SQLite file.")


def new_store_options(command: F) -> F:
    """Give a command the same options, where it makes the store if there is none."""
    made = "The folder of the events, in one SQLite file. Made if it is not there."
    return _add_options(command, made)


def _add_options(command: F, said: str) -> F:
    """Add both options, and say of the folder what a command does with it."""
    data = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help=said,
    )
    store = click.option(
        "--store",
        metavar="URL",
        envvar="BOUNDIT_STORE",
        help="A PostgreSQL database instead: postgresql://user@host/name. [env: BOUNDIT_STORE]",
    )
    return data(store(command))


def open_store(data: Path | None, store: str | None, *, new: bool = False) -> "Store":
    """Open the store that a command names, or say what is missing.

    Only with ``new`` a folder may be without one, which is then made: to a command that reads,
    a wrong path would look like a store where all is well.
    """
    if (data is None) == (store is None):
        raise click.UsageError("say where the events are: --data DIR, or --store URL")
    if store is not None and not store.startswith(("postgresql://", "postgres://")):
        raise click.UsageError("--store is a URL such as postgresql://user@host/name")
    try:
        if data is not None:
            from boundit.service.store.sqlite import (  # noqa: PLC0415, an extra
                FILE_NAME,
                SqliteStore,
            )

            if not new and not _holds_store(data / FILE_NAME):
                raise NoStore(data, FILE_NAME)
            return SqliteStore(data)
        from boundit.service.store.postgres import PostgresStore  # noqa: PLC0415, an extra
    except ImportError as error:
        raise name_extra(error) from None
    return PostgresStore(str(store))


def _holds_store(path: Path) -> bool:
    """Tell whether a file is a store of ours, and change nothing; called by ``open_store``.

    A file that cannot be read as a database is left to ``SqliteStore``, which says why.
    """
    try:
        if not path.is_file():
            return False
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as read:
            found = read.execute("SELECT 1 FROM sqlite_master WHERE name = 'boundit_store'")
            return found.fetchone() is not None
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from None
    except sqlite3.Error:
        return True


@contextmanager
def run_engine(
    data: Path | None, store: str | None, *, new: bool = False
) -> Iterator["Engine"]:
    """Run an engine on a store for one command, beside a server that may use it too.

    Only the first makes a ``new`` store.
    """
    opened = open_store(data, store, new=new)
    from boundit.service.engine import Engine  # noqa: PLC0415, needs the extra

    with Engine(opened) as engine:
        yield engine
