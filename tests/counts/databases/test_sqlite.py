"""What SQLite's values say of its columns."""

import sqlite3
from contextlib import closing

import pytest

from boundit.counts.cells import ColumnKind
from boundit.counts.databases.connection import recognize_connection
from boundit.counts.databases.sqlite import SqliteQueryDialect
from boundit.counts.errors import ColumnsAlike


def test_kinds_are_those_of_the_first_rows() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE log (a, b, c, d, e)")
        connection.execute("INSERT INTO log VALUES (1, 'x', NULL, x'00', 2.5)")
        connection.execute("INSERT INTO log VALUES (2, 3, NULL, NULL, NULL)")
        ask = recognize_connection(connection).ask
        found = SqliteQueryDialect().list_columns(ask, "log", None)

    assert {column.name: column.kind for column in found} == {
        "a": ColumnKind.NUMBERS,
        "b": ColumnKind.TEXT,
        "c": ColumnKind.OBJECTS,
        "d": ColumnKind.TEXT,
        "e": ColumnKind.NUMBERS,
    }


def test_a_second_column_of_one_name_is_refused() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        ask = recognize_connection(connection).ask
        with pytest.raises(ColumnsAlike, match="several columns called 'x'"):
            SqliteQueryDialect().list_columns(ask, "(select 1 as x, 2 as x)", None)
