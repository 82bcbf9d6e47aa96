r"""How often each pair of context and arm should be pulled (eqs. 18 and 19).

A pair has a feature vector :math:`x`, a gap :math:`\Delta` to the best arm of its context, and
a number of pulls :math:`T`. Pulls cost regret and buy information, :math:`H_T = \sum T x x^T`:

.. math::

   \min_{T \ge 0} \sum T \Delta \quad\text{such that}\quad
   x^T H_T^{-1} x \le \Delta^2 / f \quad\text{for every pair with}\; \Delta > 0

Pairs without a gap cost nothing: their pulls are given, not sought. In the units
:math:`u = T \Delta^2 / f`, :math:`y = x / \Delta` the right sides are 1, the costs
:math:`1 / \Delta`, and :math:`u` has the size of 1. The solver takes the constraint as
:math:`h_i(u) = 1 / (y_i^T H^{-1} y_i) \ge 1`, what is known of pair :math:`i`: concave, and a
straight line when only one direction is unknown. With :math:`M_{ij} = y_i^T H^{-1} y_j` its
derivatives are in closed form, from :math:`\partial M_{ii} / \partial u_j = -M_{ij}^2` and
:math:`\partial^2 M_{ii} / \partial u_j \partial u_k = 2 M_{ij} M_{jk} M_{ki}`.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import Numbers, add_scaled, dot, orthonormalize
from boundit.bandit.oam.barrier import NO_LENGTH, solve_barrier

Mask: TypeAlias = NDArray[np.bool_]

SMALLEST_GAP = 2e-3
"""Smaller gaps count as this: what a gap asks for grows with its inverse square."""
NO_GAP = 1e-9  # what rounding leaves of a gap of zero


@dataclass(frozen=True, eq=False)
class Allocation:
    """Pulls for every pair, what they cost, and how far both can be trusted.

    ``least_cost`` is proven: no pulls that meet the constraints cost less. ``worst_ratio`` is
    the largest left side of a constraint divided by its right side, at most 1 when all are met.
    """

    pulls: Numbers
    cost: float
    least_cost: float
    worst_ratio: float


def allocate(
    features: Numbers,
    gaps: Numbers,
    *,
    width: float,
    cap: float = 100.0,
    smallest_gap: float = SMALLEST_GAP,
    tested: Mask | None = None,
) -> Allocation:
    r"""Find the cheapest pulls that tell every pair with a gap from the best (eqs. 18, 19).

    ``features`` has a row for every pair, ``width`` is :math:`f`. A pair without a gap has
    ``cap`` times :math:`f / \Delta_{\min}^2` pulls; with an infinite cap, whatever such pairs
    measure is known, and the program lives in the directions that remain. Pairs that are not
    ``tested`` may be pulled and have no constraint of their own. What is returned always meets
    the constraints. It costs at most a millionth more than necessary, where rounding allows
    (a few millionths in one case of a thousand); ``least_cost`` proves how much.

    Two arms that tell nothing of each other: the worse one needs :math:`f / \Delta^2` pulls.

    >>> allocation = allocate(np.eye(2), np.array([0.0, 0.5]), width=8.0)
    >>> allocation.pulls.round(2), round(allocation.cost, 3)
    (array([3200.,   32.]), 16.0)
    """
    x = np.ascontiguousarray(features, dtype=np.float64)
    asked = np.ones(len(gaps), dtype=np.bool_) if tested is None else tested
    return Allocation(
        *solve_allocation(x, gaps.astype(np.float64), asked, width, float(cap), smallest_gap)
    )


@compile_kernel
def solve_allocation(
    features: Numbers,
    gaps: Numbers,
    tested: NDArray[np.bool_],
    width: float,
    cap: float,
    smallest_gap: float,
) -> tuple[Numbers, float, float, float]:
    """Solve the allocation program of OAM in compiled code.

    Gives the pulls of every pair, what they cost, the least that any must cost, and the worst
    ratio of a constraint.
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
        elif dot(x[i], x[i]) > NO_LENGTH**2:
            pulled[count], costs[count] = i, smallest / max(gaps[i], smallest_gap)
            if tested[i]:
                rows[asked] = count
                asked += 1
            count += 1
    y = np.zeros((count, x.shape[1]))
    for i in range(count):
        add_scaled(y[i], costs[i], x[pulled[i]])
    costs = costs[:count]
    u, proven, worst = solve_barrier(y, base, costs, rows[:asked])
    for i in range(count):
        pulls[pulled[i]] = u[i] * width * costs[i] ** 2 / smallest**2
    unit = width / smallest
    return pulls, unit * dot(costs, u), unit * proven, worst


@compile_kernel
def _reduce_dimension(features: Numbers, gaps: Numbers, cap: float) -> tuple[Numbers, Numbers]:
    """Rewrite the features of OAM's pairs in as few coordinates as they span.

    Gives the new features, and what the pulls of pairs without a gap tell beforehand, as a
    matrix ``cap`` times ``sum of x x'``.
    """
    x = _scale_and_project(features, gaps, cap)
    basis = orthonormalize(x, NO_LENGTH)
    n, rank = x.shape[0], basis.shape[0]
    short, base = np.empty((n, rank)), np.zeros((rank, rank))
    for i in range(n):
        for k in range(rank):
            short[i, k] = dot(x[i], basis[k])
        if gaps[i] <= NO_GAP and cap < math.inf:
            for k in range(rank):
                add_scaled(base[k], cap * short[i, k], short[i])
    return short, base


@compile_kernel
def _scale_and_project(features: Numbers, gaps: Numbers, cap: float) -> Numbers:
    """Scale OAM's features to a longest length of 1, less what pairs without a gap measure.

    That is known where the cap on their pulls is infinite.
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
        known = orthonormalize(best, NO_LENGTH)
        for k in range(known.shape[0]):
            for i in range(n):
                add_scaled(x[i], -dot(x[i], known[k]), known[k])
    return x
