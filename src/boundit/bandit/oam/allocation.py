r"""How often each pair of context and arm should be pulled (eqs. 18 and 19 of the paper).

A pair has a feature vector :math:`x`, a gap :math:`\Delta` to the best arm of its context, and
a number of pulls :math:`T`. Pulls cost regret and buy information, :math:`H_T = \sum T x x^T`:

.. math::

   \min_{T \ge 0} \sum T \Delta \quad\text{such that}\quad
   x^T H_T^{-1} x \le \Delta^2 / f \quad\text{for every pair with}\; \Delta > 0

Pairs without a gap cost nothing: their pulls are given, not sought. In the units
:math:`u = T \Delta^2 / f`, :math:`y = x / \Delta` the right sides are 1, the costs
:math:`1 / \Delta`, and :math:`u` has the size of 1. The barrier method takes a constraint as
:math:`h_i(u) = 1 / (y_i^T H^{-1} y_i) \ge 1`, what is known of pair :math:`i`: concave, and a
straight line when only one direction is unknown. With :math:`M_{ij} = y_i^T H^{-1} y_j` its
derivatives are in closed form, from :math:`\partial M_{ii} / \partial u_j = -M_{ij}^2` and
:math:`\partial^2 M_{ii} / \partial u_j \partial u_k = 2 M_{ij} M_{jk} M_{ki}`.

The central path is followed by primal-dual Newton steps. In the kernels ``y`` has the vectors,
``base`` what is known beforehand, ``rows`` the places of the pairs with a constraint (tested).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import kernel, step
from boundit.bandit.ids import Floats, Ints

Mask = NDArray[np.bool_]
SMALLEST_GAP = 2e-3
"""Smaller gaps count as this: what a gap asks for grows with its inverse square."""
NO_GAP = 1e-9  # what rounding leaves of a gap of zero
_NO_LENGTH = 1e-9
_TOLERANCE = 1e-6
_NEGLIGIBLE = 1e-9  # a cost far below f / smallest gap needs no digits
_ROUNDING = 1e-14
_MOST_STEPS = 100


class Allocation(NamedTuple):
    """Pulls for every pair, what they cost, and how far both can be trusted.

    ``least_cost`` is proven: no pulls that meet the constraints cost less. ``worst_ratio`` is
    the largest left side of a constraint divided by its right side, at most 1 when all are met.
    """

    pulls: Floats
    cost: float
    least_cost: float
    worst_ratio: float


class _Point(NamedTuple):
    """Pulls ``u``, the products ``M`` they give, what is known of the tested pairs."""

    u: Floats
    M: Floats
    known: Floats


class _Multipliers(NamedTuple):
    """Multipliers: of the constraints (``tests``), and of ``u >= 0`` (``signs``)."""

    tests: Floats
    signs: Floats


@kernel
def allocate(
    features: Floats, gaps: Floats, tested: Mask, width: float, cap: float, smallest_gap: float
) -> Allocation:
    r"""Find the cheapest pulls that tell every pair with a gap from the best (eqs. 18, 19).

    ``features`` has a row for every pair, ``width`` is :math:`f`. A pair without a gap has
    ``cap`` times :math:`f / \Delta_{\min}^2` pulls; with an infinite cap, whatever such pairs
    measure is known, and the program lives in the directions that remain. Pairs that are not
    ``tested`` may be pulled and have no constraint of their own. What is returned always meets
    the constraints. It costs at most a millionth more than necessary, where rounding allows
    (a few millionths in one case of a thousand); ``least_cost`` proves how much.

    Two arms that tell nothing of each other: the worse one needs :math:`f / \Delta^2` pulls.

    >>> both = np.ones(2, np.bool_)
    >>> found = allocate(np.eye(2), np.array([0.0, 0.5]), both, 8.0, 100.0, SMALLEST_GAP)
    >>> found.pulls.round(2), round(found.cost, 3)
    (array([3200.,   32.]), 16.0)
    """
    n, smallest = gaps.shape[0], math.inf
    for i in range(n):
        if gaps[i] > NO_GAP:
            smallest = min(smallest, max(gaps[i], smallest_gap))
    x, base = _reduce_dimension(features, gaps, cap)
    pulls, pulled = np.zeros(n), np.empty(n, np.int64)
    costs, rows = np.empty(n), np.empty(n, np.int64)
    count, asked = 0, 0
    for i in range(n):
        if gaps[i] <= NO_GAP:
            pulls[i] = cap * width / smallest**2 if smallest < math.inf else math.inf
        elif dot(x[i], x[i]) > _NO_LENGTH**2:
            pulled[count], costs[count] = i, smallest / max(gaps[i], smallest_gap)
            if tested[i]:
                rows[asked] = count
                asked += 1
            count += 1
    y = np.zeros((count, x.shape[1]))
    for i in range(count):
        add_scaled(y[i], costs[i], x[pulled[i]])
    costs = costs[:count]
    u, proven, worst = _solve_barrier(y, base, costs, rows[:asked])
    for i in range(count):
        pulls[pulled[i]] = u[i] * width * costs[i] ** 2 / smallest**2
    unit = width / smallest
    return Allocation(pulls, unit * dot(costs, u), unit * proven, worst)


@kernel
def _reduce_dimension(features: Floats, gaps: Floats, cap: float) -> tuple[Floats, Floats]:
    """Rewrite features, the longest of length 1, in as few coordinates as they span.

    With an infinite ``cap``, less what the pairs without a gap measure, which then is known.
    Else also gives what their pulls tell beforehand, ``cap`` times ``sum of x x'``.
    """
    (n, size), longest = features.shape, 0.0
    for i in range(n):
        longest = max(longest, dot(features[i], features[i]))
    x, best = np.zeros((n, size)), np.zeros((n, size))
    for i in range(n):
        add_scaled(x[i], 1.0 / math.sqrt(longest) if longest > 0.0 else 1.0, features[i])
        if gaps[i] <= NO_GAP:
            best[i] = x[i]
    if cap == math.inf:
        known = orthonormalize(best, _NO_LENGTH)
        for k in range(known.shape[0]):
            for i in range(n):
                add_scaled(x[i], -dot(x[i], known[k]), known[k])
    basis = orthonormalize(x, _NO_LENGTH)
    rank = basis.shape[0]
    short, base = np.empty((n, rank)), np.zeros((rank, rank))
    for i in range(n):
        for k in range(rank):
            short[i, k] = dot(x[i], basis[k])
        if gaps[i] <= NO_GAP and cap < math.inf:
            for k in range(rank):
                add_scaled(base[k], cap * short[i, k], short[i])
    return short, base


@kernel
def _solve_barrier(
    y: Floats, base: Floats, costs: Floats, rows: Ints
) -> tuple[Floats, float, float]:
    """Find the cheapest pulls, a proven lower bound on their cost, and the worst ratio.

    Two pulls of everything, in the program's units, meet every constraint: a vector that was
    pulled twice has at most half of its square left. All later points stay strictly inside. The
    lower bound on the cost is the best that any of the multipliers proves.
    """
    n = y.shape[0]
    if rows.size == 0:
        return np.zeros(n), 0.0, 0.0
    if _has_full_rank(base):
        nothing = _evaluate_point(y, base, rows, np.zeros(n))
        if _find_worst_ratio(nothing) <= 1.0:
            return nothing.u, 0.0, _find_worst_ratio(nothing)
    here = _evaluate_point(y, base, rows, np.full(n, 2.0))
    barrier = 2.0 * dot(costs, np.ones(n)) / (n + rows.size)
    multipliers = _Multipliers(barrier / (here.known - 1.0), barrier / here.u)
    proven, reached = 0.0, 1.0
    for _ in range(_MOST_STEPS):
        cost = dot(costs, here.u)
        proven = max(proven, _prove_least_cost(costs, rows, here, multipliers.tests))
        if cost - proven <= _TOLERANCE * cost + _NEGLIGIBLE:
            break
        # How much of the duality gap a step aims to leave: little after a whole one.
        share = 0.02 if reached > 0.9 else 0.1 if reached > 0.5 else 0.4
        move, change = _compute_newton_step(costs, rows, here, multipliers, share)
        far = min(
            _find_reach(multipliers.tests, change.tests),
            _find_reach(multipliers.signs, change.signs),
        )
        length = min(1.0, 0.99 * far)
        add_scaled(multipliers.tests, length, change.tests)
        add_scaled(multipliers.signs, length, change.signs)
        here, walked = _step_inside(y, base, rows, here, move)
        reached = min(length, walked)
    return here.u, proven, _find_worst_ratio(here)


@kernel
def _has_full_rank(base: Floats) -> bool:
    largest = 0.0
    for k in range(base.shape[0]):
        largest = max(largest, base[k, k])
    return len(orthonormalize(base, _NO_LENGTH * largest)) == len(base)


@kernel
def _evaluate_point(y: Floats, base: Floats, rows: Ints, u: Floats) -> _Point:
    """Evaluate one choice of pulls: how well each tested pair is then known."""
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
    return _Point(u, products, known)


@kernel
def _find_worst_ratio(here: _Point) -> float:
    """Find the largest ratio of left to right side among the constraints."""
    least = math.inf
    for known in here.known:
        least = min(least, known)
    return 1.0 / least


@kernel
def _compute_newton_step(
    costs: Floats, rows: Ints, here: _Point, multipliers: _Multipliers, share: float
) -> tuple[Floats, _Multipliers]:
    """Compute the change of pulls and of multipliers; aims at ``share`` of the duality gap."""
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
    move = solve_cholesky(factor(_compute_curvature(rows, here, multipliers, slopes)), pull)
    tests, signs = np.empty(rows.size), np.empty(n)
    for r in range(rows.size):
        worth = target - multipliers.tests[r] * dot(slopes[r], move)
        tests[r] = worth / (here.known[r] - 1.0) - multipliers.tests[r]
    for j in range(n):
        worth = target - multipliers.signs[j] * move[j]
        signs[j] = worth / here.u[j] - multipliers.signs[j]
    return move, _Multipliers(tests, signs)


@kernel
def _compute_slopes(rows: Ints, here: _Point) -> Floats:
    """Compute how much each pull adds to what is known of each tested pair: a row for each."""
    slopes = np.empty((rows.size, here.u.size))
    for r in range(rows.size):
        for j in range(here.u.size):
            slopes[r, j] = (here.M[rows[r], j] * here.known[r]) ** 2
    return slopes


@kernel
def _compute_curvature(
    rows: Ints, here: _Point, multipliers: _Multipliers, slopes: Floats
) -> Floats:
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


@kernel
def _step_inside(
    y: Floats, base: Floats, rows: Ints, here: _Point, move: Floats
) -> tuple[_Point, float]:
    """Move the pulls as far as no constraint loses 95 % of its slack; also the share moved.

    What is known is concave, so it stays above the chord to a point that was too far.
    """
    length = min(1.0, 0.99 * _find_reach(here.u, move))
    for _ in range(_MOST_STEPS):
        u = here.u.copy()
        add_scaled(u, length, move)
        there = _evaluate_point(y, base, rows, u)
        shorter = 1.0
        for r in range(rows.size):
            slack = 0.95 * (here.known[r] - 1.0)
            lost = here.known[r] - there.known[r]
            if lost > slack:
                shorter = min(shorter, slack / lost)
        if shorter == 1.0:
            return there, length
        length *= max(0.5, 0.999 * shorter)
    return here, 0.0


@kernel
def _prove_least_cost(costs: Floats, rows: Ints, here: _Point, tests: Floats) -> float:
    """Compute a lower bound on what any pulls must cost that meet the constraints.

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


@kernel
def _find_reach(values: Floats, change: Floats) -> float:
    """Find the longest step along ``change`` at which no one of ``values`` is negative."""
    far = math.inf
    for i in range(values.size):
        if change[i] < 0.0:
            far = min(far, values[i] / -change[i])
    return far


@step
def dot(x: Floats, y: Floats) -> float:
    """Add up the products of two vectors, in their order."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@step
def add_scaled(x: Floats, share: float, y: Floats) -> None:
    """Add in place: ``x += share y``."""
    for i in range(x.shape[0]):
        x[i] += share * y[i]


@kernel
def factor(a: Floats) -> Floats:
    """Find the lower triangle ``L`` with ``L L' = a`` (Cholesky); reads its lower half only.

    A pivot that rounding took below zero counts as infinite: nothing moves in its direction.
    """
    n = a.shape[0]
    low = np.zeros((n, n))
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest -= low[j, k] * low[j, k]
        low[j, j] = math.sqrt(rest) if rest > 0.0 else math.inf
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest -= low[i, k] * low[j, k]
            low[i, j] = rest / low[j, j]
    return low


@kernel
def solve_lower(low: Floats, x: Floats) -> Floats:
    """Solve ``L z = x'`` for every row of ``x``, a column of ``z`` for each.

    The squared length of a column is ``x' inverse(a) x``.
    """
    n, m = x.shape[1], x.shape[0]
    z = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            z[i, j] = x[j, i]
        for k in range(i):
            for j in range(m):
                z[i, j] -= low[i, k] * z[k, j]
        for j in range(m):
            z[i, j] /= low[i, i]
    return z


@kernel
def solve_cholesky(low: Floats, b: Floats) -> Floats:
    """Solve ``L L' x = b`` for one vector, ``L`` being what ``factor`` gives."""
    n, x = b.shape[0], b.copy()
    for i in range(n):
        for k in range(i):
            x[i] -= low[i, k] * x[k]
        x[i] /= low[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= low[k, i] * x[k]
        x[i] /= low[i, i]
    return x


@kernel
def orthonormalize(rows: Floats, least: float) -> Floats:
    """Find an orthonormal basis of what the rows span, a row each.

    Gram and Schmidt with the longest remainder first; one shorter than ``least`` is rounding.
    """
    rest = rows.copy()
    n_rows, size = rest.shape
    found = np.zeros((min(n_rows, size), size))
    for r in range(found.shape[0]):
        longest, square = 0, -1.0
        for i in range(n_rows):
            here = dot(rest[i], rest[i])
            if here > square:
                longest, square = i, here
        if not math.sqrt(square) > least:
            return found[:r]
        axis = found[r]
        add_scaled(axis, 1.0 / math.sqrt(square), rest[longest])
        for k in range(r):  # again: the remainder was the difference of larger vectors
            add_scaled(axis, -dot(axis, found[k]), found[k])
        length = math.sqrt(dot(axis, axis))
        for k in range(size):
            axis[k] /= length
        for i in range(n_rows):
            add_scaled(rest[i], -dot(rest[i], axis), axis)
    return found
