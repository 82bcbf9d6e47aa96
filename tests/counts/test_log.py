"""A log checks its schema when opened, and reads its rows when counted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from boundit.core.errors import DataError, OptionError
from boundit.counts.errors import MissingColumn, NotACategory, NotNumeric
from boundit.counts.files import FileSource
from boundit.counts.frames import FrameSource
from boundit.counts.log import Log, read_log
from boundit.counts.sources import (
    Cells,
    ColumnKind,
    ColumnSource,
    GroupBy,
    Oddity,
    RelationSource,
)
from tests.counts.backends import BACKENDS, arrow

ROWS = {"x": [0, 1], "Y": [1.5, 2.5], "t": ["a", "b"], "n": [2, 3], "l": [[1], [2]]}


class Untouched:
    """A source whose rows nobody may read."""

    label = "nothing"
    kinds = {"X": ColumnKind.TEXT, "Y": ColumnKind.NUMBERS}  # noqa: RUF012 - read only

    def group(self, plan: GroupBy) -> Cells:
        raise AssertionError(plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        raise AssertionError(columns)

    def find_oddity(self, column: str) -> Oddity | None:
        raise AssertionError(column)


def test_opening_reads_no_rows() -> None:
    log = Log(Untouched(), {"Z": "X"}, None, exact=False, bins={"Y": [1]}, missing="drop")

    assert log.columns == ("Z", "Y")
    with pytest.raises(AssertionError, match="keys=\\('X',\\)"):
        log.count(["Z"])


def test_columns_go_by_their_names_in_the_graph() -> None:
    log = read_log(ROWS, columns={"X": "x", "T": "t"}, weight="n")

    assert log.columns == ("X", "Y", "T", "l")
    assert log.describe() == "a log of X, Y, T, l in the dict of columns, weighted by n"
    assert log.count(["T", "X"], reward="Y").n.tolist() == [2, 3]
    with pytest.raises(MissingColumn, match=r"no column 'x'. Did you mean 'X'\?"):
        log.count("x")


def test_a_new_name_hides_the_column_that_had_it() -> None:
    log = read_log({"Y": [0, 1], "y": ["a", "b"]}, columns={"Y": "y"})

    assert log.columns == ("Y",)
    assert log.count("Y").levels["Y"] == ("a", "b")


def test_variables_keep_their_order_and_a_set_gets_one() -> None:
    log = read_log({"X10": [1], "X2": [1], "A": [1]})

    assert log.count(["X2", "X10", "X2"]).variables == ("X2", "X10")
    assert log.count({"X10", "X2", "A"}).variables == ("A", "X2", "X10")
    assert log.count("X10").variables == ("X10",)


def test_it_says_how_it_counts() -> None:
    log = read_log(ROWS, weight="n", exact=True, bins={"Y": [2]}, missing="error")

    assert str(log) == (
        "a log of x, Y, t, l in the dict of columns, weighted by n, as an exact distribution, "
        "Y in bins, missing='error'"
    )
    assert log.caveats == log.count("Y").caveats
    assert log.count("x").caveats == ()


def test_questions_that_make_no_sense() -> None:
    log = read_log(ROWS, bins={"n": [3]})

    with pytest.raises(OptionError, match="'Y' is both counted and added up"):
        log.count("Y", reward="Y")
    with pytest.raises(OptionError, match="the outcome 'n' is a number; take it out of bins"):
        log.count("x", reward="n")
    with pytest.raises(NotNumeric, match="The outcome 't' holds text"):
        log.count("x", reward="t")
    with pytest.raises(NotNumeric, match="The selection 't' holds text"):
        log.count("x", selection="t")
    with pytest.raises(NotACategory, match="'l' holds lists or structures"):
        log.count("l")
    with pytest.raises(
        MissingColumn, match="no column 'Price' \\(columns: Y, l, n, t, x\\)"
    ) as no:
        log.count("Price")
    assert "write 'hidden Price' in the graph if Price is unmeasured" in str(no.value)
    with pytest.raises(MissingColumn, match="'Price'") as no:
        log.count("x", reward="Price")
    assert "hidden" not in str(no.value)


def test_a_selection_without_a_column_is_taken_at_its_word() -> None:
    assert read_log({"X": [1]}).count("X", selection="S").rows == 1


def test_a_header_without_rows_is_empty_rather_than_text(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("X,Y,n\n")

    with pytest.raises(DataError, match="it has no rows"):
        read_log(tmp_path).count("X", reward="Y")
    with pytest.raises(DataError, match="it has no rows"):
        read_log(tmp_path, weight="n")


def test_a_suspect_without_a_column_is_asked_about_by_its_name() -> None:
    log = read_log({"X": [1, 0], "t": ["a", "b"], "o": [1, object()]})

    (found,) = log.count("X", unmarked={"Selected", "Mail", "t", "o"}).caveats
    assert found.startswith("Selected is an ordinary node here: if it indicates which rows")


def test_a_measured_column_is_counted_value_by_value() -> None:
    rows = {"X": [0, 1, 0], "p": [0.25, 0.5, 0.125]}
    with pytest.raises(DataError):
        read_log(rows).count(["X", "p"])
    table = read_log(rows).count(["X", "p"], measured=["p"])
    assert table.levels["p"] == (0.125, 0.25, 0.5)
    assert table.n.tolist() == [1, 1, 1]


SHORT = {"X": [0, 1], "n": [1, 2]}


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_every_source_finds_its_engine(backend: str, tmp_path: Path) -> None:
    log = read_log(BACKENDS[backend](arrow(SHORT), tmp_path))

    files = ("parquet", "directory", "csv", "json", "arrow files", "arrow stream")
    engines = {"dict": ColumnSource, "duckdb": RelationSource, "arrow dataset": RelationSource}
    other = FileSource if backend.startswith(files) else FrameSource
    assert type(log.source) is engines.get(backend, other)


def test_a_list_of_paths_is_one_log(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("X\n1\n2\n")

    assert read_log([tmp_path / "a.csv", str(tmp_path / "b.csv")]).count("X").rows == 4


def test_an_open_log_is_returned_as_it_is() -> None:
    log = read_log(SHORT)

    assert read_log(log) is log
    with pytest.raises(OptionError, match="the log is open already"):
        read_log(log, weight="n")
    with pytest.raises(OptionError, match="the log is open already"):
        read_log(log, adaptive=True)


def test_a_log_says_that_a_policy_learned_and_so_do_its_tables() -> None:
    log = read_log(SHORT, adaptive=True)

    assert str(log).endswith(", written while a policy learned")
    assert log.count("X").adaptive
    assert log.count("X").add_levels({"X": [7]}).adaptive
    assert not read_log(SHORT).count("X").adaptive


@pytest.mark.parametrize("source", [None, 3, b"log.csv", {1, 2}, [1, 2], object(), duckdb])
def test_what_is_no_log(source: object) -> None:
    with pytest.raises(DataError, match=r"cannot read a log from .*; give paths of Parquet"):
        read_log(source)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"missing": "keep"}, OptionError,
         "missing='keep' is not a rule; use 'drop', 'level' or 'error'"),
        ({"exact": True}, OptionError,
         "exact=True needs weight=, the column of probabilities"),
        ({"exact": True, "weight": "n", "adaptive": True}, OptionError,
         "an exact distribution was not written row by row; leave out adaptive=True"),
        ({"weight": "m"}, MissingColumn, "The data have no column 'm' (columns: X, n)."),
        ({"columns": {"Y": "m"}}, MissingColumn, "The data have no column 'm' (columns: X, n)."),
        ({"columns": {"A": "X", "B": "X"}}, OptionError,
         "two nodes share a column in columns={'A': 'X', 'B': 'X'}"),
        ({"columns": "X"}, OptionError,
         "columns must be a mapping such as {'node': 'column'}; found 'X'"),
        ({"bins": [1]}, OptionError,
         "bins must be a mapping such as {'Age': [18, 30]}; found [1]"),
        ({"bins": {"Q": [1]}}, MissingColumn,
         "The data have no column 'Q' (columns: X, n). Map it with columns={'Q': ...}."),
        *(({"bins": {"X": edges}}, OptionError,
           f"bins={{'X': {edges!r}}} must be numbers that increase, as 18, 30, 50 do")
          for edges in ([], [2, 1], [1, 1], ["a"], [float("nan")], 3)),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(
    options: dict[str, Any], error: type[DataError], message: str
) -> None:
    with pytest.raises(error) as caught:
        read_log(SHORT, **options)
    assert str(caught.value) == message


def test_a_log_without_columns_is_empty() -> None:
    with pytest.raises(DataError, match="it has no columns"):
        read_log({})


def test_a_log_that_says_so_was_written_by_a_policy_that_learned() -> None:
    rows = {"X": [0, 1], "boundit_adaptive": [1, 1]}

    assert read_log(rows).adaptive
    assert read_log(rows, adaptive=True).adaptive
    assert not read_log({"X": [0, 1]}).adaptive
    assert read_log(rows).columns == ("X",)
    with pytest.raises(OptionError, match="a policy learned while it wrote"):
        read_log(rows, adaptive=False)
    with pytest.raises(OptionError, match="exact distribution"):
        read_log({**rows, "w": [0.5, 0.5]}, weight="w", exact=True)
