"""Where the events of the service are: a folder, or a PostgreSQL database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from boundit.terms.errors import MissingExtra

if TYPE_CHECKING:
    from boundit.service.engine import Engine
    from boundit.service.store.store import Store

F = TypeVar("F", bound=Callable[..., object])


def store_options(command: F) -> F:
    """Give a command the options ``--data`` and ``--store``; one of them is needed.

    Called by every command of the service.
    """
    data = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="The folder of the events, in one SQLite file. Made if it is not there.",
    )
    store = click.option(
        "--store",
        metavar="URL",
        envvar="BOUNDIT_STORE",
        help="A PostgreSQL database instead: postgresql://user@host/name. [env: BOUNDIT_STORE]",
    )
    return data(store(command))


def open_store(data: Path | None, store: str | None) -> "Store":
    """Open the store that a command names, or say what is missing.

    Called by every command of the service.
    """
    if (data is None) == (store is None):
        raise click.UsageError("say where the events are: --data DIR, or --store URL")
    if store is not None and not store.startswith(("postgresql://", "postgres://")):
        raise click.UsageError("--store is a URL such as postgresql://user@host/name")
    try:
        if data is not None:
            from boundit.service.store.sqlite import SqliteStore  # noqa: PLC0415, an extra

            return SqliteStore(data)
        from boundit.service.store.postgres import PostgresStore  # noqa: PLC0415, an extra
    except ImportError as error:
        extra = "service" if data is not None else "postgres"
        raise MissingExtra(str(error.name), extra) from None
    return PostgresStore(str(store))


@contextmanager
def run_engine(data: Path | None, store: str | None) -> Iterator["Engine"]:
    """Run an engine on a store for one command, beside a server that may use it too.

    Called by the commands that create, refresh, prune and export.
    """
    opened = open_store(data, store)
    from boundit.service.engine import Engine  # noqa: PLC0415, needs the extra

    with Engine(opened) as engine:
        yield engine
