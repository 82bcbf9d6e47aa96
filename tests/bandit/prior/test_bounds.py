from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boundit.bandit.prior.bounds import PriorBounds, RankedArm
from boundit.terms.bound_table import BoundTable

if TYPE_CHECKING:
    from boundit.terms.contrast import Pair

TABLE = BoundTable.from_rows(
    [
        {"Ad": "A", "Age": 0, "lower": 0.1, "upper": 0.3},
        {"Ad": "B", "Age": 0, "lower": 0.2, "upper": 0.6},
        {"Ad": "C", "Age": 0, "lower": 0.0, "upper": 0.6},
        {"Ad": "A", "Age": 1, "lower": 0.0, "upper": 1.0},
    ],
    outcome="Y",
    treatments=["Ad"],
    context=["Age"],
    outcome_range=(0, 1),
)


@pytest.mark.parametrize("held", [True, False])
def test_arms_come_by_decreasing_cap_and_else_in_order(held: bool) -> None:
    found = PriorBounds(TABLE).rank(TABLE.arms, (0,), held=held)

    assert found == (
        RankedArm(("B",), 0.2, 0.6, 1),
        RankedArm(("C",), 0.0, 0.6, 2),
        RankedArm(("A",), 0.1, 0.3, 0),
    )


def test_without_a_row_the_range_is_the_bound() -> None:
    found = PriorBounds(TABLE).rank([("B",), ("Z",)], (1,), held=False)

    assert [(e.lower, e.upper) for e in found] == [(0, 1), (0, 1)]


@pytest.mark.parametrize("prior", [PriorBounds(), PriorBounds(TABLE, dropped=True)])
def test_without_a_table_nothing_binds(prior: PriorBounds) -> None:
    """3.7: dropped bounds leave +inf, not the reward's maximum."""
    assert prior.rank([("A",)], (0,), held=True) == (RankedArm(("A",), -inf, inf, 0),)
    assert prior.binding is None


def test_only_bounds_that_say_something_count() -> None:
    prior = PriorBounds(TABLE)

    assert len(prior.informative) == 3
    assert (("A",), (0,)) in prior.informative
    assert (("A",), (1,)) not in prior.informative
    assert not PriorBounds(TABLE, dropped=True).informative
    assert not PriorBounds().informative


def test_the_order_of_a_context_is_worked_out_once() -> None:
    prior = PriorBounds(TABLE)

    first = prior.rank(TABLE.arms, (0,), held=True)

    assert prior.rank(TABLE.arms, (0,), held=True) is first


def test_contexts_the_table_does_not_know_share_one_order() -> None:
    prior = PriorBounds(TABLE)

    one, two = (prior.rank(TABLE.arms, (age,), held=True) for age in (7, 8))

    assert one is two
    assert {(e.lower, e.upper) for e in one} == {(0, 1)}
    assert prior.rank(TABLE.arms, (0,), held=True) is not one


def beating(**most: float) -> PriorBounds:
    """Contrasts in context (0,) by the two letters of their arms."""
    pairs: dict[Pair, float] = {
        ((0,), (both[0],), (both[1],)): lead for both, lead in most.items()
    }
    return PriorBounds(replace(TABLE, contrasts=pairs))


@pytest.mark.parametrize("held", [True, False])
def test_an_arm_that_another_surely_beats_does_not_enter(held: bool) -> None:
    """3.8: whatever its interval says."""
    found = beating(CB=-0.01).rank(TABLE.arms, (0,), held=held)

    assert [ranked.arm for ranked in found] == [("B",), ("A",)]
    assert [ranked.arm for ranked in found.beaten] == [("C",)]
    assert [ranked.place for ranked in found] == [1, 0]


def test_an_arm_is_beaten_by_arms_of_the_call_alone() -> None:
    prior = beating(CB=-0.01)

    assert not prior.rank([("A",), ("C",)], (0,), held=False).beaten
    assert not prior.rank(TABLE.arms, (1,), held=True).beaten


def test_to_be_as_good_is_not_to_be_beaten() -> None:
    assert not beating(CB=0.0, AB=0.2).rank(TABLE.arms, (0,), held=True).beaten


def test_where_there_are_contrasts_intervals_apart_are_contrasts_too() -> None:
    """As the table itself has it; a table without contrasts leaves that to the algorithm."""
    rows = [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.4, "upper": 0.6}]
    plain = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1))
    table = replace(plain, contrasts={((), ("B",), ("A",)): 0.2})

    assert table.ruled_out(()) == {("A",): ("B",)}
    assert [e.arm for e in PriorBounds(table).rank(table.arms, (), held=True)] == [("B",)]
    assert len(PriorBounds(plain).rank(table.arms, (), held=True)) == 2


def test_arms_that_all_beat_each_other_all_enter() -> None:
    """No truth is like that: the contrasts are wrong, and one arm must be played."""
    found = beating(AB=-0.1, BC=-0.1, CA=-0.1).rank(TABLE.arms, (0,), held=True)

    assert len(found) == 3


def test_dropped_bounds_drop_contrasts_too() -> None:
    dropped = replace(beating(CB=-0.01), dropped=True)

    assert len(dropped.rank(TABLE.arms, (0,), held=True)) == 3


def test_observed_numbers_find_the_bins_of_the_table() -> None:
    prior = PriorBounds(replace(TABLE, bins={"Income": (10.0, 20.0)}))

    shown = {"Income": 12.5, "Age": 3}
    assert prior.find_bins(shown) == {"Income": "[10, 20)", "Age": 3}
    assert prior.find_bins({"Income": np.float32(20)}) == {"Income": ">= 20"}
    assert prior.find_bins({"Income": "< 10"}) == {"Income": "< 10"}
    assert prior.find_bins({}) == {}
    assert PriorBounds().find_bins(shown) is PriorBounds(TABLE).find_bins(shown) is shown
