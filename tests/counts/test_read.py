"""The door: what it takes, and what it sends away."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from boundit.counts.columns import ColumnSource
from boundit.counts.errors import (
    EmptyLog,
    InvalidLog,
    InvalidOption,
    MissingColumn,
    UnknownSource,
)
from boundit.counts.files import FileSource
from boundit.counts.frames import FrameSource
from boundit.counts.read import read_log
from boundit.counts.relations import RelationSource
from tests.counts.backends import BACKENDS, arrow

ROWS = {"X": [0, 1], "n": [1, 2]}


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_every_source_finds_its_engine(backend: str, tmp_path: Path) -> None:
    log = read_log(BACKENDS[backend](arrow(ROWS), tmp_path))

    files = ("parquet", "directory", "csv", "json", "arrow files", "arrow stream")
    engines = {"dict": ColumnSource, "duckdb": RelationSource, "arrow dataset": RelationSource}
    other = FileSource if backend.startswith(files) else FrameSource
    assert type(log.source) is engines.get(backend, other)


def test_a_list_of_paths_is_one_log(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("X\n1\n2\n")

    assert read_log([tmp_path / "a.csv", str(tmp_path / "b.csv")]).count("X").rows == 4


def test_an_open_log_is_returned_as_it_is() -> None:
    log = read_log(ROWS)

    assert read_log(log) is log
    with pytest.raises(InvalidOption, match="the log is open already"):
        read_log(log, weight="n")
    with pytest.raises(InvalidOption, match="the log is open already"):
        read_log(log, adaptive=True)


def test_a_log_says_that_a_policy_learned_and_so_do_its_tables() -> None:
    log = read_log(ROWS, adaptive=True)

    assert str(log).endswith(", written while a policy learned")
    assert log.count("X").adaptive
    assert log.count("X").add_levels({"X": [7]}).adaptive
    assert not read_log(ROWS).count("X").adaptive


@pytest.mark.parametrize("source", [None, 3, b"log.csv", {1, 2}, [1, 2], object(), duckdb])
def test_what_is_no_log(source: object) -> None:
    with pytest.raises(
        UnknownSource, match=r"cannot read a log from .*; give paths of Parquet"
    ):
        read_log(source)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"missing": "keep"}, InvalidOption,
         "missing='keep' is no rule; use 'drop', 'level' or 'error'"),
        ({"exact": True}, InvalidOption,
         "exact=True needs weight=, the column that holds the law"),
        ({"exact": True, "weight": "n", "adaptive": True}, InvalidOption,
         "an exact law was not written row by row; leave out adaptive=True"),
        ({"weight": "m"}, MissingColumn, "the log has no column 'm'; it has X, n"),
        ({"columns": {"Y": "m"}}, MissingColumn, "the log has no column 'm'; it has X, n"),
        ({"columns": {"A": "X", "B": "X"}}, InvalidOption,
         "two nodes share a column in columns={'A': 'X', 'B': 'X'}"),
        ({"columns": "X"}, InvalidOption,
         "columns must be a mapping such as {'node': 'column'}; found 'X'"),
        ({"bins": [1]}, InvalidOption,
         "bins must be a mapping such as {'Age': [18, 30]}; found [1]"),
        ({"bins": {"Q": [1]}}, MissingColumn,
         "the log has no column 'Q'; it has X, n (columns={'Q': ...} renames)"),
        *(({"bins": {"X": edges}}, InvalidOption,
           f"bins={{'X': {edges!r}}} must be numbers that increase, as 18, 30, 50 do")
          for edges in ([], [2, 1], [1, 1], ["a"], [float("nan")], 3)),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(
    options: dict[str, Any], error: type[InvalidLog], message: str
) -> None:
    with pytest.raises(error) as caught:
        read_log(ROWS, **options)
    assert str(caught.value) == message


def test_a_log_without_columns_is_empty() -> None:
    with pytest.raises(EmptyLog, match="it has no columns"):
        read_log({})


def test_a_log_that_says_so_was_written_by_a_policy_that_learned() -> None:
    rows = {"X": [0, 1], "boundit_adaptive": [1, 1]}

    assert read_log(rows).adaptive
    assert read_log(rows, adaptive=True).adaptive
    assert not read_log({"X": [0, 1]}).adaptive
    assert read_log(rows).columns == ("X",)
    with pytest.raises(InvalidOption, match="a policy learned while it wrote"):
        read_log(rows, adaptive=False)
    with pytest.raises(InvalidOption, match="exact law"):
        read_log({**rows, "w": [0.5, 0.5]}, weight="w", exact=True)
