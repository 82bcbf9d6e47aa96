"""A log checks its schema when opened, and reads its rows when counted."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from boundit.counts.cells import Cells, ColumnKind, GroupBy, Oddity
from boundit.counts.errors import (
    Continuous,
    EmptyLog,
    InvalidOption,
    MissingColumn,
    NotACategory,
    NotNumeric,
)
from boundit.counts.log import Log
from boundit.counts.read import read_log

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
    with pytest.raises(MissingColumn, match=r"no column 'x'; did you mean 'X'\?"):
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
        "a log of x, Y, t, l in the dict of columns, weighted by n, as an exact law, "
        "Y in bins, missing='error'"
    )
    assert log.caveats == log.count("Y").caveats
    assert log.count("x").caveats == ()


def test_questions_that_make_no_sense() -> None:
    log = read_log(ROWS, bins={"n": [3]})

    with pytest.raises(InvalidOption, match="'Y' is both counted and added up"):
        log.count("Y", reward="Y")
    with pytest.raises(InvalidOption, match="the reward 'n' is a number; take it out of bins"):
        log.count("x", reward="n")
    with pytest.raises(
        NotNumeric, match="reward 't' must be numeric or boolean; it holds text"
    ):
        log.count("x", reward="t")
    with pytest.raises(NotNumeric, match="selection 't' must be numeric or boolean"):
        log.count("x", selection="t")
    with pytest.raises(NotACategory, match="'l' holds lists or structures"):
        log.count("l")
    with pytest.raises(MissingColumn, match="no column 'Price'; it has Y, l, n, t, x") as no:
        log.count("Price")
    assert "write 'hidden Price' if nobody measured it, [Price] if" in str(no.value)
    with pytest.raises(MissingColumn, match="'Price'") as no:
        log.count("x", reward="Price")
    assert "hidden" not in str(no.value)


def test_a_selection_without_a_column_is_taken_at_its_word() -> None:
    assert read_log({"X": [1]}).count("X", selection="S").rows == 1


def test_a_header_without_rows_is_empty_rather_than_text(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("X,Y,n\n")

    with pytest.raises(EmptyLog, match="it has no rows"):
        read_log(tmp_path).count("X", reward="Y")
    with pytest.raises(EmptyLog, match="it has no rows"):
        read_log(tmp_path, weight="n")


def test_a_suspect_without_a_column_is_asked_about_by_its_name() -> None:
    log = read_log({"X": [1, 0], "t": ["a", "b"], "o": [1, object()]})

    (found,) = log.count("X", unmarked={"Selected", "Mail", "t", "o"}).caveats
    assert found.startswith("Selected is an ordinary node here: if it says which rows")


def test_a_measured_column_is_counted_value_by_value() -> None:
    rows = {"X": [0, 1, 0], "p": [0.25, 0.5, 0.125]}
    with pytest.raises(Continuous):
        read_log(rows).count(["X", "p"])
    table = read_log(rows).count(["X", "p"], measured=["p"])
    assert table.levels["p"] == (0.125, 0.25, 0.5)
    assert table.n.tolist() == [1, 1, 1]
