"""DuckDB's own types, and its own refusals."""

import datetime as dt
import subprocess
import sys
from pathlib import Path

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
            levels = read_log(relation, nulls="level").count(["x"]).levels["x"]
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


INTERRUPTED = """
import os, signal, threading, duckdb
from boundit.counts.read import read_log
signal.signal(signal.SIGINT, signal.default_int_handler)
long = duckdb.sql("SELECT hash(range) % 7 AS X, range % 3 AS Y FROM range(300_000_000_000)")
log = read_log(long)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    log.count("X", reward="Y")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_query_as_it_ends_anything_else(tmp_path: Path) -> None:
    """DuckDB stops the query and raises an error of its own.

    In a script of its own: workers of a test run do not listen to Ctrl-C.
    """
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    call = [sys.executable, str(script)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=100, check=False)
    assert "interrupted" in done.stdout, done.stderr


def test_another_error_while_a_query_runs_is_no_interruption() -> None:
    with pytest.raises(RuntimeError, match="out of luck"), heed_interrupts():
        raise RuntimeError("out of luck")
