"""A database counts as every other engine does, and brings back nothing but cells."""

import datetime as dt
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bounds.derive import derive_bounds
from boundit.cli.init import make_example
from boundit.counts.cells import ColumnKind, GroupBy
from boundit.counts.errors import (
    BadWeight,
    ColumnsAlike,
    EmptyLog,
    InvalidLog,
    NotACategory,
    NotFinite,
    NotNumeric,
    TooManyCells,
)
from boundit.counts.read import read_log
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import read_graph
from boundit.terms.bound_table import BoundTable
from tests.counts.backends import BACKENDS, Columns, arrow, shown
from tests.counts.databases.connections import (
    DUCKDB,
    POSTGRES,
    SQLITE,
    connect,
    fill_duckdb,
    fill_postgres,
    fill_sqlite,
)
from tests.counts.test_frames import ASKED, mixed_rows, small_logs
from tests.postgres import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ibis, when imported
Run = Callable[[str], None]


@pytest.fixture
def place(postgres_url: str, tmp_path: Path) -> Callable[[str], str]:
    """Where the database of a driver is, with the mixed rows in its table 'log'."""
    table = arrow(mixed_rows())

    def find(driver: str) -> str:
        if driver in POSTGRES:
            fill_postgres(postgres_url, table)
            return postgres_url
        fill = fill_sqlite if driver in SQLITE else fill_duckdb
        fill(tmp_path / "log.db", table)
        return str(tmp_path / "log.db")

    return find


def store_as_sqlite(columns: Columns) -> Columns:
    """What SQLite makes of values: it has neither truth values nor dates."""

    def store(value: object) -> object:
        match value:
            case bool():
                return int(value)
            case dt.date():
                return value.isoformat()
            case _:
                return value

    return {name: [store(value) for value in of] for name, of in columns.items()}


@pytest.mark.parametrize("driver", [*POSTGRES, *SQLITE, *DUCKDB])
def test_every_driver_makes_the_same_tables(driver: str, place: Callable[[str], str]) -> None:
    rows = mixed_rows()
    rows = store_as_sqlite(rows) if driver in SQLITE else rows
    with connect(driver, place(driver)) as connection:
        for opened, asked in ASKED:
            expected = read_log({k: list(v) for k, v in rows.items()}, **opened).count(**asked)
            for source in ("log", "select * from log;"):
                log = read_log(source, connection=connection, **opened)
                assert shown(log.count(**asked)) == shown(expected)


QUERY = "Refill | do(Reminder), Age"
WAYS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"weight": "times"}, {"cluster": "user", "inference": "approximate"}),
]


class Pharmacy(NamedTuple):
    """The example's log, and the bounds that its file gives in each of the ways."""

    graph: CausalGraph
    table: pa.Table
    bounds: list[BoundTable]


@pytest.fixture(scope="module")
def pharmacy(tmp_path_factory: pytest.TempPathFactory) -> Pharmacy:
    folder = tmp_path_factory.mktemp("pharmacy")
    for name, text in make_example().items():
        (folder / name).write_text(text, encoding="utf-8")
    graph, csv = read_graph(folder / "graph.txt"), folder / "log.csv"
    table = pa_csv.read_csv(csv)
    table = table.append_column("user", [[i // 3 for i in range(len(table))]])
    table = table.append_column("times", [[1 + i % 2 for i in range(len(table))]])
    pa_csv.write_csv(table, csv)
    bounds = [
        derive_bounds(graph, QUERY, read_log(csv, **opened), **asked) for opened, asked in WAYS
    ]
    return Pharmacy(graph, table, bounds)


@pytest.mark.parametrize("driver", [*POSTGRES, *SQLITE, *DUCKDB])
def test_every_driver_gives_the_bounds_of_the_file(
    driver: str, postgres_url: str, tmp_path: Path, pharmacy: Pharmacy
) -> None:
    place = postgres_url if driver in POSTGRES else str(tmp_path / "log.db")
    if driver in POSTGRES:
        fill_postgres(place, pharmacy.table)
    else:
        (fill_sqlite if driver in SQLITE else fill_duckdb)(Path(place), pharmacy.table)
    with connect(driver, place) as connection:
        for (opened, asked), expected in zip(WAYS, pharmacy.bounds, strict=True):
            log = read_log("log", connection=connection, **opened)
            assert derive_bounds(pharmacy.graph, QUERY, log, **asked) == expected
        assert read_log("log", connection=connection, adaptive=True).count(["Age"]).adaptive


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_other_engine_gives_them_too(
    backend: str, tmp_path: Path, pharmacy: Pharmacy
) -> None:
    log = read_log(BACKENDS[backend](pharmacy.table, tmp_path))

    assert derive_bounds(pharmacy.graph, QUERY, log) == pharmacy.bounds[0]


ODD = [
    'quo"te',
    "a b",
    "select",
    "Größe 変数",
    "x;--",
    "%s",
    "'",
    "key_0",
    "row_weight",
    "C:\\",
]


@pytest.mark.parametrize("driver", ["psycopg", "adbc postgres", "sqlite3", "duckdb"])
def test_odd_names_are_never_taken_for_sql(
    driver: str, postgres_url: str, tmp_path: Path
) -> None:
    columns: Columns = {
        **{name: [i % 2, 1, None] for i, name in enumerate(ODD)},
        "Y": [1, 0, 1],
    }
    odd_table = 'my "odd" táble'
    path = tmp_path / "odd.db"
    if driver == "duckdb":
        fill_duckdb(path, arrow(columns), odd_table)
    elif driver == "sqlite3":
        _fill_plainly(path, odd_table, columns)
    else:
        fill_postgres(postgres_url, arrow(columns), odd_table)
    place = str(path) if driver in {"duckdb", "sqlite3"} else postgres_url
    quoted = odd_table.replace('"', '""')
    with connect(driver, place) as connection:
        # Dots and quotes need quotes; a blank does not.
        log = read_log(f'"{quoted}"', connection=connection, nulls="level")
        expected = read_log({k: list(v) for k, v in columns.items()}, nulls="level")
        for name in ODD:
            assert shown(log.count([name], reward="Y")) == shown(
                expected.count([name], reward="Y")
            )
        assert log.count(ODD).rows == 3
        assert log.count_levels(ODD) == {name: 1 if i % 2 else 2 for i, name in enumerate(ODD)}


def _fill_plainly(path: Path, name: str, columns: Columns) -> None:
    def quote(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {quote(name)} ({', '.join(map(quote, columns))})")
        marks = ", ".join("?" * len(columns))
        rows = zip(*columns.values(), strict=True)
        connection.executemany(f"INSERT INTO {quote(name)} VALUES ({marks})", rows)
        connection.commit()


@pytest.fixture(scope="module")
def shared_url(postgres_server: PostgresServer) -> Iterator[str]:
    with postgres_server.make_database() as url:
        yield url


@given(small_logs(), st.sampled_from(["psycopg", "adbc postgres", "sqlite3"]))
@settings(max_examples=40)
def test_counts_are_those_of_a_plain_loop(
    shared_url: str, tmp_path_factory: pytest.TempPathFactory, columns: Columns, driver: str
) -> None:
    names = [name for name in columns if name != "Y"]
    n, total = defaultdict[tuple[object, ...], int](int), defaultdict[object, float](float)
    stored = store_as_sqlite(columns) if driver == "sqlite3" else columns
    for i, reward in enumerate(columns["Y"]):
        key = tuple(stored[name][i] for name in names)
        if reward is not None and None not in key:
            n[key] += 1
            total[key] += float(str(reward))
    if driver == "sqlite3":
        where = str(tmp_path_factory.mktemp("log") / "log.db")
        fill_sqlite(Path(where), arrow(columns))
    else:
        where = shared_url
        with psycopg.connect(where, autocommit=True) as writer:
            writer.execute("DROP TABLE IF EXISTS log")
        fill_postgres(where, arrow(columns))
    with connect(driver, where) as connection:
        log = read_log("log", connection=connection)
        if not n:
            with pytest.raises(EmptyLog, match="every row has a null"):
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


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "adbc postgres"])
def test_values_of_postgresql_keep_their_types(driver: str, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as writer:
        writer.execute(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE DOMAIN size AS bigint;
            CREATE TABLE log AS SELECT
                i % 2 = 0 AS flag, i::smallint AS small,
                (i + (1::bigint << 60))::size AS big,
                (i / 4.0)::numeric(6, 2) AS price, (i / 4.0)::real AS single,
                (DATE '2024-01-31' + i) AS day, TIMESTAMP '2024-01-31 10:00' AS moment,
                TIMESTAMPTZ '2024-01-31 10:00+02' AS zoned, TIME '10:30' AS hour,
                (ARRAY['sad', 'ok'])[1 + i]::mood AS mood, ('x' || i)::char(5) AS padded,
                '550e8400-e29b-41d4-a716-446655440000'::uuid AS id, 'b'::bytea AS bytes,
                CASE i WHEN 0 THEN 'NaN'::float8 ELSE i END AS maybe,
                '{"a": 1}'::jsonb AS nested, ARRAY[i] AS listed, '10.0.0.1'::inet AS address,
                NULL AS nothing
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
        "address": ("10.0.0.1/32",),
        "nothing": (None,),
    }
    with connect(driver, postgres_url) as connection:
        log = read_log("log", connection=connection, nulls="level")
        for name, levels in expected.items():
            found = log.count([name]).levels[name]
            assert (found, list(map(type, found))) == (levels, list(map(type, levels))), name
        for name in ("nested", "listed"):
            with pytest.raises(NotACategory, match="lists or structures"):
                log.count([name])
        kinds = log.source.kinds
        assert kinds["price"] is kinds["big"] is ColumnKind.NUMBERS
        sums = read_log("log", connection=connection).count([], reward="price").sums
        assert sums is not None
        assert sums.tolist() == [1]


def test_texts_that_a_database_takes_for_equal_stay_apart(
    postgres_url: str, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE log (X TEXT COLLATE NOCASE)")
        connection.execute("INSERT INTO log VALUES ('a'), ('A'), ('a')")
        assert read_log("log", connection=connection).count(["X"]).n.tolist() == [1, 2]
    with psycopg.connect(postgres_url) as writer:
        writer.execute(
            "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        writer.execute("CREATE TABLE log (X text COLLATE blind)")
        writer.execute("INSERT INTO log VALUES ('a'), ('A'), ('a')")
        table = read_log("log", connection=writer, columns={"X": "x"}).count(["X"])
    assert dict(zip(table.levels["X"], table.n.tolist(), strict=True)) == {"A": 1, "a": 2}


def test_converters_of_sqlite3_make_levels(tmp_path: Path) -> None:
    sqlite3.register_converter("truth", lambda text: text == b"1")
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, detect_types=sqlite3.PARSE_DECLTYPES)) as connection:
        connection.execute("CREATE TABLE log (X truth, Y int)")
        connection.execute("INSERT INTO log VALUES (0, 1), (1, 0)")
        levels = read_log("log", connection=connection).count(["X"], reward="Y").levels["X"]
    assert levels == (False, True)
    assert all(isinstance(level, bool) for level in levels)


@pytest.mark.parametrize("late", [False, True])
def test_a_text_among_the_numbers_of_sqlite_is_refused_wherever_it_stands(late: bool) -> None:
    """SQLite would take it for 0; types are looked up in the first rows alone."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE log (X, Y, n)")
        if late:
            many = "WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t LIMIT 21000)"
            connection.execute(f"INSERT INTO log {many} SELECT i % 2, i % 2, 1 FROM t")
        connection.execute("INSERT INTO log VALUES (1, 'NA', 1), (2, '3', '1')")
        log = read_log("log", connection=connection)
        said = "reward 'Y' must be numeric or boolean; it holds text such as 'NA'; write"
        with pytest.raises(NotNumeric, match=said):
            log.count(["X"], reward="Y")
        with pytest.raises(NotNumeric, match="weight 'n' must be numeric"):
            read_log("log", connection=connection, weight="n").count(["X"])
        with pytest.raises(NotNumeric, match="the binned column 'Y' must be numeric"):
            read_log("log", connection=connection, bins={"Y": [1]}).count(["Y"])


@pytest.mark.parametrize("driver", ["psycopg", "adbc postgres", "sqlite3"])
@pytest.mark.parametrize(
    ("weights", "error", "problem"),
    [
        ([1.0, None], BadWeight, "weight 'n' is null or NaN in 1 of 2 rows"),
        ([1, -1], BadWeight, "weight 'n' is negative"),
        ([1, 0.5], BadWeight, "weight 'n' has a fractional part in some rows"),
        ([0, 0], EmptyLog, "every weight is zero"),
        ([1.0, float("inf")], NotFinite, "weight 'n' is infinite"),
    ],
)
def test_bad_weights_are_found(
    driver: str,
    weights: list[object],
    error: type[InvalidLog],
    problem: str,
    tmp_path: Path,
    postgres_url: str,
) -> None:
    table, place = arrow({"X": [0, 1], "n": weights}), postgres_url
    if driver == "sqlite3":
        place = str(tmp_path / "a.db")
        fill_sqlite(Path(place), table)
    else:
        fill_postgres(place, table)
    with connect(driver, place) as connection, pytest.raises(error, match=problem):
        read_log("log", connection=connection, weight="n").count(["X"])


def test_twin_columns_are_refused(postgres_url: str) -> None:
    twins = "select 1 as x, 2 as x"
    cases = 'select 1 as "Y", 2 as "y"'
    with psycopg.connect(postgres_url) as connection:
        with pytest.raises(ColumnsAlike, match="several columns called 'x'"):
            read_log(twins, connection=connection)
        assert read_log(cases, connection=connection).columns == ("Y", "y")
    for other in (sqlite3.connect(":memory:"), duckdb.connect()):
        with closing(other):
            for query in (twins, cases):
                with pytest.raises(ColumnsAlike):
                    read_log(query, connection=other)
            assert read_log("select 1 as a, 2 as a_1", connection=other).columns == ("a", "a_1")


def test_no_more_cells_come_back_than_fit() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE log (X, Z)")
        rows = [(i % 50, i % 7) for i in range(1000)]
        connection.executemany("INSERT INTO log VALUES (?, ?)", rows)
        log = read_log("log", connection=connection)
        cells = log.source.group(GroupBy(("X", "Z"), most_cells=10))
        assert len(cells["lines"]) == 11
        with pytest.raises(TooManyCells):
            log.count(["X", "Z"], memory_limit=10_000)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "select 1 as X where 1 = 0",
            "nothing to count in the query to SQLite: it has no rows",
        ),
        ("select nope", "cannot read the query to SQLite: no such column: nope"),
        ("nope", "cannot read table 'nope' of SQLite: no such table: nope"),
        ("values (1), (2)", "the log has no column 'X'; it has column1"),
    ],
)
def test_what_is_no_log_is_said_in_one_line(query: str, said: str) -> None:
    connection = sqlite3.connect(":memory:")
    with closing(connection), pytest.raises(InvalidLog) as caught:
        read_log(query, connection=connection).count(["X"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_query_may_be_long_and_end_in_a_comment(postgres_url: str) -> None:
    query = """
        -- the rows of the shop; not those of tests
        with shop as (select g % 2 as "X", 'a;b)' as "Z" from generate_series(1, 4) g)
        /* all of ( them */
        select * from shop -- as they are
    """
    with psycopg.connect(postgres_url) as connection:
        assert read_log(query, connection=connection).count(["X", "Z"]).n.tolist() == [2, 2]
