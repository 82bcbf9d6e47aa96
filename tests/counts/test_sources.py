"""What engines are asked for."""

import re

import numpy as np
import pytest

from boundit.core.errors import OptionError
from boundit.counts.errors import NotNumeric
from boundit.counts.log import read_log
from boundit.counts.sources import (
    AGGREGATES,
    NUMBER,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
    read_columns,
)


def test_a_plan_asks_for_no_more_than_it_needs() -> None:
    assert list(choose_aggregates(GroupBy(("X",)))) == ["lines"]
    assert "rewarded_weight" not in choose_aggregates(GroupBy((), reward="Y"))
    assert list(choose_aggregates(GroupBy((), flags=("S", "T")))) == [
        "lines",
        "flag_0",
        "flag_1",
    ]
    assert choose_aggregates(GroupBy((), reward="Y", weight="n")) == AGGREGATES


def test_text_times_and_lists_do_not_add_up() -> None:
    assert [kind for kind in ColumnKind if not kind.may_be_summed] == [
        ColumnKind.TEXT,
        ColumnKind.TIMES,
        ColumnKind.NESTED,
    ]


def test_a_number_is_known_by_its_look() -> None:
    numbers, others = ["1", " -1.5 ", "+.5", "2e-3"], ["", "NA", "1,5", "1 2", "."]

    assert all(re.match(NUMBER, text) for text in numbers)
    assert not any(re.match(NUMBER, text) for text in others)


def test_an_oddity_says_where_it_is_if_that_is_known() -> None:
    assert (str(Oddity("NA", 1200)), str(Oddity("NA"))) == ("'NA' in row 1,200", "'NA'")


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
    with pytest.raises(OptionError, match="columns differ in length: 'X' has 1, 'Y' has 2"):
        read_columns({"X": [1], "Y": [1, 2]})
    with pytest.raises(OptionError, match="column 'X' is str; give a list of its values"):
        read_columns({"X": "abc"})


def test_the_first_text_that_is_no_number_has_a_row() -> None:
    source = read_columns({"Y": ["1", None, "2.5", "NA", "x"], "Z": ["1", "2", "3", "4", "5"]})

    assert source.find_oddity("Y") == ("NA", 4)
    assert source.find_oddity("Z") is None


def test_objects_that_are_no_numbers() -> None:
    with pytest.raises(NotNumeric, match=r"outcome 'Y' holds Python objects"):
        read_log({"Y": [1, object()]}).count([], reward="Y")
