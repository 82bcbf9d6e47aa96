"""The same rows in real databases, reached by every driver there is."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import adbc_driver_postgresql.dbapi as adbc_postgres
import adbc_driver_sqlite.dbapi as adbc_sqlite
import duckdb
import psycopg
import psycopg2
import pyarrow as pa

POSTGRES = ("psycopg", "psycopg2", "adbc postgres", "ibis postgres", "postgres url")
SQLITE = ("sqlite3", "adbc sqlite", "ibis sqlite", "sqlite url")
DUCKDB = ("duckdb", "ibis duckdb", "duckdb url")


def fill_postgres(url: str, table: pa.Table, name: str = "log") -> None:
    with adbc_postgres.connect(url) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="create")
        connection.commit()


def fill_sqlite(path: Path, table: pa.Table, name: str = "log") -> None:
    with adbc_sqlite.connect(str(path)) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="create")
        connection.commit()


def fill_duckdb(path: Path, table: pa.Table, name: str = "log") -> None:
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("given", table)
        quoted = name.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM given')


@contextmanager
def connect(driver: str, place: str) -> Iterator[object]:
    """Open a connection by the name of its driver, to a URL of PostgreSQL or a path."""
    import ibis  # noqa: PLC0415 - it warns when imported

    with ExitStack() as stack:
        match driver:
            case "psycopg":
                yield stack.enter_context(closing(psycopg.connect(place)))
            case "psycopg2":
                yield stack.enter_context(closing(psycopg2.connect(place)))
            case "adbc postgres":
                yield stack.enter_context(adbc_postgres.connect(place))
            case "ibis postgres":
                yield _close_ibis(stack, ibis.connect(place))
            case "sqlite3":
                yield stack.enter_context(closing(sqlite3.connect(place)))
            case "adbc sqlite":
                yield stack.enter_context(adbc_sqlite.connect(place))
            case "ibis sqlite":
                yield _close_ibis(stack, ibis.sqlite.connect(place))
            case "duckdb":
                yield stack.enter_context(closing(duckdb.connect(place)))
            case "ibis duckdb":
                yield _close_ibis(stack, ibis.duckdb.connect(place))
            case "sqlite url" | "duckdb url":
                yield f"{driver.split(maxsplit=1)[0]}:///{place}"
            case _:
                yield place


def _close_ibis(stack: ExitStack, connection: object) -> object:
    stack.callback(connection.disconnect)  # type: ignore[attr-defined]
    return connection
