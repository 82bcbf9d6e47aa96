"""The barrier method behind the allocation program, in machine code.

The program comes scaled, as ``allocation`` says: vectors ``y``, what is known beforehand, the
costs, and the places of the tested pairs.
"""

import math
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import (
    Numbers,
    add_scaled,
    dot,
    factor,
    orthonormalize,
    solve_cholesky,
    solve_lower,
)

NO_LENGTH = 1e-9
_TOLERANCE = 1e-6
_NEGLIGIBLE = 1e-9  # a cost far below f / smallest gap needs no digits
_ROUNDING = 1e-14
_MOST_STEPS = 100


class _PullsPoint(NamedTuple):
    """Pulls ``u``, the products ``M`` they give, what is known of the tested pairs."""

    u: Numbers
    M: Numbers
    known: Numbers


class _Multipliers(NamedTuple):
    """Multipliers: of the constraints, and of ``u >= 0``."""

    tests: Numbers
    rents: Numbers


@compile_kernel
def _evaluate_point(y: Numbers, base: Numbers, rows: Places, u: Numbers) -> _PullsPoint:
    """Look at one choice of pulls."""
    (n, size), metric = y.shape, base.copy()
    for i in range(n):
        for j in range(size):
            share = u[i] * y[i, j]
            for k in range(j + 1):
                metric[j, k] += share * y[i, k]
    z = solve_lower(factor(metric), y)
    products = np.zeros((n, n))
    for j in range(size):
        for i in range(n):
            for k in range(n):
                products[i, k] += z[j, i] * z[j, k]
    known = np.empty(rows.size)
    for r in range(rows.size):
        known[r] = 1.0 / products[rows[r], rows[r]]
    return _PullsPoint(u, products, known)


@compile_kernel
def _is_met_without_pulls(y: Numbers, base: Numbers, rows: Places) -> bool:
    """Tell whether the constraints hold before anything is pulled."""
    if rows.size == 0:
        return True
    largest = 0.0
    for k in range(base.shape[0]):
        largest = max(largest, base[k, k])
    if orthonormalize(base, NO_LENGTH * largest).shape[0] < base.shape[0]:
        return False
    return _find_worst_ratio(_evaluate_point(y, base, rows, np.zeros(y.shape[0]))) <= 1.0


@compile_kernel
def _find_worst_ratio(here: _PullsPoint) -> float:
    """The largest ratio of a constraint's left side to its right side."""
    least = math.inf
    for known in here.known:
        least = min(least, known)
    return 1.0 / least


@compile_kernel
def solve_barrier(
    y: Numbers, base: Numbers, costs: Numbers, rows: Places
) -> tuple[Numbers, float, float]:
    """Follow the log barrier's central path by primal-dual Newton steps.

    Two pulls of everything, in the program's units, meet every constraint: a vector that was
    pulled twice has at most half of its square left. All later points stay strictly inside.
    The lower bound on the cost is the best that any of the multipliers proves.
    """
    n = y.shape[0]
    if _is_met_without_pulls(y, base, rows):
        return (
            np.zeros(n),
            0.0,
            _find_worst_ratio(_evaluate_point(y, base, rows, np.zeros(n)))
            if rows.size
            else 0.0,
        )
    here = _evaluate_point(y, base, rows, np.full(n, 2.0))
    prices = _start_multipliers(here, 2.0 * dot(costs, np.ones(n)) / (n + rows.size))
    proven, reached = 0.0, 1.0
    for _ in range(_MOST_STEPS):
        cost = dot(costs, here.u)
        proven = max(proven, _prove_least_cost(costs, rows, here, prices.tests))
        if cost - proven <= _TOLERANCE * cost + _NEGLIGIBLE:
            break
        step, change = _compute_newton_step(
            costs, rows, here, prices, _choose_gap_share(reached)
        )
        far = min(
            _find_reach(prices.tests, change.tests), _find_reach(prices.rents, change.rents)
        )
        length = min(1.0, 0.99 * far)
        add_scaled(prices.tests, length, change.tests)
        add_scaled(prices.rents, length, change.rents)
        here, walked = _step_inside(y, base, rows, here, step)
        reached = min(length, walked)
    return here.u, proven, _find_worst_ratio(here)


@compile_kernel
def _start_multipliers(here: _PullsPoint, barrier: float) -> _Multipliers:
    """Prices that balance a barrier of this height at a point."""
    tests, rents = np.empty(here.known.size), np.empty(here.u.size)
    for r in range(tests.size):
        tests[r] = barrier / (here.known[r] - 1.0)
    for j in range(rents.size):
        rents[j] = barrier / here.u[j]
    return _Multipliers(tests, rents)


@compile_kernel
def _compute_newton_step(
    costs: Numbers, rows: Places, here: _PullsPoint, prices: _Multipliers, eagerness: float
) -> tuple[Numbers, _Multipliers]:
    """Step in the pulls and in the multipliers."""
    n, slopes = costs.size, _compute_slopes(rows, here)
    gap = dot(prices.rents, here.u)
    for r in range(rows.size):
        gap += prices.tests[r] * (here.known[r] - 1.0)
    target = eagerness * gap / (rows.size + n)
    pull = np.empty(n)
    for j in range(n):
        pull[j] = target / here.u[j] - costs[j]
        for r in range(rows.size):
            pull[j] += target / (here.known[r] - 1.0) * slopes[r, j]
    step = solve_cholesky(factor(_compute_curvature(rows, here, prices, slopes)), pull)
    dearer, higher = np.empty(rows.size), np.empty(n)
    for r in range(rows.size):
        worth = target - prices.tests[r] * dot(slopes[r], step)
        dearer[r] = worth / (here.known[r] - 1.0) - prices.tests[r]
    for j in range(n):
        higher[j] = (target - prices.rents[j] * step[j]) / here.u[j] - prices.rents[j]
    return step, _Multipliers(dearer, higher)


@compile_kernel
def _compute_slopes(rows: Places, here: _PullsPoint) -> Numbers:
    """The derivative of what is known, a row for every tested pair."""
    slopes = np.empty((rows.size, here.u.size))
    for r in range(rows.size):
        for j in range(here.u.size):
            slopes[r, j] = (here.M[rows[r], j] * here.known[r]) ** 2
    return slopes


@compile_kernel
def _compute_curvature(
    rows: Places, here: _PullsPoint, prices: _Multipliers, slopes: Numbers
) -> Numbers:
    """Minus the second derivative of what the prices pay for, and of the barrier.

    No direction of it is negative. Only the lower triangle is written.
    """
    n = here.u.size
    crossed, squared = np.zeros((n, n)), np.zeros((n, n))
    for r in range(rows.size):
        h, price = here.known[r], prices.tests[r]
        twice, fourth = 2.0 * price * h**2, price * (1.0 / (h - 1.0) - 2.0 / h)
        for j in range(n):
            first, second = twice * here.M[rows[r], j], fourth * slopes[r, j]
            for k in range(j + 1):
                crossed[j, k] += first * here.M[rows[r], k]
                squared[j, k] += second * slopes[r, k]
    steepest = 0.0
    for j in range(n):
        for k in range(j + 1):
            squared[j, k] += here.M[j, k] * crossed[j, k]
        steepest = max(steepest, squared[j, j])
    for j in range(n):
        # Vectors that are alike leave the curvature flat but for rounding.
        squared[j, j] += prices.rents[j] / here.u[j] + _ROUNDING * steepest
    return squared


@compile_kernel
def _choose_gap_share(reached: float) -> float:
    """What share of the gap to aim for: little when the last step led to its end."""
    return 0.02 if reached > 0.9 else 0.1 if reached > 0.5 else 0.4


@compile_kernel
def _step_inside(
    y: Numbers, base: Numbers, rows: Places, here: _PullsPoint, step: Numbers
) -> tuple[_PullsPoint, float]:
    """Walk along the step as far as the constraints keep a twentieth of their room.

    What is known is concave, so it stays above the chord to a point that was too far.
    """
    length = min(1.0, 0.99 * _find_reach(here.u, step))
    for _ in range(_MOST_STEPS):
        u = here.u.copy()
        add_scaled(u, length, step)
        there = _evaluate_point(y, base, rows, u)
        shorter = 1.0
        for r in range(rows.size):
            room = 0.95 * (here.known[r] - 1.0)
            lost = here.known[r] - there.known[r]
            if lost > room:
                shorter = min(shorter, room / lost)
        if shorter == 1.0:
            return there, length
        length *= max(0.5, 0.999 * shorter)
    return here, 0.0


@compile_kernel
def _prove_least_cost(costs: Numbers, rows: Places, here: _PullsPoint, tests: Numbers) -> float:
    """The dual value of the prices, scaled to be feasible: what every solution must cost.

    ``known`` is concave, so it lies below its tangent at the present point.
    """
    slopes, paid, scale = _compute_slopes(rows, here), 0.0, math.inf
    for r in range(rows.size):
        paid += tests[r] * (1.0 - here.known[r] + dot(slopes[r], here.u))
    for j in range(costs.size):
        worth = 0.0
        for r in range(rows.size):
            worth += tests[r] * slopes[r, j]
        scale = min(scale, costs[j] / worth)
    return scale * paid


@compile_kernel
def _find_reach(values: Numbers, change: Numbers) -> float:
    """How far ``values`` can move along ``change`` until one of them is zero."""
    far = math.inf
    for i in range(values.size):
        if change[i] < 0.0:
            far = min(far, values[i] / -change[i])
    return far
