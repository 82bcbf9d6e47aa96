"""Logs small enough to type."""

import numpy as np
import pytest

from boundit.counts.cells import ColumnKind, GroupBy
from boundit.counts.columns import read_columns
from boundit.counts.errors import InvalidOption, NotNumeric
from boundit.counts.read import read_log


def test_kinds_are_those_of_the_values() -> None:
    columns = {
        "a": [True, None], "b": [1, True], "c": ["x", None], "d": [1, "x"], "e": [[1], [2]],
        "f": np.array([1, 2]), "g": [None, None],
    }  # fmt: skip
    kinds = read_columns(columns).kinds

    assert list(kinds.values()) == [
        ColumnKind.BOOLEANS, ColumnKind.NUMBERS, ColumnKind.TEXT, ColumnKind.OBJECTS,
        ColumnKind.NESTED, ColumnKind.NUMBERS, ColumnKind.OBJECTS,
    ]  # fmt: skip


def test_a_cell_has_the_sums_of_its_rows() -> None:
    source = read_columns({"X": ["a", "a", "b"], "Y": [2, 3, None], "n": [1, 10, 5]})
    cells = source.group(GroupBy(("X",), reward="Y", weight="n"))

    assert cells.keys == (["a", "b"],)
    assert cells["lines"].tolist() == [2, 1]
    assert cells["rewarded_weight"].tolist() == [11, 0]
    assert cells["sums"].tolist() == [32, 0]
    assert cells["squares"].tolist() == [94, 0]
    assert cells["lowest"].tolist()[0] == 2
    assert np.isnan(cells["lowest"][1])


def test_columns_that_are_no_table() -> None:
    with pytest.raises(InvalidOption, match="columns differ in length: 'X' has 1, 'Y' has 2"):
        read_columns({"X": [1], "Y": [1, 2]})
    with pytest.raises(InvalidOption, match="column 'X' is str; give a list of its values"):
        read_columns({"X": "abc"})


def test_the_first_text_that_is_no_number_has_a_row() -> None:
    source = read_columns({"Y": ["1", None, "2.5", "NA", "x"], "Z": ["1", "2", "3", "4", "5"]})

    assert source.find_oddity("Y") == ("NA", 4)
    assert source.find_oddity("Z") is None


def test_objects_that_are_no_numbers() -> None:
    with pytest.raises(
        NotNumeric, match=r"reward 'Y' must be numeric .* it holds Python objects"
    ):
        read_log({"Y": [1, object()]}).count([], reward="Y")
