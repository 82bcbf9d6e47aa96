"""Events in one SQLite file: a write-ahead log that is on disk before anybody is answered."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, final

from boundit.service.errors import StoreUnavailable
from boundit.service.events import write_body
from boundit.service.store.base import SCHEMA_VERSION, Transaction, require_form, write_schema

_log = logging.getLogger(__name__)
Clock = Callable[[], int]
"""Gives the moment, in microseconds since 1970."""
FILE_NAME = "boundit.sqlite"
_BUSY_MS = 5000
_UPDATE_DECISIONS = (
    "UPDATE decisions SET closed = n.value->>0, outcome = n.value->>1 FROM json_each(?) AS n "
    "WHERE decisions.policy = n.value->>2 AND decisions.id = n.value->>3"
)


@final
class SqliteTransaction(Transaction):
    """A transaction of SQLite: lists and tables are JSON, and one writer needs no row locks."""

    def _run(self, query: str, *parameters: object) -> Any:
        return self.connection.execute(query, parameters)

    def _among(self, kind: str) -> str:  # noqa: ARG002, a value has its own
        return "IN (SELECT value FROM json_each(?))"

    def _pack(self, values: Sequence[object]) -> str:
        return write_body(values).decode()

    def _insert(
        self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[object]], more: str
    ) -> None:
        """Add rows to a table by one statement, which keeps the lock of the interpreter.

        With a statement for each row, other threads would take it in between.
        """
        values = ", ".join(f"value->>{i}" for i in range(len(columns)))
        query = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM json_each(?) "
        # SQLite needs a WHERE between SELECT and ON CONFLICT.
        self.connection.execute(f"{query} WHERE true {more}", (write_body(rows).decode(),))

    def _update_decisions(self, rows: Sequence[Sequence[object]]) -> None:
        self.connection.execute(_UPDATE_DECISIONS, (self._pack(rows),))


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
        self.clock = clock or (lambda: time.time_ns() // 1000)
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

        In a folder without the right to write, SQLite reads the file as one that does not change.
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
        """Let no other user read the file; SQLite gives its logs the same mode."""
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
            _log.warning("what was erased stays in the write-ahead log until no reader is left")
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

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Begin a transaction that commits when the ``with`` ends and undoes what raised."""
        connection = self._writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield SqliteTransaction(connection, self.clock)
            connection.execute("COMMIT")
        except BaseException as error:
            with _explain():
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise
            raise
        # The system goes on writing to files that were removed, and a restart would not find it.
        if self._find_files() != self._files:
            raise StoreUnavailable("the store's file was removed or replaced", retry_after=30)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one moment of the store."""
        with _explain(), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection, self.clock)

    def _find_files(self) -> tuple[object, ...]:
        """Find which files the database and its log are, by their numbers on disk."""
        try:
            database, log = map(os.stat, self._paths)
        except OSError:
            return ()
        return database.st_dev, database.st_ino, log.st_dev, log.st_ino

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
