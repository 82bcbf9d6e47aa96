"""Rows and columns of what rounds showed, and errors that name a row."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from boundit.bandit.errors import BadReward
from boundit.bandit.many.rows import list_contexts, list_observed, name_row, read_columns
from boundit.terms.errors import BounditError


def test_an_error_keeps_its_facts_and_its_option() -> None:
    error = name_row(BadReward(2.0, (0, 1), "a"), 3)

    assert str(error).startswith("row 3: the reward of decision 'a' must be a number")
    assert str(error.message) == str(error)
    assert (error.reward, error.option) == (2.0, "reward_range")


@pytest.mark.parametrize(
    "given",
    [
        [{"W": 0}, {"W": 1}],
        iter([{"W": 0}, {"W": 1}]),
        {"W": np.array([0, 1])},
        pd.DataFrame({"W": [0, 1]}),
    ],
)
def test_what_rounds_showed_is_rows_or_columns(given: Any) -> None:
    assert list_observed(given, 2) == [{"W": 0}, {"W": 1}]


def test_nothing_may_be_shown() -> None:
    assert list_observed(None, 2) == [None, None]
    assert list_observed({}, 2) == [{}, {}]


@pytest.mark.parametrize("given", [[{}], {"W": [0]}])
def test_a_row_is_missing(given: Any) -> None:
    with pytest.raises(BounditError, match="observed must be one for each of 2, found '1 of"):
        list_observed(given, 2)


def test_other_things_are_refused() -> None:
    with pytest.raises(BounditError, match="observed must be a list of mappings, or columns"):
        list_observed(7, 2)
    assert read_columns("contexts", [1]) is None
    assert list_contexts(np.array(3), None) == [np.array(3)]
