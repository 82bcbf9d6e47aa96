"""Tables as people write them."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from boundit.simulation.errors import MalformedTable, NotADistribution, UnknownParent
from boundit.simulation.tables import TableSpec, read_tables
from boundit.terms.errors import HasCycle, InvalidName

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


def test_parents_stay_in_the_order_they_are_written() -> None:
    tables = read_tables(
        {
            "A": ([], 0.5),
            "B": ([], [0.2, 0.3, 0.5]),
            "Y": (["B", "A"], lambda b, a: (b + a) / 4),
        }
    )

    assert tables["Y"].axes == ("B", "A", "Y")
    assert tables["Y"].at({"B": 2, "A": 1, "Y": 1}).values == 0.75


def test_a_node_without_parents_takes_a_number_a_list_or_a_function() -> None:
    tables = read_tables({"A": ([], 0.3), "B": ([], [0.7, 0.3]), "C": ([], lambda: 0.3)})

    assert {tuple(t.values.round(12)) for t in tables.values()} == {(0.7, 0.3)}


def test_causes_come_first() -> None:
    tables = read_tables({"A": (["B"], [0.1, 0.2]), "B": (["C"], [0.1, 0.2]), "C": ([], 0.5)})

    assert list(tables) == ["C", "B", "A"]


@pytest.mark.parametrize(
    ("entries", "where"),
    [
        ([0.1, 1.2], r"at X = 1 is \(-0.2, 1.2\)"),
        ([[0.5, 0.4], [0.5, 0.5]], r"at X = 0 is \(0.5, 0.4\)"),
        ([[0.5, 0.5], [float("nan"), 0.5]], "at X = 1"),
        ([0.1, float("nan")], r"at X = 1 is \(nan, nan\)"),
        ([float("inf"), 0.1], r"at X = 0 is \(-inf, inf\)"),
        ([[0.5, 0.5], [float("inf"), float("-inf")]], "at X = 1"),
        ([[1e308, 1e308], [0.5, 0.5]], "at X = 0"),
        ([[0.5, 0.5], [2.0, -1.0]], r"at X = 1 is \(2, -1\)"),
    ],
)
def test_chances_are_probabilities_and_the_message_says_where(
    entries: list[float], where: str
) -> None:
    with pytest.raises(NotADistribution, match=where):
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
    with pytest.raises(MalformedTable, match="'Y'"):
        read_tables({"X": ([], 0.5), "Y": (["X"], entries)})


@pytest.mark.parametrize(
    "spec", [0.5, [0.2, 0.8], ("X", [0.2, 0.8]), ([1], [0.2, 0.8]), None, ([],)]
)
def test_a_table_is_a_pair(spec: object) -> None:
    with pytest.raises(MalformedTable, match="not written"):
        read_tables({"X": ([], 0.5), "Y": cast("TableSpec", spec)})


def test_parents_are_known_and_named_once() -> None:
    with pytest.raises(UnknownParent, match="'Y' reads 'Z'"):
        read_tables({"X": ([], 0.5), "Y": (["Z"], [0.2, 0.8])})
    with pytest.raises(MalformedTable, match="twice"):
        read_tables({"X": ([], 0.5), "Y": (["X", "X"], FULL)})
    with pytest.raises(HasCycle):
        read_tables({"X": (["Y"], [0.2, 0.8]), "Y": (["X"], [0.2, 0.8])})
    with pytest.raises(InvalidName):
        read_tables({" X": ([], 0.5)})
