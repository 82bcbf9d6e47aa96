"""Values outside [0, 1], and weights known up to an interval."""

from dataclasses import replace

import numpy as np
import pytest

from tests.bounds.claims.e_values import FACTORS, SLACK
from tests.bounds.claims.forms import make_back_door
from tests.bounds.claims.levels import estimate
from tests.bounds.claims.logs import Floats, draw_hard_laws, list_logs
from tests.bounds.claims.penalties import pay_range, weigh_squares
from tests.bounds.claims.test_minimum import (
    CellPayer,
    divide,
    pay_cell_bet,
    pay_cell_range,
)


def pay_mean(values: Floats, chance: Floats, scale: float, width: float) -> float:
    """Average the e-value of one row whose value has a range of some width."""
    gap = values - chance @ values
    cost = weigh_squares(np.array(scale * width)) * (gap / width) ** 2
    return float(chance @ np.exp(scale * gap - cost))


def test_squares_of_a_wide_value() -> None:
    """A contrast lies in [-1, 1]: squares cost ``psi(2 s) / 4``; with ``psi(s)`` they break.

    One row: the contrast of its stratum is 1, in one stratum of fifty -1.
    """
    values, chance = np.array([1.0, -1.0]), np.array([0.98, 0.02])
    assert pay_mean(values, chance, 0.9, 1.0) > 1.01
    for scale in (0.05, 0.2, 0.45):
        for p in np.linspace(0, 1, 41):
            assert pay_mean(values, np.array([1 - p, p]), scale, 2.0) <= 1 + SLACK


def test_range_of_a_wide_value() -> None:
    """One row whose contrast is 1 or -1 by a fair toss: the range 1 pays too little."""
    mean = np.cosh(1.0)
    assert mean * np.exp(-(1**2) / 8) > 1.3
    assert mean * np.exp(-(2**2) / 8) <= 1


def pay_least_weights(
    rows: Floats, ones: Floats, limits: Floats, factor: float, pay: CellPayer
) -> Floats:
    """Find the least sum over two strata whose weights lie within limits and add up to 1.

    A cell pays at the greatest weight it may have, in proportion to the weight it gets.
    """
    cost = pay(rows, ones, factor * divide(limits[1], rows))
    parts = divide(ones, rows) - cost / (factor * limits[1])
    first = np.array([max(limits[0, 0], 1 - limits[1, 1]), min(limits[1, 0], 1 - limits[0, 1])])
    ends = parts[:, :1] * first + parts[:, 1:] * (1 - first)
    found: Floats = ends.min(axis=1)
    return found


@pytest.mark.parametrize("pay", [pay_cell_range, pay_cell_bet])
def test_weights_within_limits(pay: CellPayer) -> None:
    """The full weight at which a cell pays need not be 1: the upper limit is enough."""
    rng = np.random.default_rng(8)
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=3):
        logs = list_logs(law, 5)
        cells = logs.counts[:, :, 1]
        for _ in range(3):
            weights = rng.dirichlet([1.0, 1.0])
            limits = np.stack([weights * rng.uniform(0.3, 1, 2), weights * [1.1, 1.4]])
            theta = float(weights @ law.tables[2][:, 1, 1])
            for factor in FACTORS:
                low = pay_least_weights(cells.sum(axis=2), cells[..., 1], limits, factor, pay)
                assert logs.mean(np.exp(factor * (low - theta))) <= 1 + SLACK


def test_contrast() -> None:
    """A contrast is one sum: its strata's value has range 2, the other arm's holes earn 1."""
    better, worse = make_back_door(), replace(make_back_door(), fixed={"x": 0})
    for law in draw_hard_laws("zxy", (2, 2, 2)):
        logs = list_logs(law, 5)
        first = estimate(better, law, [logs] * 2)
        second = estimate(worse, law, [logs] * 2, hole=1.0)
        truth = better.find_theta(law) - worse.find_theta(law)
        for factor in FACTORS:
            rewards = pay_range(first, factor) * pay_range(second, factor)
            gain = rewards * np.exp(factor * (first.theta - second.theta - truth))
            level = factor**2 / 8 / 5
            assert logs.mean(gain * np.exp(-4 * level)) <= 1 + SLACK
