"""Stores that outlive processes: a file, and a PostgreSQL server that is killed too."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from tests.postgres import PostgresServer


class CrashStore(NamedTuple):
    """How processes open the store, and what kills and starts its database if it has one."""

    open: Callable[[], Store]
    crash: Callable[[], None] | None = None


@contextmanager
def make_file() -> Iterator[CrashStore]:
    """An empty SQLite file."""
    with tempfile.TemporaryDirectory(prefix="boundit-crash-") as folder:
        yield CrashStore(lambda: SqliteStore(folder))


@contextmanager
def make_database(server: PostgresServer) -> Iterator[CrashStore]:
    """An empty database of a server."""

    def crash() -> None:
        server.kill()
        server.start()

    with server.make_database() as url:
        yield CrashStore(lambda: PostgresStore(url), crash)
