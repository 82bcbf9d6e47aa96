"""DuckDB's own types, and its own refusals."""

import datetime as dt
from pathlib import Path

import duckdb
import pytest

from boundit.core.errors import DataError
from boundit.counts.files import find_files
from boundit.counts.log import read_log
from boundit.counts.look import BARS, MOST_LEVELS, look_at_relation
from boundit.counts.sources import (
    ColumnKind,
    RelationSource,
    follow_interrupts,
    read_kinds,
)

NOON = dt.datetime(2024, 2, 29, 12)  # noqa: DTZ001 - without a zone on purpose
TYPES = [
    ("7::HUGEINT", ColumnKind.NUMBERS, 7),
    ("1.50::DECIMAL(9, 2)", ColumnKind.NUMBERS, 1.5),
    ("12345678901234567890::UBIGINT", ColumnKind.NUMBERS, 12345678901234567890),
    ("2.0::FLOAT", ColumnKind.NUMBERS, 2),
    ("true", ColumnKind.BOOLEANS, True),
    ("'a'::ENUM('b', 'a')", ColumnKind.TEXT, "a"),
    ("'00000000-0000-0000-0000-000000000001'::UUID", ColumnKind.TEXT,
     "00000000-0000-0000-0000-000000000001"),
    ("'ab'::BLOB", ColumnKind.TEXT, "ab"),
    ("DATE '2024-02-29'", ColumnKind.TIMES, dt.date(2024, 2, 29)),
    ("TIMESTAMP '2024-02-29 00:00:00'", ColumnKind.TIMES, dt.date(2024, 2, 29)),
    ("TIMESTAMP_NS '2024-02-29 12:00:00'", ColumnKind.TIMES, NOON),
    ("TIMESTAMPTZ '2024-02-29 01:00:00+01'", ColumnKind.TIMES,
     dt.datetime(2024, 2, 29, tzinfo=dt.UTC)),
    ("TIMESTAMPTZ 'infinity'", ColumnKind.TIMES, 2**63 - 1),
    ("TIMETZ '10:00:00+00'", ColumnKind.TIMES, "10:00:00+00"),
    ("TIME '09:30:00'", ColumnKind.TIMES, dt.time(9, 30)),
    ("INTERVAL 1 DAY", ColumnKind.TIMES, dt.timedelta(days=1)),
    ("[1, 2]", ColumnKind.NESTED, None),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "kind", "level"), TYPES)
def test_types_become_plain_levels(sql: str, kind: ColumnKind, level: object) -> None:
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT x FROM (VALUES ({sql}), ({sql}), (NULL)) t(x)")

        assert RelationSource(relation).kinds == {"x": kind}
        if kind is not ColumnKind.NESTED:
            levels = read_log(relation, missing="level").count(["x"]).levels["x"]
            assert [(type(v), v) for v in levels] == [(type(level), level), (type(None), None)]


def test_a_closed_connection_is_refused_in_one_line() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 1 AS x")
    connection.close()

    with pytest.raises(DataError, match="cannot read the DuckDB relation: Connection Error"):
        read_log(relation)


def test_an_error_while_counting_is_one_line() -> None:
    with duckdb.connect() as connection:
        log = read_log(connection.sql("SELECT 10::HUGEINT ** 30 :: HUGEINT AS x"))
        too_large = read_log(connection.sql("SELECT 170141183460469231731687303715884105727 x"))
        log.count([])

        with pytest.raises(DataError, match="cannot read the DuckDB relation") as caught:
            too_large.count(["x"])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "said", [duckdb.InterruptException("INTERRUPT Error"), RuntimeError("Query interrupted")]
)
def test_ctrl_c_that_duckdb_tells_of_is_an_interruption(said: Exception) -> None:
    """Whether DuckDB sees Ctrl-C while a query runs is up to DuckDB and its threads.

    These are the two errors by which it tells of one.
    """
    with pytest.raises(KeyboardInterrupt), follow_interrupts():
        raise said


def test_another_error_while_a_query_runs_is_no_interruption() -> None:
    with pytest.raises(RuntimeError, match="out of luck"), follow_interrupts():
        raise RuntimeError("out of luck")


def test_levels_gaps_and_histograms_are_those_of_the_rows(tmp_path: Path) -> None:
    rows = [f"{i % 7},{i % 3 if i % 5 else ''},{i / 10},{'ab'[i % 2]}" for i in range(1_000)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["A,B,C,D", *rows]) + "\n")
    told = list[tuple[int, int]]()
    look = find_files(str(path)).look(lambda *step: told.append(step))
    a, b, c, d = look.columns

    assert look.n_rows == 1_000
    assert told[-1] == (4, 4)
    assert (a.n_levels, sum(n for _, n in a.levels)) == (7, 1_000)
    assert b.n_missing == 200
    assert dict(d.levels) == {"a": 500, "b": 500}
    assert d.histogram is None
    assert (c.n_levels, len(c.levels)) == (1_000, MOST_LEVELS)
    assert c.histogram is not None
    assert sum(c.histogram.counts) == 1_000
    assert (c.histogram.edges[0], c.histogram.edges[-1]) == (0.0, 99.9)
    assert max(c.histogram.counts) - min(c.histogram.counts) <= 2


@pytest.mark.parametrize(
    ("sql", "bars"),
    [
        ("SELECT 1.5::DOUBLE AS x FROM range(9)", None),
        ("SELECT 'nan'::DOUBLE AS x FROM range(9)", None),
        ("SELECT CASE WHEN i = 0 THEN 'inf'::DOUBLE ELSE i END AS x FROM range(9) t(i)", BARS),
        ("SELECT (i * 1e300)::DOUBLE AS x FROM range(9) t(i)", BARS),
        ("SELECT (i * 12345678901234567890)::HUGEINT AS x FROM range(9) t(i)", BARS),
    ],
)
def test_odd_numbers_are_drawn_or_left(sql: str, bars: int | None) -> None:
    with duckdb.connect() as connection:
        relation = connection.sql(sql)
        (column,) = look_at_relation(relation, read_kinds(relation), lambda *_: None).columns

    found = None if column.histogram is None else len(column.histogram.counts)
    assert found == bars


def test_odd_names_and_nested_columns_are_looked_at() -> None:
    with duckdb.connect() as connection:
        names = 'SELECT 1 AS "a ""b""", [1, 2] AS "l;--"'
        relation = connection.sql(f"{names}, DATE '2024-01-02' AS d")
        look = look_at_relation(relation, read_kinds(relation), lambda *_: None)

    assert [column.name for column in look.columns] == ['a "b"', "l;--", "d"]
    assert look.columns[1].kind is ColumnKind.NESTED
    assert look.columns[2].levels == (("2024-01-02", 1),)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("TIMESTAMPTZ '2024-01-01T10:00:00+01:00'", "2024-01-01 09:00:00+00:00"),
        ("TIMESTAMPTZ 'infinity'", None),
        ("TIMESTAMPTZ '44-03-15 (BC) 00:00:00+00'", None),
        ("TIMETZ '10:00:00+00'", None),
        ("TIME '10:00:00'", "10:00:00"),
        ("INTERVAL 40 DAY", None),
        ("UUID '00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
        ("'A'::BLOB", "A"),
        ("'\\xFF'::BLOB", None),
        ("12345678901234567890123::HUGEINT", None),
        ("[{'at': TIMESTAMPTZ '2024-01-01T10:00:00+01:00', 'to': MAP {'a': 1}}]", None),
    ],
)
def test_a_column_of_any_type_is_looked_at_and_keeps_no_other_from_being_counted(
    tmp_path: Path, sql: str, shown: str | None
) -> None:
    path = tmp_path / "log.parquet"
    rows = f"SELECT i % 2 AS X, {sql} AS odd FROM range(10) t(i)"
    duckdb.connect().execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    x, odd = find_files(str(path)).look(lambda *_: None).columns

    assert x.levels == ((0, 5), (1, 5))
    assert odd.n_missing == 0
    assert shown is None or odd.levels == ((shown, 10),)
    assert read_log(path).count(["X"]).n.tolist() == [5, 5]
