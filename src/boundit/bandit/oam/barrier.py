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
    """Multipliers: of the constraints (``tests``), and of ``u >= 0`` (``signs``)."""

    tests: Numbers
    signs: Numbers


@compile_kernel
def _evaluate_point(y: Numbers, base: Numbers, rows: Places, u: Numbers) -> _PullsPoint:
    """Evaluate one choice of pulls in OAM's program: how well each tested pair is then known.

    Gives the pulls with the products and information they lead to.
    """
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
    """Tell whether the constraints of OAM's allocation program hold before any pull.

    That is, whether each tested pair is known well enough.
    """
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
    """Find the largest ratio of left to right side among the constraints of OAM's program."""
    least = math.inf
    for known in here.known:
        least = min(least, known)
    return 1.0 / least


@compile_kernel
def solve_barrier(
    y: Numbers, base: Numbers, costs: Numbers, rows: Places
) -> tuple[Numbers, float, float]:
    """Solve OAM's allocation program: the cheapest pulls that meet every constraint.

    Gives the pulls, a proven lower bound on the cost, and the worst ratio of a constraint's
    left side to its right. It follows the central path of a log barrier by primal-dual Newton
    steps.

    Two pulls of everything, in the program's units, meet every constraint: a vector that was
    pulled twice has at most half of its square left. All later points stay strictly inside. The
    lower bound on the cost is the best that any of the multipliers proves.
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
    multipliers = _start_multipliers(here, 2.0 * dot(costs, np.ones(n)) / (n + rows.size))
    proven, reached = 0.0, 1.0
    for _ in range(_MOST_STEPS):
        cost = dot(costs, here.u)
        proven = max(proven, _prove_least_cost(costs, rows, here, multipliers.tests))
        if cost - proven <= _TOLERANCE * cost + _NEGLIGIBLE:
            break
        step, change = _compute_newton_step(
            costs, rows, here, multipliers, _choose_gap_share(reached)
        )
        far = min(
            _find_reach(multipliers.tests, change.tests),
            _find_reach(multipliers.signs, change.signs),
        )
        length = min(1.0, 0.99 * far)
        add_scaled(multipliers.tests, length, change.tests)
        add_scaled(multipliers.signs, length, change.signs)
        here, walked = _step_inside(y, base, rows, here, step)
        reached = min(length, walked)
    return here.u, proven, _find_worst_ratio(here)


@compile_kernel
def _start_multipliers(here: _PullsPoint, barrier: float) -> _Multipliers:
    """Choose the first Lagrange multipliers of the constraints of OAM's program.

    Each balances the log barrier at the first point.
    """
    tests, signs = np.empty(here.known.size), np.empty(here.u.size)
    for r in range(tests.size):
        tests[r] = barrier / (here.known[r] - 1.0)
    for j in range(signs.size):
        signs[j] = barrier / here.u[j]
    return _Multipliers(tests, signs)


@compile_kernel
def _compute_newton_step(
    costs: Numbers, rows: Places, here: _PullsPoint, multipliers: _Multipliers, share: float
) -> tuple[Numbers, _Multipliers]:
    """Compute one Newton step of OAM's solver: the change of pulls and of multipliers.

    ``share`` is the part of the duality gap it aims to leave.
    """
    n, slopes = costs.size, _compute_slopes(rows, here)
    gap = dot(multipliers.signs, here.u)
    for r in range(rows.size):
        gap += multipliers.tests[r] * (here.known[r] - 1.0)
    target = share * gap / (rows.size + n)
    pull = np.empty(n)
    for j in range(n):
        pull[j] = target / here.u[j] - costs[j]
        for r in range(rows.size):
            pull[j] += target / (here.known[r] - 1.0) * slopes[r, j]
    step = solve_cholesky(factor(_compute_curvature(rows, here, multipliers, slopes)), pull)
    more_tests, more_signs = np.empty(rows.size), np.empty(n)
    for r in range(rows.size):
        worth = target - multipliers.tests[r] * dot(slopes[r], step)
        more_tests[r] = worth / (here.known[r] - 1.0) - multipliers.tests[r]
    for j in range(n):
        more_signs[j] = (target - multipliers.signs[j] * step[j]) / here.u[
            j
        ] - multipliers.signs[j]
    return step, _Multipliers(more_tests, more_signs)


@compile_kernel
def _compute_slopes(rows: Places, here: _PullsPoint) -> Numbers:
    """Compute how much each pull adds to what is known of each tested pair (derivatives).

    A row for every tested pair, a column for every pull.
    """
    slopes = np.empty((rows.size, here.u.size))
    for r in range(rows.size):
        for j in range(here.u.size):
            slopes[r, j] = (here.M[rows[r], j] * here.known[r]) ** 2
    return slopes


@compile_kernel
def _compute_curvature(
    rows: Places, here: _PullsPoint, multipliers: _Multipliers, slopes: Numbers
) -> Numbers:
    """Compute the matrix of the Newton step: minus the Lagrangian's second derivatives.

    With those of the barrier; no direction of it is negative. Only the lower triangle is
    written.
    """
    n = here.u.size
    crossed, squared = np.zeros((n, n)), np.zeros((n, n))
    for r in range(rows.size):
        h, multiplier = here.known[r], multipliers.tests[r]
        twice, fourth = 2.0 * multiplier * h**2, multiplier * (1.0 / (h - 1.0) - 2.0 / h)
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
        squared[j, j] += multipliers.signs[j] / here.u[j] + _ROUNDING * steepest
    return squared


@compile_kernel
def _choose_gap_share(reached: float) -> float:
    """Choose which share of the duality gap the next Newton step aims to leave.

    Little when the last step could be taken nearly whole (``reached``).
    """
    return 0.02 if reached > 0.9 else 0.1 if reached > 0.5 else 0.4


@compile_kernel
def _step_inside(
    y: Numbers, base: Numbers, rows: Places, here: _PullsPoint, step: Numbers
) -> tuple[_PullsPoint, float]:
    """Change the pulls along a Newton step, as far as no constraint loses 95 % of its room.

    Gives the new point and the share of the step taken. What is known is concave, so it stays
    above the chord to a point that was too far.
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
    """Compute a lower bound on what any pulls must cost that meet OAM's constraints.

    It is the dual value, scaled to be feasible: ``known`` is concave, so it lies below its
    tangent at the present point.
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
    """Find the longest step along ``change`` at which no one of ``values`` is negative."""
    far = math.inf
    for i in range(values.size):
        if change[i] < 0.0:
            far = min(far, values[i] / -change[i])
    return far
