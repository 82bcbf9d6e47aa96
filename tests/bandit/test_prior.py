from math import inf

import pytest

from boundit.bandit.prior import Entrant, Prior
from boundit.terms.bound_table import BoundTable

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
    reward_range=(0, 1),
)


@pytest.mark.parametrize("held", [True, False])
def test_arms_come_by_decreasing_cap_and_else_in_order(held: bool) -> None:
    found = Prior(TABLE).entrants(TABLE.arms, (0,), held=held)

    assert found == (
        Entrant(("B",), 0.2, 0.6, 1),
        Entrant(("C",), 0.0, 0.6, 2),
        Entrant(("A",), 0.1, 0.3, 0),
    )


def test_without_a_row_the_range_is_the_bound() -> None:
    found = Prior(TABLE).entrants([("B",), ("Z",)], (1,), held=False)

    assert [(e.lower, e.upper) for e in found] == [(0, 1), (0, 1)]


@pytest.mark.parametrize("prior", [Prior(), Prior(TABLE, dropped=True)])
def test_without_a_table_nothing_binds(prior: Prior) -> None:
    """3.7: dropped bounds leave +inf, not the reward's maximum."""
    assert prior.entrants([("A",)], (0,), held=True) == (Entrant(("A",), -inf, inf, 0),)
    assert prior.binding is None


def test_only_bounds_that_say_something_count() -> None:
    prior = Prior(TABLE)

    assert prior.n_bounded == 3
    assert prior.bounds_more(("A",), (0,))
    assert not prior.bounds_more(("A",), (1,))
    assert not Prior(TABLE, dropped=True).bounds_more(("A",), (0,))
    assert Prior().n_bounded == 0


def test_the_order_of_a_context_is_worked_out_once() -> None:
    prior = Prior(TABLE)

    first = prior.entrants(TABLE.arms, (0,), held=True)

    assert prior.entrants(TABLE.arms, (0,), held=True) is first
