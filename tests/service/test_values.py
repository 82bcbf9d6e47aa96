from datetime import date

import pytest

from boundit.bandit.ucb import UCB
from boundit.results.bound_table import BoundTable
from boundit.service.errors import Unprocessable
from boundit.service.values import (
    VariableNames,
    decode_level_list,
    encode_level_list,
    write_named,
    write_value,
)
from tests.service.kit import make_table

DAYS = (date(2024, 2, 29), date(2024, 3, 1))


def _make_dated() -> VariableNames:
    rows = [{"Ad": ad, "Day": day, "lower": 0.1, "upper": 0.8} for ad in "AB" for day in DAYS]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["Ad"], context=["Day"], outcome_range=(0, 1)
    )
    return VariableNames(UCB(prior=table))


def test_a_context_is_read_by_name_in_order_or_alone() -> None:
    names = VariableNames(UCB(prior=make_table()))

    assert names.read_context({"Age": 1}) == (1,)
    assert names.read_context([1]) == (1,)
    assert names.read_context(1) == (1,)
    assert write_named(names.context, (1,)) == {"Age": 1}
    assert names.write_arm(("A",)) == {"Ad": "A"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no value for 'Age'"),
        ({"Age": 1, "Sex": "f"}, "no variable 'Sex'"),
        ([1, 2], "context"),
        ("1", "Age"),
        (None, "context"),
        (9, "9"),
    ],
)
def test_a_context_that_cannot_be_is_refused(given: object, said: str) -> None:
    names = VariableNames(UCB(prior=make_table()))

    with pytest.raises(Unprocessable, match=said) as caught:
        names.read_context(given)  # type: ignore[arg-type]
    assert caught.value.field == "$.context"


def test_a_date_is_matched_and_written_by_its_text() -> None:
    names = _make_dated()

    assert names.read_context({"Day": "2024-02-29"}) == DAYS[:1]
    assert write_named(names.context, DAYS[:1]) == {"Day": "2024-02-29"}
    assert write_value(DAYS[0]) == "2024-02-29"
    assert decode_level_list(encode_level_list(DAYS)) == DAYS


def test_arms_without_names_are_lists() -> None:
    names = VariableNames(UCB(arms=[("A", 1), ("B", 2)]))

    assert names.write_arm(("A", 1)) == ["A", 1]
    assert names.read_arm(["B", 2]) == ("B", 2)
    with pytest.raises(Unprocessable, match="give a list"):
        names.read_arm({"x": 1})


def test_true_and_one_are_written_as_they_are() -> None:
    names = VariableNames(UCB(arms=[0, 1]))

    assert [names.write_arm((1,)), names.write_arm((True,)), names.write_arm((1,))] == [
        [1],
        [True],
        [1],
    ]


@pytest.mark.parametrize("given", [1.0, [1.0], {"Age": 1.0}])
def test_a_number_is_its_level_however_it_is_spelled(given: object) -> None:
    names = VariableNames(UCB(prior=make_table()))
    (found,) = names.read_context(given)  # type: ignore[arg-type]

    assert type(found) is int


@pytest.mark.parametrize("given", [True, [False], {"Age": True}])
def test_a_truth_value_is_no_number(given: object) -> None:
    names = VariableNames(UCB(prior=make_table()))

    with pytest.raises(Unprocessable, match=r"is not a level here; send [01]"):
        names.read_context(given)  # type: ignore[arg-type]


def test_levels_of_arms_are_as_strict() -> None:
    numbers = VariableNames(UCB(arms=[1, 2]))
    truths = VariableNames(UCB(arms=[True, False]))

    assert type(numbers.read_arm(2.0)[0]) is int
    assert truths.read_arm(True) == (True,)
    for names, given in ((numbers, True), (truths, 1), (truths, 0.0)):
        with pytest.raises(Unprocessable, match="is not a level here; send") as caught:
            names.read_arm(given)
        assert caught.value.field == "$.played"


def test_a_new_level_is_taken_as_it_comes() -> None:
    names = VariableNames(UCB(prior=make_table(), unknown_levels="range"))

    assert names.read_context(7.5) == (7.5,)
