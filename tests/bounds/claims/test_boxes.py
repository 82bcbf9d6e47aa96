"""A level of the front door paid by its variance, bounded by boxes of what follows.

``V(x') = sum_m P(m | x) m(x', m)``: means lie in boxes, and the shares of ``M`` given the row's
``x`` are near the true ones in total variation.
"""

from math import log

import numpy as np
from scipy.special import betaincinv

from tests.bounds.claims.forms import make_front_door
from tests.bounds.claims.levels import estimate
from tests.bounds.claims.logs import Floats, draw_hard_laws, list_logs


def find_boxes(ones: Floats, rows: Floats, error: float) -> tuple[Floats, Floats]:
    """Find Clopper-Pearson ends, each wrong with probability ``error``; [0, 1] in holes."""
    low = np.where(ones > 0, betaincinv(np.maximum(ones, 0.5), rows - ones + 1, error), 0.0)
    miss = np.maximum(rows - ones, 0.5)
    high = np.where(ones < rows, betaincinv(ones + 1, miss, 1 - error), 1.0)
    return low, high


def find_radius(rows: Floats, error: float) -> Floats:
    """Find how far two shares may be from the true ones in total variation."""
    return np.minimum(
        np.sqrt((2 * log(2) + log(1 / error)) / (2 * np.maximum(rows, 1))),
        1.0,
    )


def bound_spread(shares: Floats, low: Floats, high: Floats, drift: Floats) -> Floats:
    """Bound the mean square of a value whose ends are known around its true mean."""
    middle, half = (low + high) / 2, (high - low) / 2
    mean = (shares * middle).sum(axis=1, keepdims=True)
    around = np.sqrt((shares * (middle - mean) ** 2).sum(axis=1))
    found: Floats = (around + np.sqrt((shares * half**2).sum(axis=1))) ** 2 + drift
    return found


def test_both_levels() -> None:
    """Boxes, shares of ``M`` given the arm, and a mean of each level: a share of error each."""
    form = make_front_door()
    for law in draw_hard_laws("xmy", (2, 2, 2), draws=3):
        logs = list_logs(law, 6)
        found = estimate(form, law, [logs] * 3, other="least")
        for error in (0.02, 0.1, 0.19):
            ends = find_boxes(found.hits[2][:, 1], found.rows[2], error / 8)
            arm = found.rows[1][:, 1]
            radius = np.where(arm > 0, find_radius(arm, error), 1.0)[:, None, None]
            moved = np.clip(ends[0] - radius, 0, 1), np.clip(ends[1] + radius, 0, 1)
            p_x, p_m = found.shares[0], found.shares[1][:, :, 1]
            first = [np.einsum("lm,lxm->lx", p_m, end) for end in moved]
            second = [np.einsum("lx,lxm->lm", p_x, end) for end in ends]
            drifts = [log(2 / error) / 2 / np.maximum(n, 1) for n in (found.rows[0], arm)]
            wrong = bound_spread(p_x, first[0], first[1], drifts[0]) < found.spread(0) - 1e-12
            assert logs.mean(wrong.astype(float)) <= 3 * error
            late = bound_spread(p_m, second[0], second[1], drifts[1])
            wrong = (late < found.spread(1)[:, 1] - 1e-12) & (arm > 0)
            assert logs.mean(wrong.astype(float)) <= 2 * error


def test_radius_of_the_wrong_cell_breaks() -> None:
    """The radius is that of the arm asked about, not of the arm that is summed over.

    Arms 0 and 1 have 100 rows each, the arm asked about 2. ``Y`` is ``M`` given arm 0 and
    ``1 - M`` given arm 1. All counts of ``M`` are enumerated.
    """
    n, few, q, error = 100, 2, 0.85, 0.05
    k0, k1, k = (a.ravel() for a in np.indices((n + 1, n + 1, few + 1)).astype(float))
    chance = spell_binomial(n, 0.5)[k0.astype(int)] * spell_binomial(n, 0.5)[k1.astype(int)]
    chance = chance * spell_binomial(few, q)[k.astype(int)]
    rows = np.stack([np.stack([n - k0, k0], axis=1), np.stack([n - k1, k1], axis=1)], axis=1)
    ones = rows * np.array([[0.0, 1.0], [1.0, 0.0]])
    ends = find_boxes(ones, rows, error / 12)
    shares, p_m = np.full((len(k), 2), 0.5), np.stack([few - k, k], axis=1) / few
    drift = np.full(len(k), log(2 / error) / (2 * (2 * n + few)))
    failures = []
    for size in (n, few):
        radius = find_radius(np.array(float(size)), error)
        moved = np.clip(ends[0] - radius, 0, 1), np.clip(ends[1] + radius, 0, 1)
        low, high = (np.einsum("lm,lxm->lx", p_m, end) for end in moved)
        bound = bound_spread(shares, low, high, drift)
        failures.append(float(chance @ (bound < (q - 0.5) ** 2)))
    assert failures[0] > 0.25
    assert failures[1] <= error


def spell_binomial(rows: int, p: float) -> Floats:
    """Spell out a binomial law."""
    chance = np.ones(1)
    for _ in range(rows):
        chance = np.convolve(chance, [1 - p, p])
    return chance
