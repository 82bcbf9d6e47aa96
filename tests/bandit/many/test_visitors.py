"""Contexts of many visitors, in every form they may come in."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boundit.bandit.many.visitors import read_ids, read_visitors
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.scalars import name_bins
from tests.bandit.all_policies import NAMES, make

ROWS = [(0, 1), (1, 1), (0, 1), (1, 0)]
COLUMNS = {"U2": [1, 1, 1, 0], "U1": [0, 1, 0, 1], "more": list("abcd")}


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        tuple(ROWS),
        iter(ROWS),
        [list(row) for row in ROWS],
        [{"U1": a, "U2": b} for a, b in ROWS],
        np.array(ROWS),
        COLUMNS,
        {name: np.array(column) for name, column in COLUMNS.items()},
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_gives_the_same_decisions(given: Any) -> None:
    decisions = make("TS").decide_many(given)

    expected = [make("TS").decide(row, id=d.id) for row, d in zip(ROWS, decisions, strict=True)]
    assert list(decisions) == expected
    assert [type(value) for value in decisions[0].context] == [int, int]


def test_values_are_shown_as_they_were_given() -> None:
    found = read_visitors(BanditSpec(), [(1,), (True,), (1.0,)], sees_numbers=True)

    assert found.groups.tolist() == [0, 0, 0]
    assert list(map(repr, found.contexts)) == ["(1,)", "(True,)", "(1.0,)"]


def test_one_variable_needs_no_tuples() -> None:
    policy = make("UCB", arms=[0, 1], context=["U"])

    assert [d.context for d in policy.decide_many(np.array([3, 4]))] == [(3,), (4,)]
    assert [d.context for d in policy.decide_many(["a", "b"])] == [("a",), ("b",)]


def test_without_context_rows_are_empty() -> None:
    policy = make("UCB", arms=[0, 1], context=[])

    assert len(policy.decide_many(np.empty((3, 0)))) == 3
    assert len(policy.decide_many([()] * 2)) == 2
    assert len(policy.decide_many({"U": [1, 2]})) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(0, 0), (0, 0), (0, 9), (0, 9)], "row 2: 'U2' has no level 9"),
        ([[0, 0], (0,)], "row 1: the context .* must have one value each"),
        ([(0, 0), {"U1": 0}], "row 1: .* it has no value for 'U2'"),
        ({"U1": [0]}, ".* it has no column 'U2'"),
        ({"U1": [0], "U2": [0, 1]}, "contexts must be columns of one length"),
        ({"U1": "ab", "U2": [0, 1]}, "contexts must be columns with a value for each row"),
        ("ab", "contexts must be a list, a 2-D array, or columns by name"),
        (7, "contexts must be a list, a 2-D array, or columns by name"),
        (np.array([[0.0, 0.0], [0.0, np.nan]]), "row 1: .* must be finite"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_bad_row_is_named_and_nothing_changes(name: str, given: Any, message: str) -> None:
    policy = make(name, arms=[(0, 0), (1, 1)], context={"U1": [0, 1], "U2": [0, 1]})
    before = policy.state()

    with pytest.raises(BounditError, match=f"^{message}"):
        policy.decide_many(given)

    assert policy.state() == before


@pytest.mark.parametrize("name", NAMES)
def test_numbers_find_their_bins(name: str) -> None:
    rows: list[dict[str, object]] = [
        {"Ad": ad, "Age": age, "lower": 0.1, "upper": 0.9}
        for ad, age in product("ab", name_bins([30.0, 50.0]))
    ]
    prior = replace(
        BoundTable.from_rows(
            rows, outcome="Y", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
        ),
        bins={"Age": (30.0, 50.0)},
    )
    one, many = (make(name, prior=prior, watch=True) for _ in range(2))
    ages = [41.5, 17, 66, 30, 41.5, 20]

    expected = [one.decide(age) for age in ages]
    for decision in expected:
        one.learn(decision, 0.5)
    decisions = many.decide_many({"Age": ages})
    many.learn_many(decisions, [0.5] * len(ages))

    assert list(decisions) == expected
    assert many.state() == one.state()


def test_columns_need_names() -> None:
    with pytest.raises(BounditError, match="nobody told the order of its variables"):
        read_visitors(BanditSpec(), {"U": [0]}, sees_numbers=True)


def test_ids_are_texts_one_for_each() -> None:
    assert read_ids(np.array(["a", "b"]), 2) == ["a", "b"]
    with pytest.raises(BounditError, match=r"^row 1: ids must be texts, found 7"):
        read_ids(["a", 7], 2)
    with pytest.raises(
        BounditError, match=r"^ids must be one for each of 2, found '1 of them'"
    ):
        read_ids(["a"], 2)
    with pytest.raises(BounditError, match=r"^ids must be a list of texts, found 'ab'"):
        read_ids("ab", 2)
