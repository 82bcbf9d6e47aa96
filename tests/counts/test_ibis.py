"""A database counts as every other engine does, and brings back nothing but cells."""

import datetime as dt
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import psycopg
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boundit as bd
from boundit.cli.init import make_example
from boundit.core.errors import DataError
from boundit.counts.errors import NotACategory, NotNumeric, TooManyCells
from boundit.counts.log import read_log
from tests.counts.backends import Columns, arrow, shown
from tests.counts.test_frames import ASKED, mixed_rows, small_logs
from tests.postgres import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ibis, when imported
Table: TypeAlias = Any
TYPES = {
    bool: "boolean",
    int: "bigint",
    float: "double precision",
    str: "text",
    dt.date: "date",
}
QUERY = "Refill | do(Reminder), Age"


def fill(connection: Any, columns: Columns, name: str = "log") -> None:
    """Write rows into a new table, by a driver of a database."""
    if isinstance(connection, duckdb.DuckDBPyConnection):
        connection.from_arrow(arrow(columns)).create(name)
        return
    mark = "%s" if isinstance(connection, psycopg.Connection) else "?"

    def quote(text: str) -> str:
        return '"' + text.replace('"', '""').replace("%", "%" * len(mark)) + '"'

    typed = ", ".join(
        f"{quote(column)} {TYPES[type(next(v for v in of if v is not None))]}"
        for column, of in columns.items()
    )
    connection.cursor().execute(f"CREATE TABLE {quote(name)} ({typed})".replace("%%", "%"))
    marks = ", ".join([mark] * len(columns))
    rows = list(zip(*columns.values(), strict=True))
    connection.cursor().executemany(f"INSERT INTO {quote(name)} VALUES ({marks})", rows)
    connection.commit()


@contextmanager
def open_table(place: str, name: str = "log") -> Iterator[Table]:
    """Open a table with Ibis: in PostgreSQL by its URL, in SQLite or DuckDB by the path."""
    import ibis  # noqa: PLC0415 - it warns when imported

    if place.startswith("postgresql"):
        connection = ibis.connect(place)
    else:
        connection = getattr(ibis, Path(place).suffix[1:]).connect(place)
    try:
        yield connection.table(name)
    finally:
        connection.disconnect()


DRIVERS: dict[str, Callable[[str], Any]] = {
    "postgres": psycopg.connect,
    "sqlite": sqlite3.connect,
    "duckdb": duckdb.connect,
}


@pytest.fixture(params=sorted(DRIVERS))
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Columns], str]:
    """Write rows into the table 'log' of each database, and give its place."""
    kind = str(request.param)
    is_server = kind == "postgres"
    place = request.getfixturevalue("postgres_url") if is_server else f"{tmp_path}/log.{kind}"

    def write(columns: Columns) -> str:
        with closing(DRIVERS[kind](place)) as connection:
            fill(connection, columns)
        return str(place)

    return write


def test_every_database_makes_the_same_tables(put: Callable[[Columns], str]) -> None:
    rows = mixed_rows()
    with open_table(put(rows)) as table:
        for opened, asked in ASKED:
            expected = read_log({k: list(v) for k, v in rows.items()}, **opened).count(**asked)
            assert shown(read_log(table, **opened).count(**asked)) == shown(expected)


def test_every_database_gives_the_bounds_of_the_file(
    put: Callable[[Columns], str], tmp_path: Path
) -> None:
    for name, text in make_example().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph, csv = bd.read_graph(tmp_path / "graph.txt"), tmp_path / "log.csv"
    rows = pa_csv.read_csv(csv)[:2000]
    rows = rows.append_column("user", [[i // 3 for i in range(len(rows))]])
    rows = rows.append_column("times", [[1 + i % 2 for i in range(len(rows))]])
    pa_csv.write_csv(rows, csv)

    with open_table(put(rows.to_pydict())) as table:
        assert bd.derive_bounds(graph, QUERY, table) == bd.derive_bounds(graph, QUERY, csv)
        one, other = (bd.read_log(log, weight="times") for log in (table, csv))
        clusters: dict[str, Any] = {"cluster": "user", "inference": "approximate"}
        assert bd.derive_bounds(graph, QUERY, one, **clusters) == bd.derive_bounds(
            graph, QUERY, other, **clusters
        )


def test_only_counts_come_back_of_one_group_by(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection:
        fill(connection, mixed_rows())
    asked = list[str]()
    with open_table(f"{tmp_path}/log.sqlite") as table:
        log = read_log(table)
        table.get_backend().con.set_trace_callback(asked.append)
        log.count(["text", "whole"], reward="R")
    grouped = [query for query in asked if "GROUP BY" in query]

    assert len(grouped) == 1
    assert all(query.endswith("LIMIT 1") for query in asked if query not in grouped)


def test_what_ibis_filters_and_joins_is_counted(put: Callable[[Columns], str]) -> None:
    with open_table(put({"X": [0, 1, 1, 2], "Z": ["a", "b", "b", "c"]})) as table:
        few = table.filter(table.X > 0).mutate(W=table.X * 10)
        counted = read_log(few).count(["W"])
        joined = table.join(few, "Z").select("Z", "W")
        assert (counted.levels["W"], counted.n.tolist()) == ((10, 20), [2, 1])
        assert read_log(joined).count(["Z"]).n.tolist() == [4, 1]
        assert read_log(table).count_levels(["X"]) == {"X": 3}


ODD = ['quo"te', "a b", "select", "Größe 変数", "x;--", "%s", "'", "key_0", "weight", "C:\\"]


def test_odd_names_are_never_taken_for_sql(put: Callable[[Columns], str]) -> None:
    columns: Columns = {
        **{name: [i % 2, 1, None] for i, name in enumerate(ODD)},
        "Y": [1, 0, 1],
    }
    expected = read_log({k: list(v) for k, v in columns.items()}, missing="level")
    with open_table(put(columns)) as table:
        log = read_log(table, missing="level")
        for name in ODD:
            found = log.count([name], reward="Y")
            assert shown(found) == shown(expected.count([name], reward="Y"))
        assert log.count(ODD).rows == 3


@pytest.fixture(scope="module")
def shared_url(postgres_server: PostgresServer) -> Iterator[str]:
    with postgres_server.make_database() as url:
        yield url


@given(small_logs(), st.booleans())
@settings(max_examples=40)
def test_counts_are_those_of_a_plain_loop(
    shared_url: str, tmp_path_factory: pytest.TempPathFactory, columns: Columns, on_disk: bool
) -> None:
    names = [name for name in columns if name != "Y"]
    columns = {**columns, "Y": [None if y is None else float(str(y)) for y in columns["Y"]]}
    n, total = defaultdict[tuple[object, ...], int](int), defaultdict[object, float](float)
    for i, reward in enumerate(columns["Y"]):
        key = tuple(columns[name][i] for name in names)
        if reward is not None and None not in key:
            n[key] += 1
            total[key] += float(str(reward))
    place = str(tmp_path_factory.mktemp("log") / "log.sqlite") if on_disk else shared_url
    with closing(DRIVERS["sqlite" if on_disk else "postgres"](place)) as writer:
        writer.execute("DROP TABLE IF EXISTS log")
        fill(writer, columns)
    with open_table(place) as rows:
        log = read_log(rows)
        if not n:
            with pytest.raises(DataError, match="every row has a null"):
                log.count(names, reward="Y")
            return
        table = log.count(names, reward="Y")
    cells = [
        tuple(table.levels[name][c] for name, c in zip(names, line, strict=True))
        for line in table.codes.tolist()
    ]
    assert table.sums is not None
    assert dict(zip(cells, table.n.tolist(), strict=True)) == n
    assert dict(zip(cells, table.sums.tolist(), strict=True)) == pytest.approx(total)


def test_values_of_postgresql_keep_their_types(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as writer:
        writer.execute(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE log AS SELECT
                i % 2 = 0 AS flag, i::smallint AS small, i + (1::bigint << 60) AS big,
                (i / 4.0)::numeric(6, 2) AS price, (i / 4.0)::real AS single,
                (DATE '2024-01-31' + i) AS day, TIMESTAMP '2024-01-31 10:00' AS moment,
                TIMESTAMPTZ '2024-01-31 10:00+02' AS zoned, TIME '10:30' AS hour,
                (ARRAY['sad', 'ok'])[1 + i]::mood AS mood, ('x' || i)::char(5) AS padded,
                '550e8400-e29b-41d4-a716-446655440000'::uuid AS id, 'b'::bytea AS bytes,
                CASE i WHEN 0 THEN 'NaN'::float8 ELSE i END AS maybe,
                CASE i WHEN 0 THEN 'NaN'::numeric ELSE i END AS decimal,
                ARRAY[i] AS listed, '10.0.0.1'::inet AS address, NULL AS nothing
            FROM (SELECT g % 2 AS i FROM generate_series(0, 7) g) numbers
            """
        )
    expected: dict[str, tuple[object, ...]] = {
        "flag": (False, True),
        "small": (0, 1),
        "big": (2**60, 2**60 + 1),
        "price": (0, 0.25),
        "single": (0, 0.25),
        "day": (dt.date(2024, 1, 31), dt.date(2024, 2, 1)),
        "moment": (dt.datetime(2024, 1, 31, 10),),  # noqa: DTZ001, without a zone
        "zoned": (dt.datetime(2024, 1, 31, 8, tzinfo=dt.UTC),),
        "hour": (dt.time(10, 30),),
        "mood": ("ok", "sad"),
        "padded": ("x0", "x1"),
        "id": ("550e8400-e29b-41d4-a716-446655440000",),
        "bytes": ("b",),
        "maybe": (1, None),
        "decimal": (1, None),
        "address": ("10.0.0.1/32",),
        "nothing": (None,),
    }
    with open_table(postgres_url) as table:
        log = read_log(table, missing="level")
        for name, levels in expected.items():
            found = log.count([name]).levels[name]
            assert (found, list(map(type, found))) == (levels, list(map(type, levels))), name
        with pytest.raises(NotACategory, match="lists or structures"):
            log.count(["listed"])
        summed = read_log(table).count([], reward="price")
        missing = read_log(table).count([], reward="decimal")
    assert summed.sums == pytest.approx([1])
    assert missing.sums == pytest.approx([4])
    assert missing.dropped == {"decimal": 4}


def test_whole_numbers_too_large_for_floats_stay_apart_beside_nulls(
    put: Callable[[Columns], str],
) -> None:
    with open_table(put({"X": [2**60, 2**60 + 1, -5, None]})) as table:
        assert read_log(table).count(["X"]).levels["X"] == (-5, 2**60, 2**60 + 1)


def test_texts_that_a_database_takes_for_equal_stay_apart(
    postgres_url: str, tmp_path: Path
) -> None:
    rows = "INSERT INTO log VALUES ('a', 0), ('A', 0), ('a', 1), ('A', 2)"
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection:
        connection.execute("CREATE TABLE log (x TEXT COLLATE NOCASE, z int)")
        connection.execute(rows)
        connection.commit()
    with psycopg.connect(postgres_url) as writer:
        writer.execute("CREATE EXTENSION citext")
        writer.execute("CREATE TABLE log (x citext, z int)")
        writer.execute(rows)
    for place in (f"{tmp_path}/log.sqlite", postgres_url):
        with open_table(place) as table:
            counted = read_log(table).count(["x", "z"])
            assert counted.levels["x"] == ("A", "a")
            assert counted.n.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("types", ["X int, Y int, n int", "X, Y, n"])
def test_a_text_among_the_numbers_of_sqlite_is_refused(types: str, tmp_path: Path) -> None:
    """SQLite checks no types, and would take it for 0."""
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection:
        connection.execute(f"CREATE TABLE log ({types})")
        rows = "(0, 1, 1), (1, 'NA', 'x'), (2, 1, 1), ('odd', 1, 1)"
        connection.execute(f"INSERT INTO log VALUES {rows}")
        connection.commit()
    with open_table(f"{tmp_path}/log.sqlite") as table:
        said = "The outcome 'Y' holds text such as 'NA', which"
        with pytest.raises(NotNumeric, match=said):
            read_log(table).count([], reward="Y")
        with pytest.raises(NotNumeric, match="weight 'n' holds text"):
            read_log(table, weight="n").count([])
        with pytest.raises(NotNumeric, match="The binned column 'Y' holds"):
            read_log(table, bins={"Y": [1]}).count(["Y"])
        with pytest.raises(DataError, match="'X' holds 'odd' among whole numbers"):
            read_log(table).count(["X"])


@pytest.mark.parametrize(
    ("weights", "error", "problem"),
    [
        ([1.0, None], DataError, "weight 'n' is null or NaN in 1 of 2 rows"),
        ([1, -1], DataError, "weight 'n' is negative"),
        ([1.0, 0.5], DataError, "weight 'n' has a fractional part in some rows"),
        ([0, 0], DataError, "every weight is zero"),
        ([1.0, float("inf")], DataError, "weight 'n' is infinite"),
    ],
)
def test_bad_weights_are_found(
    put: Callable[[Columns], str],
    weights: list[object],
    error: type[DataError],
    problem: str,
) -> None:
    with (
        open_table(put({"X": [0, 1], "n": weights})) as table,
        pytest.raises(error, match=problem),
    ):
        read_log(table, weight="n").count(["X"])


def test_no_more_cells_come_back_than_fit(put: Callable[[Columns], str]) -> None:
    columns = {"X": [i % 50 for i in range(1000)], "Z": [i % 7 for i in range(1000)]}
    with open_table(put(columns)) as table, pytest.raises(TooManyCells):
        read_log(table).count(["X", "Z"], memory_limit=10_000)


def test_what_is_no_log_is_said_in_one_line(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection:
        connection.execute("CREATE TABLE log (X int)")
        with pytest.raises(
            DataError, match=r"cannot read a log from sqlite3\.Connection; give"
        ):
            read_log(connection)
    with open_table(f"{tmp_path}/log.sqlite") as table:
        with pytest.raises(
            DataError, match="Nothing to count in the ibis frame: it has no rows"
        ):
            read_log(table).count(["X"])
        with pytest.raises(DataError, match="The data have no column 'Z'"):
            read_log(table).count(["Z"])
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection:
            connection.execute("DROP TABLE log")
        with pytest.raises(DataError, match="cannot read the ibis frame: no such table") as bad:
            read_log(table).count(["X"])
        assert "\n" not in str(bad.value)
