"""What PostgreSQL's catalogue says of columns, without reading a row."""

import psycopg

from boundit.counts.cells import ColumnKind
from boundit.counts.databases.connection import recognize_connection
from boundit.counts.databases.postgres import PostgresQueryDialect

TYPES = {
    "int": ColumnKind.NUMBERS,
    "numeric(5, 2)": ColumnKind.NUMBERS,
    "real": ColumnKind.NUMBERS,
    "dozen": ColumnKind.NUMBERS,
    "bool": ColumnKind.BOOLEANS,
    "text": ColumnKind.TEXT,
    "char(3)": ColumnKind.TEXT,
    "bytea": ColumnKind.TEXT,
    "uuid": ColumnKind.TEXT,
    "inet": ColumnKind.TEXT,
    "date": ColumnKind.TIMES,
    "timestamptz": ColumnKind.TIMES,
    "interval": ColumnKind.TIMES,
    "json": ColumnKind.NESTED,
    "int[]": ColumnKind.NESTED,
}


def test_kinds_are_those_of_the_catalogue(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE DOMAIN dozen AS int CHECK (VALUE <= 12)")
        typed = ", ".join(f'NULL::{of} AS "{of}"' for of in TYPES)
        # A row that is read would divide by zero.
        rows = f"(SELECT {typed} FROM generate_series(0, 1) g WHERE 1 / g > 0) log"
        ask = recognize_connection(connection).ask
        found = PostgresQueryDialect().list_columns(ask, rows, None)

    assert {column.name: column.kind for column in found} == TYPES
    assert {column.type for column in found if column.name in {"dozen", "int"}} == {"int4"}


def test_a_query_without_columns_has_none(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        ask = recognize_connection(connection).ask
        assert PostgresQueryDialect().list_columns(ask, "(SELECT) log", None) == []
