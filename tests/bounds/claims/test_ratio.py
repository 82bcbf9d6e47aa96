"""A ratio of sums, inverted: scan t upwards while ``T - t B`` is surely above 0.

The formula is the napkin's, ``sum_w P(w) P(x, y | w, r) / sum_w P(w) P(x | w, r)``.
"""

from math import log

import numpy as np
import pytest

from tests.bounds.claims.logs import Floats, Law, draw_hard_laws, list_logs
from tests.bounds.claims.penalties import lose_by_bet

GRID = np.linspace(0, 1, 21)


def find_truth(law: Law) -> float:
    """Find the ratio at the arm 1 and the instrument 1."""
    p_w, p_x, p_y = law.tables[0], law.tables[2][:, 1, 1], law.tables[3][:, 1, 1, 1]
    bottom = float(p_w @ p_x)
    return float(p_w @ (p_x * p_y)) / bottom if bottom > 0 else 0.0


def bound_difference(
    cells: Floats, weights: Floats, t: float, factor: float, *, bets: bool, hole: float
) -> Floats:
    """Find for every log the exponent of ``T - t B``, without the level of the weights.

    ``cells`` are counts by ``w, x, y`` at the instrument 1. A row counts ``1{x}(y - t)``;
    a stratum without rows counts ``hole``.
    """
    rows = cells.sum(axis=(2, 3))
    scale = np.divide(factor * weights, rows, out=np.zeros(rows.shape), where=rows > 0)
    value = np.where(rows == 0, factor * weights * hole, 0.0)
    for x, y, u in ((0, 0, 0.0), (0, 1, 0.0), (1, 0, -t), (1, 1, 1 - t)):
        count = cells[:, :, x, y]
        if bets:
            guess = np.minimum(0.5, 0.9 / np.maximum(scale, 1e-12)) - t
            cost = lose_by_bet(scale * (u - guess))
        else:
            cost = scale**2 / 8
        value = value + count * (scale * u - cost)
    found: Floats = value.sum(axis=1)
    return found


def scan(rejected: Floats, first: int = 0) -> Floats:
    """Report the last of the leading grid points that are all rejected, 0 if there is none."""
    leading = np.cumprod(rejected[:, first:], axis=1).sum(axis=1).astype(int)
    return np.where(leading > 0, GRID[np.maximum(first + leading - 1, 0)], 0.0)


def reject(
    law: Law, rows: int, factor: float, a: float, *, bets: bool
) -> tuple[Floats, Floats]:
    """Find for every log which grid points are rejected, and its probability."""
    logs = list_logs(law, rows)
    weights, cells = logs.count("w") / rows, logs.counts[:, :, 1]
    level = factor**2 / 8 / rows
    found = [
        bound_difference(cells, weights, t, factor, bets=bets, hole=-t) - level > log(1 / a)
        for t in GRID
    ]
    return np.stack(found, axis=1).astype(float), logs.probability


@pytest.mark.parametrize("bets", [False, True])
@pytest.mark.parametrize("first", [0, 8])
def test_scan_holds(bets: bool, first: int) -> None:
    """No union over grid points: one of them would have to be rejected, the first above."""
    informed = 0
    for law in draw_hard_laws("wrxy", (2, 2, 2, 2), draws=2):
        truth = find_truth(law)
        for factor in (1.0, 3.0, 6.0):
            for a in (0.3, 0.6, 0.9):
                rejected, chance = reject(law, 4, factor, a, bets=bets)
                low = scan(rejected, first)
                informed += int((low > 0).any())
                assert chance @ (low > truth + 1e-12) <= a
    assert informed


def test_holes_count_minus_t() -> None:
    """The least of ``1{x}(y - t)`` is ``-t``: 0 in a stratum without rows is no lower bound.

    Half of all have ``w = 0``, all of whom take the arm and earn 1; of the others nobody
    takes part in the log, and all would take the arm and earn 0. The ratio is 1/2.
    """
    cells = np.zeros((1, 2, 2, 2))
    cells[0, 0, 1, 1] = 12
    weights = np.array([[0.5, 0.5]])
    ends = []
    for low in (0.0, -1.0):
        rejected = np.stack(
            [
                bound_difference(cells, weights, t, 12.0, bets=False, hole=low * t)
                > log(1 / 0.2)
                for t in GRID
            ],
            axis=1,
        )
        ends.append(float(scan(rejected.astype(float))[0]))
    assert ends[0] > 0.5 >= ends[1]


def test_rejected_points_need_not_be_an_interval() -> None:
    """Bets cost less as t grows: 0 may stand while points above it are rejected."""
    law = draw_hard_laws("wrxy", (2, 2, 2, 2), draws=1)[-1]
    torn = 0
    for factor in (3.0, 6.0, 10.0, 16.0):
        rejected, _ = reject(law, 4, factor, 0.9, bets=True)
        torn += int((np.diff(rejected, axis=1) > 0).any(axis=1).sum())
        flat, _ = reject(law, 4, factor, 0.9, bets=False)
        assert not (np.diff(flat, axis=1) > 0).any()
    assert torn
