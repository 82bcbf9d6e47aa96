"""Probability tables, and sums of their products against the whole product."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from boundit.core.errors import DataError, HasCycle, InvalidName
from boundit.counts.named_array import NamedArray
from boundit.simulation.errors import InvalidModel, ModelTooLarge
from boundit.simulation.tables import LARGEST, TableSpec, read_tables, sum_product

FULL = [[0.9, 0.1], [0.4, 0.6]]


@pytest.mark.parametrize(
    "entries",
    [
        [0.1, 0.6],
        (0.1, 0.6),
        np.array([0.1, 0.6]),
        FULL,
        np.array(FULL),
        lambda x: 0.1 + 0.5 * x,
        lambda x: FULL[x],
        lambda x: np.array(FULL[x]),
    ],
)
def test_every_way_of_writing_a_table_is_the_same_table(
    entries: list[float] | Callable[[int], float],
) -> None:
    table = read_tables({"X": ([], 0.5), "Y": (["X"], entries)})["Y"]

    assert table.axes == ("X", "Y")
    assert np.allclose(table.values, FULL)


def test_a_node_without_parents_takes_a_number_a_list_or_a_function() -> None:
    tables = read_tables({"A": ([], 0.3), "B": ([], [0.7, 0.3]), "C": ([], lambda: 0.3)})

    assert {tuple(t.values.round(12)) for t in tables.values()} == {(0.7, 0.3)}


@pytest.mark.parametrize(
    ("entries", "where"),
    [
        ([0.1, 1.2], r"at X=1 is \(-0.2, 1.2\)"),
        ([[0.5, 0.4], [0.5, 0.5]], r"at X=0 is \(0.5, 0.4\)"),
        ([[0.5, 0.5], [float("nan"), 0.5]], "at X=1"),
        ([0.1, float("nan")], r"at X=1 is \(nan, nan\)"),
        ([float("inf"), 0.1], r"at X=0 is \(-inf, inf\)"),
        ([[0.5, 0.5], [float("inf"), float("-inf")]], "at X=1"),
        ([[1e308, 1e308], [0.5, 0.5]], "at X=0"),
        ([[0.5, 0.5], [2.0, -1.0]], r"at X=1 is \(2, -1\)"),
    ],
)
def test_chances_are_probabilities_and_the_message_says_where(
    entries: list[float], where: str
) -> None:
    with pytest.raises(InvalidModel, match=where):
        read_tables({"X": ([], 0.5), "Y": (["X"], entries)})


@pytest.mark.parametrize(
    "entries",
    [
        0.5,
        [0.5, 0.5, 0.5],
        [[[0.5, 0.5]]],
        ["a", "b"],
        [10**400, 0.5],
        [[0.5], [0.5, 0.5]],
        lambda x: [0.5] * x,
    ],
)
def test_a_table_must_fit_its_parents(entries: list[float]) -> None:
    with pytest.raises(InvalidModel, match="'Y'"):
        read_tables({"X": ([], 0.5), "Y": (["X"], entries)})


@pytest.mark.parametrize(
    "spec", [0.5, [0.2, 0.8], ("X", [0.2, 0.8]), ([1], [0.2, 0.8]), None, ([],)]
)
def test_a_table_is_a_pair(spec: object) -> None:
    with pytest.raises(InvalidModel, match="is not \\(parents, probabilities"):
        read_tables({"X": ([], 0.5), "Y": cast("TableSpec", spec)})


def test_parents_are_known_and_named_once() -> None:
    with pytest.raises(InvalidModel, match="'Y' reads 'Z'"):
        read_tables({"X": ([], 0.5), "Y": (["Z"], [0.2, 0.8])})
    with pytest.raises(InvalidModel, match="twice"):
        read_tables({"X": ([], 0.5), "Y": (["X", "X"], FULL)})
    with pytest.raises(HasCycle):
        read_tables({"X": (["Y"], [0.2, 0.8]), "Y": (["X"], [0.2, 0.8])})
    with pytest.raises(InvalidName):
        read_tables({" X": ([], 0.5)})


def test_eliminating_one_by_one_is_summing_the_whole_product() -> None:
    rng = np.random.default_rng(0)
    levels = {"A": 2, "B": 3, "C": 2, "D": 4, "E": 3}
    scopes = [("A", "B"), ("C", "B"), ("D",), ("E", "A", "C"), ("B",)]
    tables = [NamedArray(s, rng.random([levels[name] for name in s])) for s in scopes]
    whole = np.ones([1] * 5)
    for table in tables:
        whole = whole * table.align(tuple(levels))

    answer = sum_product(tables, ["E", "B"])

    assert answer.axes == ("E", "B")
    assert np.allclose(answer.values, whole.sum(axis=(0, 2, 3)).T)


def test_long_chains_stay_small() -> None:
    """A hundred variables, never more than three at once."""
    step = np.array([[0.9, 0.1], [0.3, 0.7]])
    chain = [NamedArray((f"V{i}", f"V{i + 1}"), step) for i in range(100)]

    answer = sum_product(chain, ["V0", "V100"])

    assert np.allclose(answer.values, np.linalg.matrix_power(step, 100))


def test_a_product_that_is_too_large_is_refused_before_it_is_made() -> None:
    coins = [NamedArray((f"V{i}",), np.ones(2)) for i in range(23)]

    with pytest.raises(ModelTooLarge, match=f"{2 * LARGEST} numbers over V0, V1, V2") as caught:
        sum_product(coins, [f"V{i}" for i in range(23)])
    assert caught.value.cells == 2**23


def test_tables_agree_on_levels() -> None:
    with pytest.raises(DataError, match="'A' has 2 levels in one table and 3 in another"):
        sum_product([NamedArray(("A",), np.ones(2)), NamedArray(("A",), np.ones(3))], [])
