"""Queries and names of tables, on whatever connection there is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pytest

from boundit.counts.databases.open import is_query
from boundit.counts.databases.source import DatabaseSource
from boundit.counts.errors import InvalidLog, InvalidOption, NoFiles, NotOneQuery
from boundit.counts.frames import FrameSource
from boundit.counts.read import read_log
from boundit.counts.relations import RelationSource
from tests.counts.backends import arrow, shown
from tests.counts.databases.connections import fill_postgres, fill_sqlite
from tests.counts.test_frames import ASKED, mixed_rows


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "  SELECT*FROM log",
        "(select 1)",
        "-- why\nselect 1",
        "/* a */ with x as (select 1) select * from x",
        "values (1)",
        "table log",
        "from log",
    ],
)
def test_queries(text: str) -> None:
    assert is_query(text)


@pytest.mark.parametrize(
    "text", ["log", "sales.log", "selected", "select", "my log", "with", "delete from log", ""]
)
def test_names(text: str) -> None:
    assert not is_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "select 1; select 2",
        "select 1) x; drop table log; select * from (select 1",
        "select 1) x, (select 2",
        "select (1",
        "select 1; drop table log",
    ],
)
def test_more_or_less_than_a_query_is_refused(text: str) -> None:
    said = "is not one whole query; give a single SELECT"
    connection = sqlite3.connect(":memory:")
    with closing(connection), pytest.raises(NotOneQuery, match=said):
        read_log(text, connection=connection)


def test_marks_inside_of_texts_and_comments_are_none() -> None:
    query = """select ';)' as X, ")" as Y -- ; )
        from (select 1 as ")") /* ( ; */ ;;"""
    with closing(sqlite3.connect(":memory:")) as connection:
        assert read_log(query, connection=connection).count(["X"]).levels["X"] == (";)",)


def test_nothing_is_written_on_the_way_by_duckdb() -> None:
    with closing(duckdb.connect()) as connection:
        connection.execute("CREATE TABLE log AS SELECT 1 AS X")
        for text in ("with x as (select 1) delete from log", "values (1) ; delete from log"):
            with pytest.raises(InvalidLog):
                read_log(text, connection=connection)
        assert connection.execute("SELECT count(*) FROM log").fetchone() == (1,)
        assert isinstance(read_log("log", connection=connection).source, RelationSource)


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("log", (1,)),
        ("main.log", (1,)),
        ('"a.b"', (2,)),
        ('main."a.b"', (2,)),
        ("my log", (3,)),
        ("select", (4,)),
        (' "say ""x""" ', (5,)),
    ],
)
def test_tables_are_found_by_their_names(name: str, levels: tuple[int, ...]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for i, quoted in enumerate(
            ['"log"', '"a.b"', '"my log"', '"select"', '"say ""x"""'], 1
        ):
            connection.execute(f"CREATE TABLE {quoted} AS SELECT {i} AS X")
        assert read_log(name, connection=connection).count(["X"]).levels["X"] == levels


@pytest.mark.parametrize("name", ['"log', "a..b", ".log", "log.", '"a"b'])
def test_what_is_no_name_is_refused(name: str) -> None:
    said = "is no name of a table, such as 'log'"
    connection = sqlite3.connect(":memory:")
    with closing(connection), pytest.raises(InvalidOption, match=said):
        read_log(name, connection=connection)


def test_other_sources_have_no_connection() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for source, found in (({"X": [1]}, "dict"), ("  ", "an empty text"), (["a"], "list")):
            said = f"with connection a log is a query or a table's name; found {found}"
            with pytest.raises(InvalidOption, match=said):
                read_log(source, connection=connection)
        with pytest.raises(InvalidOption, match="the log is open already"):
            read_log(read_log({"X": [1]}), connection=connection)


def test_a_query_without_a_connection_asks_for_one() -> None:
    with pytest.raises(InvalidOption, match="'select 1' is a query; say where with connection"):
        read_log("select 1")
    with pytest.raises(NoFiles, match=r"no log at 'from here\.csv': there is no such file"):
        read_log("from here.csv")


@pytest.mark.filterwarnings("ignore")
def test_tables_of_ibis_are_counted_by_our_own_sql(postgres_url: str, tmp_path: Path) -> None:
    """Through Narwhals a truth value cannot be added up there, nor NaN be told."""
    import ibis  # noqa: PLC0415 - it warns when imported

    path = tmp_path / "log.db"
    rows = mixed_rows()
    fill_postgres(postgres_url, arrow(rows))
    fill_sqlite(path, arrow(rows))
    one, other = ibis.connect(postgres_url), ibis.sqlite.connect(path)
    table = one.table("log").filter(ibis._.whole >= 0)
    kept = arrow(rows).to_pandas().query("whole >= 0")
    for opened, asked in ASKED:
        expected = read_log(kept, **opened).count(**asked)
        log = read_log(table, **opened)
        assert isinstance(log.source, DatabaseSource)
        assert shown(log.count(**asked)) == shown(expected)
    lite = read_log(other.table("log")).count(["text"], reward="R")
    assert shown(lite) == shown(read_log(arrow(rows)).count(["text"], reward="R"))
    with psycopg.connect(postgres_url) as connection:
        views = connection.execute("SELECT count(*) FROM pg_views WHERE viewname ~ 'ibis'")
        assert views.fetchone() == (0,)
    one.disconnect()
    other.disconnect()


@pytest.mark.filterwarnings("ignore")
def test_other_engines_of_ibis_count_by_ibis() -> None:
    import ibis  # noqa: PLC0415 - it warns when imported

    connection = ibis.polars.connect()
    connection.create_table("log", arrow({"X": [0, 1, 1], "Y": [1, 0, 1]}))
    for source in ("log", "select * from log"):
        log = read_log(source, connection=connection)
        assert isinstance(log.source, FrameSource)
        assert log.count(["X"], reward="Y").n.tolist() == [1, 2]
    with pytest.raises(InvalidLog, match="cannot read table 'nope' of polars"):
        read_log("nope", connection=connection)
