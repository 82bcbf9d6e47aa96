"""Events in one SQLite file: a write-ahead log that is on disk before anybody is answered."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, final

from boundit.service.errors import StoreUnavailable
from boundit.service.events import write_body
from boundit.service.store.base import SCHEMA_VERSION, Transaction, require_form, write_schema

_log = logging.getLogger(__name__)
Clock = Callable[[], int]
"""Gives the moment, in microseconds since 1970."""
FILE_NAME = "boundit.sqlite"
_BUSY_MS = 5000
_MOST_AT_ONCE = 64
"""How many rows a statement has: with 9 columns below the 999 values that any SQLite takes."""
_FEW_UPDATES = 16
"""Fewer rows are changed one by one: to join a table with them takes longer to begin."""
_UPDATE_ONE = "UPDATE decisions SET closed = ?, outcome = ? WHERE policy = ? AND id = ?"
_Row: TypeAlias = Sequence[object]


def read_clock() -> int:
    """Read the system's clock, in microseconds."""
    return time.time_ns() // 1000


@final
class SqliteTransaction(Transaction):
    """A transaction of SQLite: a list of values is one JSON text, and one writer needs no locks."""

    def __init__(self, connection: sqlite3.Connection, store: "SqliteStore") -> None:
        super().__init__(connection)
        self._store = store

    @cached_property
    def now(self) -> int:
        """The moment of the transaction, in microseconds since 1970."""
        return self._store.clock()

    def __enter__(self) -> Transaction:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self._undo(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if error is not None:
            self._undo(error)
            return
        try:
            self.connection.execute("COMMIT")
        except BaseException as failed:
            self._undo(failed)
            raise
        self._store.require_files()

    def _undo(self, error: BaseException) -> None:
        """Undo what was written, and raise an error of SQLite as one that callers know."""
        with _explain():
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise error

    def _run(self, query: str, *parameters: object) -> Any:
        return self.connection.execute(query, parameters)

    def _among(self, kind: str) -> str:  # noqa: ARG002, a value has its own
        return "IN (SELECT value FROM json_each(?))"

    def _pack(self, values: Sequence[str] | Sequence[int]) -> str:
        return write_body(values).decode()

    def _insert(
        self, table: str, columns: tuple[str, ...], rows: Sequence[_Row], more: str
    ) -> None:
        """Add rows to a table, many with each statement.

        A statement for each row costs more than twice as much, and the lock of the interpreter
        is given up for each: whoever answers requests meanwhile takes it.
        """
        for part in cut_rows(rows):
            query = _write_insert(table, columns, len(part), more)
            self.connection.execute(query, list(chain.from_iterable(part)))

    def update_decisions(self, rows: Sequence[_Row]) -> None:
        """Set closed and outcome of decisions, by policy and id."""
        if len(rows) < _FEW_UPDATES:
            self.connection.executemany(_UPDATE_ONE, rows)
            return
        for part in cut_rows(rows):
            values = list(chain.from_iterable(part))
            self.connection.execute(_write_update(len(part)), values)


def cut_rows(rows: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    """Cut rows into parts of 64, 32, 16 and so on, so that there are few different statements.

    >>> [len(part) for part in cut_rows(range(150))]
    [64, 64, 16, 4, 2]
    """
    start, left = 0, len(rows)
    while left:
        size = min(_MOST_AT_ONCE, 1 << (left.bit_length() - 1))
        yield rows[start : start + size]
        start, left = start + size, left - size


@lru_cache
def _write_insert(table: str, columns: tuple[str, ...], n: int, more: str) -> str:
    """Write the statement that adds so many rows."""
    row = f"({', '.join('?' * len(columns))})"
    places = ", ".join([row] * n)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {places} {more}"


@lru_cache
def _write_update(n: int) -> str:
    """Write the statement that changes so many rows."""
    places = ", ".join(["(?, ?, ?, ?)"] * n)
    return (
        "UPDATE decisions SET closed = v.column1, outcome = v.column2 "
        f"FROM (VALUES {places}) AS v "
        "WHERE decisions.policy = v.column3 AND decisions.id = v.column4"
    )


@final
class SqliteStore:
    """One SQLite file, which several processes may use at once.

    ``folder`` is made if it is not there. What is committed is on disk (``synchronous=FULL``).
    One that is ``read_only`` can be shown, exported and verified, and is never changed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        read_only: bool = False,
    ) -> None:
        self.path = Path(folder) / FILE_NAME
        self._paths = str(self.path), f"{self.path}-wal"
        self.clock = clock or read_clock
        self._uri = f"{self.path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        if read_only:
            with _explain():
                self._writer = self._open_read_only()
                self._require_form(self._writer)
        else:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._make_private()
            except OSError as error:
                reason = f"the store cannot be made: {error.strerror}"
                raise StoreUnavailable(reason) from None
            with _explain():
                self._writer = self._connect()
                self._make_tables()
        self._files = self._find_files()

    def _open_read_only(self) -> sqlite3.Connection:
        """Open a store that must not be written to, also where no lock can be taken.

        In a folder without the right to write, SQLite reads the file as one that nobody changes.
        """
        connection = self._connect()
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            wal = Path(self._paths[1])
            if wal.exists() and wal.stat().st_size:
                raise
            self._uri += "&immutable=1"
            connection = self._connect()
        return connection

    def _make_private(self) -> None:
        """Let nobody else read the file; SQLite gives its logs the same mode."""
        os.close(os.open(self.path, os.O_CREAT | os.O_RDONLY, 0o600))
        for path in (*self._paths, f"{self.path}-shm"):
            with suppress(FileNotFoundError, PermissionError):  # of another user: as it was
                os.chmod(path, 0o600)  # noqa: PTH101, the paths are texts

    def forget(self) -> bool:
        """Empty the write-ahead log, so that what was erased is in no file any more.

        Not while somebody reads what was there before.
        """
        with _explain(), closing(self._connect()) as connection:
            connection.execute("PRAGMA busy_timeout = 50")  # who writes waits for as long
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            _log.warning("what was erased stays in the write-ahead log until nobody reads it")
        return not busy

    def _connect(self) -> sqlite3.Connection:
        """Open a connection: one that writes, and another for each time that is read."""
        connection = sqlite3.connect(
            self._uri,
            uri=True,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        if "mode=rwc" in self._uri:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _make_tables(self) -> None:
        """Make the tables of a new file, or refuse one of another form."""
        connection = self._writer
        connection.execute("BEGIN IMMEDIATE")
        try:
            named = "SELECT 1 FROM sqlite_master WHERE name = 'boundit_store'"
            if connection.execute(named).fetchone() is None:
                for statement in write_schema(
                    serial="INTEGER PRIMARY KEY AUTOINCREMENT", clustered="WITHOUT ROWID"
                ):
                    connection.execute(statement)
                values = "VALUES ('schema', ?)"
                connection.execute(f"INSERT INTO boundit_store {values}", (SCHEMA_VERSION,))
            self._require_form(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _require_form(self, connection: sqlite3.Connection) -> None:
        """Refuse a store of another release, which is left as it is."""
        query = "SELECT value FROM boundit_store WHERE name = 'schema'"
        require_form(connection.execute(query).fetchone())

    def write(self) -> SqliteTransaction:
        """Begin a transaction that commits when the ``with`` ends and undoes what raised."""
        return SqliteTransaction(self._writer, self)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one moment of the store."""
        with _explain(), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection, self)

    def _find_files(self) -> tuple[object, ...]:
        """Find which files the database and its log are, by their numbers on disk."""
        try:
            database, log = map(os.stat, self._paths)
        except OSError:
            return ()
        return database.st_dev, database.st_ino, log.st_dev, log.st_ino

    def require_files(self) -> None:
        """Refuse to acknowledge what was written to files that were removed or replaced.

        The system goes on writing to them, and a restart would not find it.
        """
        if self._find_files() != self._files:
            raise StoreUnavailable("the store's file was removed or replaced", retry_after=30)

    def close(self) -> None:
        """Close all connections."""
        self._writer.close()


@contextmanager
def _explain() -> Iterator[None]:
    """Turn errors of SQLite into ``StoreUnavailable``."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the store cannot be used: {error}") from error
