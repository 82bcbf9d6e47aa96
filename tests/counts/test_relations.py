"""DuckDB's own types, and its own refusals."""

import datetime as dt

import duckdb
import pytest

from boundit.counts.cells import ColumnKind
from boundit.counts.errors import InvalidLog
from boundit.counts.read import read_log
from boundit.counts.relations import RelationSource, heed_interrupts

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

    with pytest.raises(InvalidLog, match="cannot read the DuckDB relation: Connection Error"):
        read_log(relation)


def test_an_error_while_counting_is_one_line() -> None:
    with duckdb.connect() as connection:
        log = read_log(connection.sql("SELECT 10::HUGEINT ** 30 :: HUGEINT AS x"))
        too_large = read_log(connection.sql("SELECT 170141183460469231731687303715884105727 x"))
        log.count([])

        with pytest.raises(InvalidLog, match="cannot read the DuckDB relation") as caught:
            too_large.count(["x"])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "said", [duckdb.InterruptException("INTERRUPT Error"), RuntimeError("Query interrupted")]
)
def test_ctrl_c_that_duckdb_tells_of_is_an_interruption(said: Exception) -> None:
    """Whether DuckDB sees Ctrl-C while a query runs is up to DuckDB and its threads.

    These are the two errors by which it tells of one.
    """
    with pytest.raises(KeyboardInterrupt), heed_interrupts():
        raise said


def test_another_error_while_a_query_runs_is_no_interruption() -> None:
    with pytest.raises(RuntimeError, match="out of luck"), heed_interrupts():
        raise RuntimeError("out of luck")
