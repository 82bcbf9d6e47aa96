"""A minimum inside a sum: penalised cells, where no cell is reached from two branches."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.bounds.claims.e_values import FACTORS, SLACK
from tests.bounds.claims.logs import Floats, Law, draw_hard_laws, list_logs
from tests.bounds.claims.penalties import lose_by_bet

CellPayer = Callable[[Floats, Floats, Floats], Floats]
"""The penalty of cells by their rows, those that earned 1, and their scale."""


def pay_cell_range(rows: Floats, _ones: Floats, scale: Floats) -> Floats:
    """Pay by the range alone."""
    return rows * scale**2 / 8


def pay_cell_bet(rows: Floats, ones: Floats, scale: Floats) -> Floats:
    """Pay for bets around the guess .4, capped."""
    guess = np.minimum(0.4, 0.9 / np.maximum(scale, 1e-12))
    return ones * lose_by_bet(scale * (1 - guess)) + (rows - ones) * lose_by_bet(-scale * guess)


def divide(top: Floats, bottom: Floats) -> Floats:
    """Divide where there are rows; 0 elsewhere."""
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0)


@pytest.mark.parametrize("pay", [pay_cell_range, pay_cell_bet])
def test_least_of_penalised_cells(pay: CellPayer) -> None:
    """``sum_a P(a) min_b sum_c P(c | a, b) m(a, b, c)``: every level knows its branch."""
    for law in draw_hard_laws("abcy", (2, 2, 2, 2), draws=3):
        logs = list_logs(law, 4)
        p_a, _, p_c, p_y = law.tables
        truth = float(p_a @ (p_c * p_y[..., 1]).sum(axis=2).min(axis=1))
        n_a, n_ab = logs.count("a"), logs.count("ab")
        n_abc, k = logs.count("abc"), logs.counts[..., 1]
        w_a = n_a / 4
        w_abc = w_a[:, :, None, None] * divide(n_abc, n_ab[..., None])
        for factor in FACTORS:
            s_ab = factor * divide(w_a[:, :, None], n_ab)
            cost = pay(n_abc, k, factor * divide(w_abc, n_abc)).sum(axis=3)
            cost = cost + n_ab * s_ab**2 / 8
            values = (w_abc * divide(k, n_abc)).sum(axis=3) - cost / factor
            low = values.min(axis=2).sum(axis=1)
            e_values = np.exp(factor * (low - truth) - factor**2 / 8 / 4)
            assert logs.mean(e_values) <= 1 + SLACK


def bound_branches(
    counts: Floats, weights: Floats, shares: Floats, factor: float, pay: CellPayer
) -> Floats:
    """Add up over branches the least penalised value of cells that branches share.

    ``weights`` are known, by branch and ``c``; cells are ``b, c``. A branch pays ``q`` times
    the penalty at its scale over ``q``; with all ``q`` 1 it pays as if alone.
    """
    rows, ones = counts.sum(axis=-1), counts[..., 1]
    low = np.zeros(len(counts))
    for weight, q in zip(weights, shares, strict=True):
        s = factor * divide(weight, rows)
        cost = q * pay(rows, ones, s / q)
        low += (weight * divide(ones, rows) - cost / factor).sum(axis=2).min(axis=1)
    return low


@pytest.mark.parametrize("pay", [pay_cell_range, pay_cell_bet])
def test_shared_cells(pay: CellPayer) -> None:
    """Branches that meet in a cell must share its penalty, by any shares that add up to 1."""
    rng = np.random.default_rng(3)
    for law in draw_hard_laws("bcy", (2, 2, 2), draws=3):
        logs = list_logs(law, 5)
        for _ in range(3):
            weights = rng.dirichlet([0.7] * 6).reshape(3, 2)
            truth = sum(
                float((weight * law.tables[-1][..., 1]).sum(axis=1).min()) for weight in weights
            )
            right = weights / weights.sum(axis=0)
            for shares in (right, rng.dirichlet([1.0] * 3, size=2).T):
                for factor in FACTORS:
                    low = bound_branches(logs.counts, weights, shares, factor, pay)
                    assert logs.mean(np.exp(factor * (low - truth))) <= 1 + SLACK


def test_branches_that_pay_alone_break() -> None:
    """Two branches, one cell each of two that both read: paying alone pays half."""
    rewards = np.array([[[0.5, 0.5]], [[0.0, 1.0]]])
    law = Law(("b", "c", "y"), (np.array([0.5, 0.5]), np.ones((2, 1)), rewards))
    logs = list_logs(law, 6)
    means = {
        branches: [
            logs.mean(
                np.exp(
                    4
                    * (
                        bound_branches(
                            logs.counts,
                            np.full((branches, 1), 1 / branches),
                            np.full((branches, 1), q),
                            4.0,
                            pay_cell_range,
                        )
                        - 0.5
                    )
                )
            )
            for q in (1.0, 1 / branches)
        ]
        for branches in (2, 20)
    }
    assert means[2][0] > 1.05
    assert means[20][0] > 1.5
    assert means[2][1] <= 1
    assert means[20][1] <= 1


def test_smallest_shared_cell() -> None:
    """One row, one cell, two branches: half the penalty is not enough."""
    law = Law(("b", "c", "y"), (np.ones(1), np.ones((1, 1)), np.full((1, 1, 2), 0.5)))
    logs = list_logs(law, 1)
    weights = np.full((2, 1), 0.5)
    means = [
        logs.mean(np.exp(2 * (low - 0.5)))
        for q in (1.0, 0.5)
        for low in [
            bound_branches(logs.counts, weights, np.full((2, 1), q), 2.0, pay_cell_range)
        ]
    ]
    assert means[0] > 1.2
    assert means[1] <= 1


def test_hole_that_meets_a_seen_branch() -> None:
    """The least value of a hole, cell by cell, needs cells of its own as a minimum does.

    ``sum_z P(z) sum_w P(w | z) m(w)`` at known ``P(z)``: given one ``z`` always ``w = 0``, of
    the other nothing is known. Whole ends, least over ``w``, hold; parts that pay alone do not.
    """
    rewards = np.array([[0.5, 0.5], [0.0, 1.0]])
    law = Law(("w", "y"), (np.array([0.5, 0.5]), rewards))
    logs = list_logs(law, 6)
    rows, ones = logs.counts.sum(axis=2), logs.counts[..., 1]
    mean, factor = divide(ones, rows), 4.0

    def pay(weight: float) -> Floats:
        return pay_cell_range(rows, ones, divide(np.array(factor * weight), rows)) / factor

    half = mean / 2 - pay(0.5)
    alone = half[:, 0] + half.min(axis=1)
    whole = np.minimum(mean[:, 0] - pay(1.0)[:, 0], half.sum(axis=1))
    assert logs.mean(np.exp(factor * (alone - 0.5))) > 1.05
    assert logs.mean(np.exp(factor * (whole - 0.5))) <= 1
