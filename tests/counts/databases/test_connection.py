"""A user's connection is only read, stays open, and is left as it was found."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import adbc_driver_postgresql.dbapi as adbc_postgres
import adbc_driver_sqlite.dbapi as adbc_sqlite
import duckdb
import psycopg
import psycopg2
import psycopg2.extras
import pytest
from psycopg.rows import dict_row

from boundit.counts.databases.connection import recognize_connection
from boundit.counts.databases.postgres import PostgresQueryDialect
from boundit.counts.databases.sqlite import SqliteQueryDialect
from boundit.counts.errors import InvalidLog, UnknownConnection
from boundit.counts.read import read_log

QUERY = "select * from log"
IDLE, IN_TRANSACTION = 0, 2


@pytest.fixture
def url(postgres_url: str) -> str:
    with psycopg.connect(postgres_url) as connection:
        connection.execute('CREATE TABLE log ("X" int, "Y" int)')
        connection.execute("INSERT INTO log VALUES (0, 1), (1, 0), (1, 1)")
        connection.execute("CREATE SEQUENCE numbers")
    return postgres_url


@pytest.fixture
def psycopg_connection(url: str) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(url)) as connection:
        yield connection


def count(connection: object) -> list[float]:
    return list(map(float, read_log(QUERY, connection=connection).count(["X"]).n))


def fail(connection: object) -> None:
    with pytest.raises(InvalidLog, match="does not exist"):
        read_log("select nope from log", connection=connection)


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("connect", [psycopg.connect, psycopg2.connect])
def test_a_connection_without_a_transaction_has_none_afterwards(
    connect: Callable[[str], "psycopg.Connection"], url: str, autocommit: bool
) -> None:
    with closing(connect(url)) as connection:
        connection.autocommit = autocommit
        assert count(connection) == [1, 2]
        assert connection.info.transaction_status == IDLE
        fail(connection)
        assert connection.info.transaction_status == IDLE
        assert count(connection) == [1, 2]


@pytest.mark.parametrize("connect", [psycopg.connect, psycopg2.connect])
def test_a_transaction_of_the_user_goes_on_with_what_it_wrote(
    connect: Callable[[str], "psycopg.Connection"], url: str
) -> None:
    with closing(connect(url)) as connection:
        connection.cursor().execute("INSERT INTO log VALUES (5, 1)")
        assert count(connection) == [1, 2, 1]
        fail(connection)
        assert connection.info.transaction_status == IN_TRANSACTION
        assert count(connection) == [1, 2, 1]
        connection.commit()
    with psycopg.connect(url) as other:
        assert count(other) == [1, 2, 1]


def test_a_transaction_of_adbc_goes_on_unless_a_query_fails(url: str) -> None:
    """Its driver runs nothing in a failed transaction, not even a return to a savepoint."""
    with adbc_postgres.connect(url) as connection:
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO log VALUES (5, 1)")
        assert count(connection) == [1, 2, 1]
        connection.commit()
        fail(connection)
        assert count(connection) == [1, 2, 1]
    with adbc_postgres.connect(url, autocommit=True) as connection:
        assert count(connection) == [1, 2, 1]
        fail(connection)
        assert count(connection) == [1, 2, 1]


def test_nothing_can_be_written(url: str, psycopg_connection: psycopg.Connection) -> None:
    """Not even by a function that a query calls, nor by a text that is more than a query."""
    writes = "select nextval('numbers') as x"
    others = [psycopg2.connect(url), adbc_postgres.connect(url)]
    for connection in (psycopg_connection, *others):
        with pytest.raises(InvalidLog, match=r"nextval\(\) in a read-only transaction"):
            read_log(writes, connection=connection).count(["x"])
        connection.rollback()
        with closing(connection.cursor()) as cursor:
            cursor.execute("INSERT INTO log VALUES (9, 9)")  # it can write again
        connection.rollback()
        connection.close()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE log (X)")
        delete = "DELETE FROM log"
        connection.create_function("wipe", 0, lambda: connection.execute(delete).rowcount)
        connection.execute("INSERT INTO log VALUES (1)")
        with pytest.raises(InvalidLog):
            read_log("select wipe() as X from log", connection=connection).count(["X"])
        assert connection.execute("SELECT count(*) FROM log").fetchone() == (1,)
        connection.execute("DELETE FROM log")  # it can write again


def test_query_only_stays_as_the_user_set_it() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA query_only = 1")
        read_log("select 1 as X", connection=connection).count(["X"])
        assert connection.execute("PRAGMA query_only").fetchone() == (1,)


def test_rows_are_tuples_whatever_the_user_makes_of_them(url: str) -> None:
    with closing(psycopg.connect(url, row_factory=dict_row)) as one:
        assert count(one) == [1, 2]
        assert one.row_factory is dict_row
    factory = psycopg2.extras.RealDictCursor
    with closing(psycopg2.connect(url, cursor_factory=factory)) as other:
        assert count(other) == [1, 2]
    with closing(sqlite3.connect(":memory:")) as third:
        third.row_factory = lambda _, row: {"row": row}
        third.text_factory = bytes
        levels = read_log("select 'é' as X", connection=third).count(["X"]).levels
        assert levels == {"X": ("é",)}


def test_a_broken_transaction_is_said_to_be_one(
    psycopg_connection: psycopg.Connection,
) -> None:
    with pytest.raises(psycopg.Error):
        psycopg_connection.execute("select nope")
    with pytest.raises(InvalidLog, match="current transaction is aborted"):
        count(psycopg_connection)
    psycopg_connection.rollback()
    assert count(psycopg_connection) == [1, 2]


def test_a_closed_connection_is_said_to_be_closed(url: str) -> None:
    connection = psycopg.connect(url)
    connection.close()
    lite = sqlite3.connect(":memory:")
    lite.close()
    for each in (connection, lite):
        with pytest.raises(InvalidLog, match=r"(?i)closed"):
            count(each)


def test_drivers_are_known_by_their_packages(url: str) -> None:
    class Own(sqlite3.Connection):
        """A connection of a user's own class."""

    known: dict[object, type] = {
        sqlite3.connect(":memory:"): SqliteQueryDialect,
        sqlite3.connect(":memory:", factory=Own): SqliteQueryDialect,
        adbc_sqlite.connect(): SqliteQueryDialect,
        psycopg.connect(url): PostgresQueryDialect,
        psycopg2.connect(url): PostgresQueryDialect,
        adbc_postgres.connect(url): PostgresQueryDialect,
    }
    for connection, dialect in known.items():
        assert type(recognize_connection(connection).dialect) is dialect
        connection.close()  # type: ignore[attr-defined]


def test_what_is_no_connection_is_refused() -> None:
    given = "give one of a DB-API or ADBC driver, of Ibis or DuckDB, or a URL"
    for found in (3, {"host": "db"}):
        with pytest.raises(UnknownConnection, match=given) as caught:
            recognize_connection(found)
        assert caught.value.option == "connection"
    with pytest.raises(UnknownConnection, match=r"psycopg\.AsyncConnection; it is async"):
        recognize_connection(object.__new__(psycopg.AsyncConnection))


def test_sqlalchemy_is_told_where_its_driver_is() -> None:
    engine = type("Engine", (), {"__module__": "sqlalchemy.engine.base"})()

    with pytest.raises(UnknownConnection, match=r"raw_connection\(\)\.driver_connection"):
        recognize_connection(engine)


def test_a_driver_that_is_not_known_takes_standard_sql() -> None:
    """DuckDB's own connection behind a class of another name, as an unknown driver would be."""

    class Foreign:
        """A DB-API connection of no package that is known."""

        def __init__(self) -> None:
            self.inner = duckdb.connect()
            self.inner.execute(
                "CREATE TABLE log AS SELECT i % 2 AS X, i % 3 > 0 AS Z, i / 2 AS Y, 1 AS n, "
                "'a' || i % 2 AS T FROM range(12) r(i)"
            )

        def cursor(self) -> duckdb.DuckDBPyConnection:
            return self.inner.cursor()

    log = read_log("log", connection=Foreign(), weight="n", bins={"Y": [2.5]})
    same = read_log(
        {
            "X": [i % 2 for i in range(12)],
            "Z": [i % 3 > 0 for i in range(12)],
            "Y": [i / 2 for i in range(12)],
            "n": [1] * 12,
            "T": [f"a{i % 2}" for i in range(12)],
        },
        weight="n",
        bins={"Y": [2.5]},
    )
    for names, reward in ((["X", "T"], "Z"), (["Y", "Z"], "X")):
        one, other = (each.count(names, reward=reward) for each in (log, same))
        assert (one.n.tolist(), one.levels) == (other.n.tolist(), other.levels)
        assert one.sums is not None
        assert other.sums is not None
        assert one.sums.tolist() == other.sums.tolist()
    assert "in table 'log' of the database" in str(log)
