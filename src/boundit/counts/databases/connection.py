"""A connection that the user opened: whose it is, and how it is left as it was found."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any, TypeAlias

from boundit.counts.databases.dialect import QueryAnswer, QueryDialect
from boundit.counts.databases.postgres import PostgresQueryDialect
from boundit.counts.databases.sqlite import SqliteQueryDialect
from boundit.counts.errors import UnknownConnection

Raw: TypeAlias = Any
"""A connection of some driver."""
_SAVEPOINT = "boundit_reads"


@dataclass(frozen=True, eq=False)
class DatabaseConnection:
    """A DB-API or ADBC connection, with the SQL it takes and what keeps it from harm."""

    raw: Raw
    dialect: QueryDialect
    keep: Callable[[Raw], AbstractContextManager[object]] = nullcontext
    driver: ModuleType | None = None

    @contextmanager
    def read(self) -> Iterator["DatabaseConnection"]:
        """Only read within this block, and leave transactions as they were, also on errors.

        Called by ``DatabaseSource`` around its queries.
        """
        with self.keep(self.raw):
            yield self

    def ask(self, query: str, most: int | None = None) -> QueryAnswer:
        """Run one query and bring its answer back, or its first ``most`` rows.

        Called by ``DatabaseSource`` and the dialects.
        """
        cursor = _make_cursor(self.raw)
        try:
            if _find_roots(self.raw) & {"psycopg"}:
                # Only in this mode a text of several commands is refused.
                cursor.execute(query, binary=True)
            else:
                cursor.execute(query)
            described = cursor.description or ()
            rows = cursor.fetchall() if most is None else cursor.fetchmany(most)
            names = tuple(_read_name(entry[0]) for entry in described)
            return QueryAnswer(
                names, tuple(entry[1] for entry in described), list(map(tuple, rows))
            )
        finally:
            cursor.close()


def recognize_connection(connection: object) -> DatabaseConnection:
    """Tell by its driver what SQL a connection takes, or refuse what is no connection.

    Called by ``GivenConnection.open`` and ``ConnectionUrl.open``.
    """
    roots = _find_roots(connection)
    if "sqlite3" in roots:
        return DatabaseConnection(connection, SqliteQueryDialect(), _query_only)
    if iscoroutinefunction(getattr(connection, "execute", None)):
        raise UnknownConnection(connection, "it is asynchronous; open a plain one")
    if "psycopg" in roots:
        return DatabaseConnection(connection, PostgresQueryDialect(), _roll_back_psycopg)
    if "psycopg2" in roots:
        return DatabaseConnection(connection, PostgresQueryDialect(), _roll_back_psycopg2)
    if "adbc_driver_manager" in roots:
        return _recognize_adbc(connection)
    if "sqlalchemy" in roots:
        hint = "give the driver's own, as engine.raw_connection().driver_connection"
        raise UnknownConnection(connection, hint)
    if not callable(getattr(connection, "cursor", None)):
        raise UnknownConnection(connection)
    driver = sys.modules.get(type(connection).__module__.split(".")[0])
    return DatabaseConnection(connection, QueryDialect(), driver=driver)


def _recognize_adbc(connection: Raw) -> DatabaseConnection:
    """Tell by what an ADBC driver says of its database what SQL it takes.

    Called by ``recognize_connection``.
    """
    match connection.adbc_get_info().get("vendor_name"):
        case "PostgreSQL":
            return DatabaseConnection(connection, PostgresQueryDialect(), _roll_back_savepoint)
        case "SQLite":
            return DatabaseConnection(connection, SqliteQueryDialect(), _query_only)
        case _:
            return DatabaseConnection(connection, QueryDialect())


@contextmanager
def _query_only(connection: Raw) -> Iterator[None]:
    """Let SQLite refuse to write within this block.

    Kept as ``DatabaseConnection.keep`` by ``recognize_connection``.
    """
    before = _run(connection, "PRAGMA query_only", fetch=True)
    _run(connection, "PRAGMA query_only = 1")
    try:
        yield
    finally:
        _run(connection, f"PRAGMA query_only = {int(before)}")


@contextmanager
def _roll_back_psycopg(connection: Raw) -> Iterator[None]:
    """Read in a transaction of psycopg's that may not write, and is rolled back.

    Inside a transaction of the user's it is a savepoint. Kept as ``DatabaseConnection.keep`` by
    ``recognize_connection``.
    """
    with connection.transaction(force_rollback=True):
        connection.execute(_READ_ONLY)
        yield


@contextmanager
def _roll_back_psycopg2(connection: Raw) -> Iterator[None]:
    """Read behind a savepoint, and end the transaction if there was none before.

    Kept as ``DatabaseConnection.keep`` by ``recognize_connection``.
    """
    idle = connection.get_transaction_status() == 0
    try:
        with _roll_back_savepoint(connection):
            yield
    finally:
        if idle and not connection.autocommit:
            connection.rollback()


@contextmanager
def _roll_back_savepoint(connection: Raw) -> Iterator[None]:
    """Read behind a savepoint, and go back to it; without one where each query stands alone.

    Kept as ``DatabaseConnection.keep`` by ``_recognize_adbc``; called by
    ``_roll_back_psycopg2``.
    """
    try:
        _run(connection, f"SAVEPOINT {_SAVEPOINT}")
    except Exception:  # noqa: BLE001, each driver has its own errors
        yield  # outside a transaction; were it broken, the first query would say so
        return
    try:
        _run(connection, _READ_ONLY)
        yield
    finally:
        try:
            _run(connection, f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")
            _run(connection, f"RELEASE SAVEPOINT {_SAVEPOINT}")
        except Exception:  # noqa: BLE001
            # ADBC's driver runs nothing in a transaction in which a query failed.
            connection.rollback()


_READ_ONLY = "SET LOCAL transaction_read_only = on"


def _run(connection: Raw, command: str, *, fetch: bool = False) -> Any:
    """Run a command that sets something, and give the one value that it answers, if asked.

    Called by what keeps connections from harm, such as ``_query_only``.
    """
    cursor = _make_cursor(connection)
    try:
        cursor.execute(command)
        return cursor.fetchone()[0] if fetch else None
    finally:
        cursor.close()


def _make_cursor(connection: Raw) -> Any:
    """Make a cursor whose rows are tuples, whatever the user's connection makes of rows.

    Called by ``DatabaseConnection.ask`` and ``_run``.
    """
    roots = _find_roots(connection)
    if "psycopg2" in roots:
        return connection.cursor(cursor_factory=sys.modules["psycopg2.extensions"].cursor)
    cursor = connection.cursor()
    if "sqlite3" in roots:
        cursor.row_factory = None
    elif "psycopg" in roots:
        cursor.row_factory = sys.modules["psycopg.rows"].tuple_row
    return cursor


def _read_name(name: object) -> str:
    """Read a column's name, which some drivers give as bytes.

    Called by ``DatabaseConnection.ask``.
    """
    return name.decode() if isinstance(name, bytes) else str(name)


def _find_roots(connection: object) -> set[str]:
    """Find the packages that a connection's class and its bases come from.

    Called by ``recognize_connection`` and ``_make_cursor``.
    """
    return {base.__module__.split(".")[0] for base in type(connection).__mro__}
