"""Who chooses does not speak: a pilot drawn blindly may choose the scale and the guesses."""

from collections.abc import Callable
from math import comb

import numpy as np
import pytest

from tests.bounds.claims.e_values import FACTORS, SLACK, find_e_values
from tests.bounds.claims.forms import make_back_door
from tests.bounds.claims.levels import Estimate, estimate
from tests.bounds.claims.logs import Floats, Law, Logs, draw_hard_laws, list_counts, list_logs
from tests.bounds.claims.penalties import Payer, bet, pay_hoeffding, pay_range, pay_squares

FORM = make_back_door()
Chooser = Callable[[Floats], tuple[float, float]]
"""Chooses the scale and the first guess from a pilot's counts."""


def choose_least_radius(pilot: Floats) -> tuple[float, float]:
    """Choose the scale by the variance that smoothed pilot counts predict, and the mean."""
    smooth = pilot + 0.25
    arm = smooth[:, 1]
    mean = arm[:, 1] / arm.sum(axis=1)
    weight = smooth.sum(axis=(1, 2)) / smooth.sum()
    spread = float((weight**2 * mean * (1 - mean) / (2 * arm.sum(axis=1))).sum())
    return float(np.sqrt(2 / (spread + 1 / 16))), float(weight @ mean)


def choose_anyhow(pilot: Floats) -> tuple[float, float]:
    """Choose by a number that the pilot seeds."""
    rng = np.random.default_rng(pilot.astype(int).ravel())
    return float(rng.choice(FACTORS)), float(rng.uniform())


def average_over_pilots(
    law: Law, rows: int, size: int, choose: Chooser, *, rest: bool
) -> float:
    """Average e-values over logs and pilots drawn from them without replacement.

    With ``rest`` the other rows speak, otherwise all.
    """
    logs = list_logs(law, rows)
    total = 0.0
    for flat in list_counts(8, size):
        pilot = flat.reshape(2, 2, 2).astype(float)
        holds = (logs.counts >= pilot).all(axis=(1, 2, 3))
        if not holds.any():
            continue
        counts = logs.counts[holds]
        ways = np.vectorize(comb)(counts.astype(int), pilot.astype(int)).prod(axis=(1, 2, 3))
        chance = logs.probability[holds] * ways / comb(rows, size)
        speaking = Logs(logs.names, counts - pilot if rest else counts, chance)
        factor, guess = choose(pilot)
        found = estimate(FORM, law, [speaking] * 2)
        total += speaking.mean(find_e_values(found, factor, bet(guess)))
    return total


@pytest.mark.parametrize("choose", [choose_least_radius, choose_anyhow])
def test_pilot_leaves_e_values(choose: Chooser) -> None:
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=1):
        assert average_over_pilots(law, 5, 2, choose, rest=True) <= 1 + SLACK


def make_one_cell_law(mean: float) -> Law:
    """Make a law with one stratum and one arm."""
    rewards = np.broadcast_to([1 - mean, mean], (2, 2, 2)).copy()
    return Law(("z", "x", "y"), (np.array([1.0, 0.0]), np.array([[0.0, 1.0]] * 2), rewards))


def test_pilot_that_speaks_again_breaks() -> None:
    def choose_by_reward(pilot: Floats) -> tuple[float, float]:
        return (3.0 if pilot[..., 1].sum() == 2 else 0.1), 0.5

    law = make_one_cell_law(0.5)
    assert average_over_pilots(law, 5, 2, choose_by_reward, rest=True) <= 1 + SLACK
    assert average_over_pilots(law, 5, 2, choose_by_reward, rest=False) > 1.08


def pay_nothing(found: Estimate, _place: int, _factor: float) -> Floats:
    """Pay nothing where there is one stratum."""
    return np.zeros(len(found.rows[-1]))


@pytest.mark.parametrize("payer", [bet(0.5), pay_range, pay_squares])
def test_scale_by_rewards_breaks(payer: Payer) -> None:
    """The scale that fits the variance of the very rewards it weighs, ``sqrt(2 L / V)``."""
    law = make_one_cell_law(0.35)
    logs = list_logs(law, 6)
    found = estimate(FORM, law, [logs] * 2)
    ones = found.hits[1][:, 1, 0, 1]
    mean = (ones + 0.25) / 6.5
    scales = np.sqrt(2 * 0.7 * 6 / (mean * (1 - mean)))
    every = np.stack([find_e_values(found, float(s), payer, pay_nothing) for s in scales])
    assert (every @ logs.probability <= 1 + SLACK).all()
    assert logs.mean(np.diagonal(every)) > 1.1


def test_scale_by_counts_of_first_levels_breaks() -> None:
    """With two levels the counts of ``given`` are random too: they may not choose the scale."""
    reward = np.zeros((2, 2, 2))
    reward[0, :, 0] = reward[1, :, 1] = 1
    law = Law(("z", "x", "y"), (np.full(2, 0.5), np.array([[0.0, 1.0]] * 2), reward))
    logs = list_logs(law, 4)
    found = estimate(FORM, law, [logs] * 2)
    by_factor = [
        find_e_values(found, f, bet(1.0, worth=1e9), pay_hoeffding) for f in (0.1, 1.0)
    ]
    many = found.shares[0][:, 1] > 0.5
    assert logs.mean(np.where(many, by_factor[1], by_factor[0])) > 1.02
