"""Events in a PostgreSQL database, which any number of replicas may use.

The head row of a policy is locked while a replica appends to it, and nothing else is: the order
of positions is the order of commits. Moments are those of the database's clock.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from typing import Any, TypeAlias, final

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg_pool import ConnectionPool

from boundit.service.errors import StoreUnavailable
from boundit.service.store.base import (
    SCHEMA_VERSION,
    Transaction,
    require_form,
    write_schema,
)
from boundit.service.store.sqlite import Clock

_log = logging.getLogger(__name__)
_Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_LONGEST_WAIT = 16.0
_IDLE = TransactionStatus.IDLE, PipelineStatus.OFF
_TYPES = {
    **dict.fromkeys(["id", "kind", "body", "outcome", "hash", "day", "arm"], "text"),
    "reward_sum": "double precision",
}
"""The types of columns other than whole numbers."""
_SETTINGS = {
    "search_path": "boundit",
    "timezone": "UTC",
    # An answer means on disk, whatever the server does for others.
    "synchronous_commit": "on",
    # Head rows are not waited for; nothing else that is locked may hold up all policies.
    "lock_timeout": "50",
    "statement_timeout": "60000",
    # A plan made while a table was empty would go through all of it once it is large.
    "plan_cache_mode": "force_custom_plan",
    # A replica that stands still must not keep others from writing.
    "idle_in_transaction_session_timeout": "10000",
}
_READING = {**_SETTINGS, "idle_in_transaction_session_timeout": "600000"}
"""Settings of those who read: they lock nothing, and a replay works between its statements."""
_MAKING_TABLES = 4_702_111_234
"""The advisory lock to make the tables."""


@final
class PostgresTransaction(Transaction):
    """A transaction of PostgreSQL: its own arrays and placeholders, and rows that are locked."""

    lock = " FOR UPDATE SKIP LOCKED"
    waits = True

    def _run(self, query: str, *parameters: object) -> Any:
        return self.connection.execute(_translate(query), parameters)

    def _among(self, kind: str) -> str:
        """Write the condition as a query of its own, so that every value is looked up in the index.

        Where statistics are old, a comparison with all values of an array might go through the
        whole table.
        """
        return f"IN (SELECT unnest(?::{kind}[]))"

    def _pack(self, values: Sequence[str] | Sequence[int]) -> list[Any]:
        return list(values)

    def _insert(
        self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[object]], more: str
    ) -> None:
        """Add rows to a table, as one array a column, in binary: as text they are escaped."""
        arrays = ", ".join(f"%b::{_TYPES.get(name, 'bigint')}[]" for name in columns)
        query = f"INSERT INTO {table} ({', '.join(columns)}) SELECT * FROM unnest({arrays}) "
        values = [list(one) for one in zip(*rows, strict=True)]
        self.connection.execute(query + more, values)

    def _update_decisions(self, rows: Sequence[Sequence[object]]) -> None:
        self.connection.execute(
            "UPDATE decisions d SET closed = n.closed, outcome = n.outcome "
            "FROM unnest(%b::bigint[], %b::text[], %b::bigint[], %b::text[]) "
            "AS n (closed, outcome, policy, id) WHERE d.policy = n.policy AND d.id = n.id",
            [list(one) for one in zip(*rows, strict=True)],
        )


def _list_options(settings: Mapping[str, str]) -> dict[str, Any]:
    """List the options of a connection with some settings."""
    return {
        "autocommit": True,
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        "application_name": "boundit",
    }


def _read_clock(asked: "psycopg.Cursor[tuple[Any, ...]]") -> int:
    """Read the answer of the database's clock."""
    found = asked.fetchone()
    return int(found[0]) if found else 0


def _require_commit(ended: "psycopg.Cursor[tuple[Any, ...]]") -> None:
    """Refuse to take an undone transaction for a commit.

    Where a statement had failed, the database answers COMMIT with ROLLBACK, and with no error.
    """
    if ended.statusmessage != "COMMIT":
        raise StoreUnavailable("the database undid the transaction")


@lru_cache
def _translate(query: str) -> str:
    """Write a statement with the placeholders of psycopg."""
    return query.replace("?", "%s")


@final
class PostgresStore:
    """A PostgreSQL database, in the schema ``boundit``, which is made if it is not there.

    A connection that breaks is made anew, with pauses that grow; meanwhile callers get the error.
    """

    def __init__(self, url: str, *, clock: Clock | None = None) -> None:
        self._url, self._clock = url, clock
        self._writer: _Connection | None = None
        self._wait, self._retry_at = 0.0, 0.0
        self._pool: ConnectionPool[_Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=8,
            timeout=5.0,
            open=True,
            check=ConnectionPool.check_connection,
            kwargs=_list_options(_READING),
        )
        with _explain():
            self._writer = self._connect()
            self._make_tables(self._writer)

    def _connect(self) -> _Connection:
        """Open the connection that writes."""
        return psycopg.connect(self._url, **_list_options(_SETTINGS))

    def _make_tables(self, connection: _Connection) -> None:
        """Make the tables of a new database, or refuse those of another form."""
        with connection.transaction():
            connection.execute("SET LOCAL lock_timeout = 10000")  # no request is served yet
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING_TABLES,))
            made = connection.execute(
                "SELECT to_regclass('boundit.boundit_store') IS NOT NULL"
            ).fetchone()
            if made != (True,):
                connection.execute("CREATE SCHEMA IF NOT EXISTS boundit")
                for statement in write_schema(serial="BIGSERIAL PRIMARY KEY", clustered=""):
                    connection.execute(statement.encode())
                connection.execute(
                    "INSERT INTO boundit_store VALUES ('schema', %s)", (str(SCHEMA_VERSION),)
                )
            found = connection.execute(
                "SELECT value FROM boundit_store WHERE name = 'schema'"
            ).fetchone()
        require_form(found)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Begin a transaction that commits when the ``with`` ends and undoes what raised."""
        with _explain():
            connection = self._writer or self._reconnect()
            try:
                # Statements are sent when an answer is read, all that wait for it together.
                with connection.pipeline():
                    yield self._begin(connection)
                    ended = connection.execute("COMMIT")
                _require_commit(ended)
            except BaseException:
                self._undo(connection)
                raise

    def _undo(self, connection: _Connection) -> None:
        """Undo a transaction that failed, or drop its connection."""
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        info = connection.info
        if (info.transaction_status, info.pipeline_status) != _IDLE:
            self._writer = None
            connection.close()

    def _reconnect(self) -> _Connection:
        """Connect again, unless the last attempt was a moment ago."""
        now = time.monotonic()
        if now < self._retry_at:
            reason = "the database cannot be reached"
            raise StoreUnavailable(reason, retry_after=1 + int(self._retry_at - now))
        self._wait = min(max(2 * self._wait, 0.25), _LONGEST_WAIT)
        self._retry_at = now + self._wait
        self._writer = self._connect()
        self._wait = self._retry_at = 0.0
        return self._writer

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one moment of the store."""
        with _explain(), self._pool.connection() as connection:
            try:
                with connection.pipeline():
                    begun = self._begin(
                        connection, " ISOLATION LEVEL REPEATABLE READ READ ONLY"
                    )
                yield begun
            finally:
                connection.execute("ROLLBACK")

    def _begin(self, connection: _Connection, mode: str = "") -> Transaction:
        """Begin a transaction, and ask for the database's clock unless another was given."""
        connection.execute(f"BEGIN{mode}".encode())
        read = self._clock or partial(_read_clock, connection.execute(_NOW))
        return PostgresTransaction(connection, read)

    def forget(self) -> bool:
        """Do nothing: the database looks after its files."""
        return True

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        if self._writer is not None:
            self._writer.close()


@contextmanager
def _explain() -> Iterator[None]:
    """Turn errors of the database into ``StoreUnavailable``.

    What they say may name hosts and users, and is for the log alone.
    """
    try:
        yield
    except psycopg.Error as error:
        _log.warning("the database failed: %s", str(error).replace("\n", " "))
        reason = f"the database failed ({type(error).__name__})"
        raise StoreUnavailable(reason) from error
