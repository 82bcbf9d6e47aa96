"""SQL that engines share."""

import sqlite3
from contextlib import closing

from boundit.counts.cells import GroupBy
from boundit.counts.sql_text import derive_columns, quote_identifier, write_bin


def test_a_number_falls_into_the_bin_above_the_edges_it_reaches() -> None:
    numbers = [None, -1e300, 0.1, 0.1 + 2**-50, 17.999, 18, 1e300]
    written = write_bin("x", [0.1, 18], "REAL")
    with closing(sqlite3.connect(":memory:")) as connection:
        found = [
            connection.execute(f"SELECT {written} FROM (SELECT ? AS x)", [x]).fetchone()[0]
            for x in numbers
        ]
    assert found == [None, 0, 1, 1, 1, 2, 2]


def test_names_come_back_from_their_quotes() -> None:
    for name in ('a"b', "", "a b", "select", "é"):
        with closing(sqlite3.connect(":memory:")) as connection:
            cursor = connection.execute(f"SELECT 1 AS {quote_identifier(name)}")
            assert cursor.description[0][0] == name


def test_what_is_not_asked_is_not_derived() -> None:
    plain = derive_columns(GroupBy(("X",)), str, str)
    weighed = derive_columns(GroupBy(("X",), reward="Y", weight="n", flags=("S",)), str, str)

    assert plain == {}
    assert weighed["twice"] == "n * Y * Y"
    assert set(weighed) == {
        "weight", "part", "reward", "once", "twice", "counted", "given", "flag_0"
    }  # fmt: skip
