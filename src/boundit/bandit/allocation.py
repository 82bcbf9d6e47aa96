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
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

SMALLEST_GAP = 2e-3
"""Smaller gaps count as this: what a gap asks for grows with its inverse square."""
_NO_GAP = 1e-9  # what rounding leaves of a gap of zero
_NO_LENGTH = 1e-9
_TOLERANCE = 1e-6
_NEGLIGIBLE = 1e-9  # a cost far below f / smallest gap needs no digits
_ROUNDING = 1e-14
_MOST_STEPS = 100


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
    worse = gaps > _NO_GAP
    floored = np.maximum(gaps, smallest_gap)
    smallest = float(floored[worse].min(initial=math.inf))
    x, base = _reduced(features, worse, cap)
    pulled = worse & (np.linalg.norm(x, axis=1) > _NO_LENGTH)
    needed = pulled if tested is None else pulled & tested
    costs = smallest / floored[pulled]
    program = _Program(x[pulled] * costs[:, None], base, costs, needed[pulled])
    u, proven = _solve(program)
    pulls = np.where(worse, 0.0, cap * width / smallest**2 if worse.any() else math.inf)
    pulls[pulled] = u * width / floored[pulled] ** 2
    unit = width / smallest
    worst = 1.0 / program.at(u).known.min(initial=math.inf) if needed.any() else 0.0
    return Allocation(pulls, unit * float(costs @ u), unit * proven, worst)


@dataclass(frozen=True, eq=False)
class _Program:
    """The scaled program: vectors, what is known beforehand, costs, and which are tested."""

    y: Numbers
    base: Numbers
    costs: Numbers
    tested: Mask

    def at(self, u: Numbers) -> "_Point":
        """Look at one choice of pulls."""
        metric = self.base + (self.y.T * u) @ self.y
        products = self.y @ np.linalg.solve(metric, self.y.T)
        return _Point(u, products, products[self.tested], products.diagonal()[self.tested])

    @property
    def needs_nothing(self) -> bool:
        """Tell whether the constraints hold before anything is pulled."""
        if not self.tested.any():
            return True
        sizes = np.linalg.eigvalsh(self.base)
        if sizes[0] <= _NO_LENGTH * sizes[-1]:
            return False
        return bool((self.at(np.zeros(len(self.costs))).known >= 1.0).all())


@dataclass(frozen=True, eq=False)
class _Point:
    """Pulls ``u``, the products ``M`` they give, and of the tested pairs rows and diagonal."""

    u: Numbers
    M: Numbers
    rows: Numbers
    own: Numbers

    @cached_property
    def known(self) -> Numbers:
        """``h``, the information on every tested pair."""
        return 1.0 / self.own

    @cached_property
    def slopes(self) -> Numbers:
        """The derivative of ``known``, a row for every tested pair."""
        return np.square(self.rows / self.own[:, None])

    def bend(self, prices: Numbers) -> Numbers:
        """Minus the second derivative of ``prices @ known``; no direction of it is negative."""
        weights, squares = prices / self.own**2, self.rows**2
        first = self.M * ((self.rows.T * weights) @ self.rows)
        second = (squares.T * (weights / self.own)) @ squares
        return np.asarray(2.0 * (first - second))


def _reduced(features: Numbers, worse: Mask, cap: float) -> tuple[Numbers, Numbers]:
    """Write the vectors in as many coordinates as they need, and what is known beforehand."""
    x = features / (float(np.linalg.norm(features, axis=1).max(initial=0.0)) or 1.0)
    if math.isinf(cap):
        axes = _axes(x[~worse])
        x, cap = x - (x @ axes) @ axes.T, 0.0
    x = x @ _axes(x)
    return x, cap * x[~worse].T @ x[~worse]


def _axes(rows: Numbers) -> Numbers:
    """An orthonormal basis of what the rows span, one column each."""
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(axes[sizes > _NO_LENGTH].T)


def _solve(program: _Program) -> tuple[Numbers, float]:
    """Follow the log barrier's central path by primal-dual Newton steps.

    Two pulls of everything, in the program's units, meet every constraint: a vector that was
    pulled twice has at most half of its square left. All later points stay strictly inside.
    The lower bound on the cost is the best that any of the multipliers proves.
    """
    costs = program.costs
    if program.needs_nothing:
        return np.zeros(len(costs)), 0.0
    here = program.at(np.full(len(costs), 2.0))
    barrier = float(costs @ here.u) / (len(costs) + len(here.own))
    prices, rents = barrier / (here.known - 1.0), barrier / here.u
    proven, reached = 0.0, 1.0
    for _ in range(_MOST_STEPS):
        proven = max(proven, _proven(costs, here, prices))
        if costs @ here.u - proven <= _TOLERANCE * (costs @ here.u) + _NEGLIGIBLE:
            break
        step, dearer, higher = _newton(costs, here, prices, rents, _eagerness(reached))
        length = min(1.0, 0.99 * _reach(prices, dearer), 0.99 * _reach(rents, higher))
        prices, rents = prices + length * dearer, rents + length * higher
        here, walked = _inside(program, here, step)
        reached = min(length, walked)
    return here.u, proven


def _newton(
    costs: Numbers, here: _Point, prices: Numbers, rents: Numbers, eagerness: float
) -> tuple[Numbers, Numbers, Numbers]:
    """Step in the pulls and in the multipliers, of the constraints and of ``u >= 0``."""
    room, slopes = here.known - 1.0, here.slopes
    gap = float(prices @ room + rents @ here.u) / (len(room) + len(rents))
    target = eagerness * gap
    curvature = here.bend(prices) + (slopes.T * (prices / room)) @ slopes
    # Vectors that are alike leave the curvature flat but for rounding.
    flat = _ROUNDING * float(curvature.diagonal().max())
    curvature[np.diag_indices_from(curvature)] += rents / here.u + flat
    pull = slopes.T @ (target / room) + target / here.u - costs
    step = np.asarray(np.linalg.solve(curvature, pull), dtype=np.float64)
    return (
        step,
        (target - prices * (slopes @ step)) / room - prices,
        (target - rents * step) / here.u - rents,
    )


def _eagerness(reached: float) -> float:
    """What share of the gap to aim for: little when the last step led to its end."""
    return 0.02 if reached > 0.9 else 0.1 if reached > 0.5 else 0.4


def _inside(program: _Program, here: _Point, step: Numbers) -> tuple[_Point, float]:
    """Walk along the step as far as the constraints keep a twentieth of their room.

    What is known is concave, so it stays above the chord to a point that was too far.
    """
    length = min(1.0, 0.99 * _reach(here.u, step))
    room = 0.95 * (here.known - 1.0)
    while True:
        there = program.at(here.u + length * step)
        spare = room - (here.known - there.known)
        if (spare >= 0.0).all():
            return there, length
        length *= max(0.5, 0.999 * float((room / (room - spare))[spare < 0.0].min()))


def _proven(costs: Numbers, here: _Point, prices: Numbers) -> float:
    """The dual value of the prices, scaled to be feasible: what every solution must cost.

    ``known`` is concave, so it lies below its tangent at the present point.
    """
    scale = float((costs / (here.slopes.T @ prices)).min())
    return scale * float(prices @ (1.0 - here.known + here.slopes @ here.u))


def _reach(values: Numbers, change: Numbers) -> float:
    """How far ``values`` can move along ``change`` until one of them is zero."""
    falling = change < 0
    return float((values[falling] / -change[falling]).min()) if falling.any() else math.inf
