r"""How often each pair of context and arm should be pulled (eqs. 18 and 19).

A pair has a feature vector :math:`x`, a gap :math:`\Delta` to the best arm of its context, and
a number of pulls :math:`T`. Pulls cost regret and buy information, :math:`H_T = \sum T x x^T`:

.. math::

   \min_{T \ge 0} \sum T \Delta \quad\text{such that}\quad
   x^T H_T^{-1} x \le \Delta^2 / f \quad\text{for every pair with}\; \Delta > 0

Pairs without a gap cost nothing: they are given, not sought. In the units
:math:`u = T \Delta^2 / f`, :math:`y = x / \Delta` the program has no other numbers left than
right sides 1 and costs :math:`1 / \Delta`, which is what makes it easy to solve: with
:math:`M_{ij} = y_i^T H^{-1} y_j` every derivative is an entry of :math:`M` or a product of them,
:math:`\partial M_{ii} / \partial u_j = -M_{ij}^2` and
:math:`\partial^2 M_{ii} / \partial u_j \partial u_k = 2 M_{ij} M_{jk} M_{ki}`.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]

SMALLEST_GAP = 2e-3
"""Gaps below this count as this: the pulls a gap asks for grow with its inverse square."""
_NO_GAP = 1e-9  # what rounding leaves of a gap of zero
_TOLERANCE = 1e-6
_NEGLIGIBLE = 1e-9  # costs far below one unit, f / smallest gap, need no digits
_MOST_STEPS = 200
_SPAN = 1e-9


@dataclass(frozen=True, eq=False)
class Allocation:
    """Pulls for every pair, what they cost, and how far both can be trusted.

    ``floor_on_cost`` is a proof: no allocation that meets the constraints costs less.
    ``worst_ratio`` is the largest left side of a constraint divided by its right side,
    computed anew from ``pulls``; at most 1 when all are met.
    """

    pulls: Numbers
    cost: float
    floor_on_cost: float
    worst_ratio: float


def allocate(
    features: Numbers,
    gaps: Numbers,
    *,
    width: float,
    cap: float = 100.0,
    smallest_gap: float = SMALLEST_GAP,
    tested: NDArray[np.bool_] | None = None,
) -> Allocation:
    r"""Find the cheapest pulls that tell every pair with a gap from the best (eqs. 18, 19).

    ``features`` has a row for every pair, ``width`` is :math:`f`. A pair without a gap has
    ``cap`` times :math:`f / \Delta_{\min}^2` pulls; with an infinite cap what it measures is
    known, and the program is solved in the directions that remain. Pairs that are not
    ``tested`` may be pulled and have no constraint of their own.

    Two arms and unit vectors: the worse one needs :math:`f / \Delta^2` pulls.

    >>> allocation = allocate(np.eye(2), np.array([0.0, 0.5]), width=8.0)
    >>> allocation.pulls.round(2), round(allocation.cost, 3)
    (array([3200.,   32.]), 16.0)
    """
    worse = gaps > _NO_GAP
    needed = worse if tested is None else worse & tested
    if not needed.any():
        idle = np.where(worse, 0.0, np.inf)
        return Allocation(idle, 0.0, 0.0, 0.0)
    floored = np.maximum(gaps[worse], smallest_gap)
    smallest = float(floored.min())
    x, base = _reduced(features[worse], features[~worse], cap)
    program = _Program(x * (smallest / floored)[:, None], base, smallest / floored)
    u, proven = _solve(program, needed[worse])
    pulls = np.full(len(gaps), cap * width / smallest**2)
    pulls[worse] = u * width / floored**2
    unit = width / smallest
    left = program.overlaps(u).diagonal()[needed[worse]]
    return Allocation(pulls, unit * float(program.costs @ u), unit * proven, float(left.max()))


@dataclass(frozen=True, eq=False)
class _Program:
    """The scaled program: vectors, what is known beforehand, and costs."""

    y: Numbers
    base: Numbers
    costs: Numbers

    def overlaps(self, u: Numbers) -> Numbers:
        """``M``, the vectors' products in the metric that pulls ``u`` give."""
        root = np.linalg.cholesky(self.base + (self.y.T * u) @ self.y)
        half = np.linalg.solve(root, self.y.T)
        return half.T @ half


def _reduced(x: Numbers, known: Numbers, cap: float) -> tuple[Numbers, Numbers]:
    """Write the vectors in as many coordinates as they need, with the information known."""
    size = float(np.linalg.norm(np.vstack([x, known]), axis=1).max()) or 1.0
    if math.isinf(cap):
        axes = _axes(known / size)
        x = x - (x @ axes) @ axes.T
        known = known[:0]
    axes = _axes(np.vstack([x, known]) / size)
    x, known = x @ axes / size, known @ axes / size
    return x, (cap * known.T @ known if len(known) else np.zeros((axes.shape[1],) * 2))


def _axes(rows: Numbers) -> Numbers:
    """An orthonormal basis of what the rows span, one column each."""
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(axes[sizes > _SPAN].T, dtype=float)


def _solve(program: _Program, tested: NDArray[np.bool_]) -> tuple[Numbers, float]:
    """Follow the central path of the log barrier by primal-dual Newton steps.

    Two pulls of everything, in the program's units, meet every constraint with room to spare,
    since a vector that was pulled twice has at most half its own square left. Every later
    point stays strictly inside, so whatever is returned is feasible.
    """
    costs = program.costs
    u = np.full(len(costs), 2.0)
    M = program.overlaps(u)
    room = 1.0 - M.diagonal()[tested]
    barrier = float(costs @ u) / (len(u) + len(room))
    price, rent = barrier / room, barrier / u  # multipliers of the constraints and of u >= 0
    proven = 0.0
    for _ in range(_MOST_STEPS):
        squares = M[tested] ** 2
        proven = max(proven, _proven(costs, squares, u, price, room))
        if costs @ u - proven <= _TOLERANCE * (costs @ u) + _NEGLIGIBLE:
            break
        target = 0.1 * float(price @ room + rent @ u) / (len(u) + len(room))
        curvature = 2.0 * M * ((M[tested].T * price) @ M[tested])
        curvature += (squares.T * (price / room)) @ squares
        curvature[np.diag_indices_from(curvature)] += rent / u
        step = np.linalg.solve(curvature, squares.T @ (target / room) + target / u - costs)
        more_price = (target - price * (squares @ step)) / room - price
        more_rent = (target - rent * step) / u - rent
        length = min(1.0, *(0.99 * _reach(*p) for p in ((u, step), (price, more_price), (rent, more_rent))))
        while True:
            nearer = program.overlaps(u + length * step)
            if nearer.diagonal()[tested].max() < 1.0:
                break
            length /= 2.0
        u, price, rent = u + length * step, price + length * more_price, rent + length * more_rent
        M, room = nearer, 1.0 - nearer.diagonal()[tested]
    return u, proven


def _proven(costs, squares, u, price, room) -> float:
    """The dual value of the prices, scaled until they are feasible: a lower bound on the cost.

    The left sides are convex in ``u``, so they lie above their tangents at the present point.
    """
    charged = squares.T @ price
    scale = float((costs[charged > 0] / charged[charged > 0]).min())
    return max(0.0, scale * float(price @ (squares @ u - room)))


def _reach(values: Numbers, change: Numbers) -> float:
    """How far ``values`` can move along ``change`` until one of them is zero."""
    falling = change < 0
    return float((values[falling] / -change[falling]).min()) if falling.any() else math.inf
