"""A sum with known weights: every penalty of the last level keeps the mean e-value below 1."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from tests.bounds.claims.e_values import FACTORS, SLACK, find_e_values
from tests.bounds.claims.forms import make_back_door
from tests.bounds.claims.levels import Estimate, LevelForm, estimate
from tests.bounds.claims.logs import Floats, Law, draw_hard_laws, list_logs
from tests.bounds.claims.penalties import (
    Payer,
    add_squares,
    bet,
    pay_range,
    pay_squares,
)

HALVES = (0.0, 0.5, 1.0)


def know_weights(form: LevelForm, law: Law, rows: int) -> tuple[Estimate, Floats]:
    """Estimate a back door whose weights are the true ones."""
    logs = list_logs(law, rows)
    found = estimate(form, law, [logs, logs])
    truth = np.broadcast_to(form.find_truths(law)[0], found.shares[0].shape)
    return replace(found, shares=(truth, found.shares[1])), logs.probability


def pay_nothing(found: Estimate, _place: int, _factor: float) -> Floats:
    """Pay nothing for weights that are known."""
    return np.zeros(len(found.rows[-1]))


@pytest.mark.parametrize(
    "payer",
    [
        bet(0.5),
        bet(0.0),
        bet(1.0),
        bet(0.9, renew=False),
        bet(0.2, worth=1e9),
        pay_range,
        pay_squares,
    ],
)
def test_known_weights(payer: Payer) -> None:
    form = make_back_door()
    for law in draw_hard_laws("zxy", (2, 2, 2)):
        found, chance = know_weights(form, law, 5)
        for factor in FACTORS:
            mean = chance @ find_e_values(found, factor, payer, pay_nothing)
            assert mean <= 1 + SLACK


@pytest.mark.parametrize("payer", [pay_squares, pay_range])
def test_numeric_rewards(payer: Payer) -> None:
    form = make_back_door(HALVES)
    for law in draw_hard_laws("zxy", (2, 2, 3), draws=2):
        found, chance = know_weights(form, law, 4)
        for factor in FACTORS:
            mean = chance @ find_e_values(found, factor, payer, pay_nothing)
            assert mean <= 1 + SLACK


def test_squares_are_means_over_orders() -> None:
    for rewards in ([0.5], [0, 1], [0.5, 0.5, 1], [0, 0.25, 1, 1], [1, 0, 0.5, 0.3, 1]):
        sums = []
        for order in permutations(rewards):
            before = [0.3, *order]
            sums.append(
                float(sum((y - np.mean(before[: t + 1])) ** 2 for t, y in enumerate(order)))
            )
        y = np.array(rewards)
        closed = add_squares(
            np.array([len(y)], dtype=float),
            np.array([y.sum()]),
            np.array([(y**2).sum()]),
            np.array([0.3]),
        )
        assert closed[0] == pytest.approx(np.mean(sums))


def test_choosing_a_penalty_by_rewards_breaks() -> None:
    """The larger of two e-values is none: the smaller of two penalties after the rewards."""
    form = make_back_door()
    law = Law(
        ("z", "x", "y"),
        (np.array([1.0, 0.0]), np.array([[0.0, 1.0]] * 2), np.full((2, 2, 2), 0.5)),
    )
    found, chance = know_weights(form, law, 5)
    both = [find_e_values(found, 4.0, payer, pay_nothing) for payer in (bet(0.3), pay_range)]
    assert all(chance @ each <= 1 for each in both)
    assert chance @ np.maximum(*both) > 1.01


@pytest.mark.parametrize("payer", [bet(0.5), pay_range, pay_squares])
def test_scale_may_hang_on_counts_of_given(payer: Payer) -> None:
    """With known weights the mean is at most 1 given the counts of strata and arms."""
    form = make_back_door()
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=2):
        found, chance = know_weights(form, law, 5)
        _, group = np.unique(
            found.rows[1].reshape(len(chance), -1), axis=0, return_inverse=True
        )
        for factor in FACTORS:
            e_values = find_e_values(found, factor, payer, pay_nothing)
            parts = np.bincount(group.ravel(), chance * e_values)
            assert (parts <= np.bincount(group.ravel(), chance) * (1 + SLACK)).all()
