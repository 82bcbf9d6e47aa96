r"""Narrowing bounds in compiled code: what a round shows of weights, and the ends it leaves.

For a pool with :math:`k` of :math:`n` rounds in a cell, the likelihood ratio of a binary
variable, averaged over all chances, against the one of chance :math:`p`,

.. math:: \frac{B(k+1, n-k+1)}{p^k (1-p)^{n-k}}

is a martingale under :math:`p`, whichever arms were played and whenever one looks; by Ville's
inequality it ever reaches :math:`1/a` with chance at most :math:`a`. The chances it has not
rejected are those with :math:`n\,\mathrm{kl}(k/n, p) < \log(1/a) - \log B(k+1, n-k+1) -
n h(k/n)`, an interval around :math:`k/n`; intervals are intersected over time.
"""

import math
from typing import NamedTuple

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.kl_ucb import invert_kl

SAME, MOVED, REFUTED = range(3)
"""What a round came to: no end moved, some did, or nothing fits what was seen."""
_SLACK = 1e-9
"""By how much rounding may bring ends past each other."""


class NarrowedEnds(NamedTuple):
    """What was seen: counts of cells, what their chances may be, and the ends of each pair."""

    counts: Places
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats


class NarrowingPlan(NamedTuple):
    """What is fixed: pools with their cells and pairs, and the ends of each pair in each cell.

    Pool ``g`` has the cells from ``cells[g]`` to ``cells[g + 1]``, intervals with error
    ``level[g]``, and the members from ``members[g]`` to ``members[g + 1]``. Member ``m`` is the
    pair ``pair[m]``; its ends in the cells start at ``at[m]``, and so do their places in the
    order in which the worst law fills them.
    """

    cells: Places
    level: Floats
    members: Places
    pair: Places
    at: Places
    least: Floats
    most: Floats
    rising: Places
    falling: Places
    width: float


@compile_kernel
def bound_chance(k: float, n: float, error: float) -> tuple[float, float]:
    """Bound the chance of a cell that was seen in ``k`` of ``n`` rounds, for all ``n`` at once.

    Gives both ends of an interval that ever misses with chance ``error`` at most; a cell is a
    combination of observed levels. Called by ``_narrow_chances`` for every cell of a pool.

    >>> bound_chance(0.0, 0.0, 0.05)
    (0.0, 1.0)
    >>> low, high = bound_chance(50.0, 100.0, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.345, 0.655)
    """
    if n <= 0.0:
        return 0.0, 1.0
    share = k / n
    log_beta = math.lgamma(k + 1.0) + math.lgamma(n - k + 1.0) - math.lgamma(n + 2.0)
    entropy = 0.0
    if 0.0 < k < n:
        entropy = -share * math.log(share) - (1.0 - share) * math.log1p(-share)
    budget = (-math.log(error) - log_beta) / n - entropy
    return 1.0 - invert_kl(1.0 - share, budget), invert_kl(share, budget)


@compile_kernel
def find_extreme_mean(
    values: Floats, order: Places, at: int, low: Floats, high: Floats, first: int, n: int
) -> float:
    """Find the extreme mean of ``n`` values over all laws between ``low`` and ``high``.

    Every cell gets its least chance, and what is left goes to the cells in the given order: by
    rising values the mean is the lowest, by falling ones the highest. Called by
    ``_narrow_ends`` for both ends of every pair of a pool.
    """
    left, mean = 1.0, 0.0
    for i in range(n):
        left -= low[first + i]
        mean += low[first + i] * values[at + i]
    for k in range(n):
        i = order[at + k]
        more = max(min(left, high[first + i] - low[first + i]), 0.0)
        mean += more * values[at + i]
        left -= more
    # What rounding left over counts as the worst.
    return float(mean + left * values[at + order[at]])


@inline_kernel
def _narrow_chances(ends: NarrowedEnds, first: int, stop: int, level: float) -> int:
    """Narrow the interval of each cell's chance in one pool by the counts so far.

    A cell is a combination of observed levels, a pool the arms and contexts that share its
    chance. Gives whether an interval moved, none did, or no law is left (refuted). Called by
    ``learn_cell`` for every round seen, and by ``narrow_pool``.
    """
    n, least, most, moved = 0, 0.0, 0.0, SAME
    for i in range(first, stop):
        n += ends.counts[i]
    for i in range(first, stop):
        low, high = bound_chance(float(ends.counts[i]), float(n), level)
        if low > ends.low[i]:
            ends.low[i], moved = low, MOVED
        if high < ends.high[i]:
            ends.high[i], moved = high, MOVED
        least += ends.low[i]
        most += ends.high[i]
        if ends.low[i] > ends.high[i] + _SLACK:
            return REFUTED
    return REFUTED if least > 1.0 + _SLACK or most < 1.0 - _SLACK else moved


@inline_kernel
def _narrow_ends(ends: NarrowedEnds, plan: NarrowingPlan, pool: int) -> int:
    """Narrow the bound of every arm and context in a pool by what cells' chances may be.

    The ends are the lowest and highest mean over all laws left. Gives whether an end moved,
    none did, or the ends cross (refuted). Called by ``learn_cell`` where an interval moved, and
    by ``narrow_pool``.
    """
    first, moved = plan.cells[pool], SAME
    n = plan.cells[pool + 1] - first
    for m in range(plan.members[pool], plan.members[pool + 1]):
        at, j = plan.at[m], plan.pair[m]
        low = find_extreme_mean(plan.least, plan.rising, at, ends.low, ends.high, first, n)
        high = find_extreme_mean(plan.most, plan.falling, at, ends.low, ends.high, first, n)
        if low > ends.lower[j]:
            ends.lower[j], moved = low, MOVED
        if high < ends.upper[j]:
            ends.upper[j], moved = high, MOVED
        if ends.lower[j] > ends.upper[j] + _SLACK * plan.width:
            return REFUTED
        ends.lower[j] = min(ends.lower[j], ends.upper[j])
    return moved


@compile_kernel
def narrow_pool(ends: NarrowedEnds, plan: NarrowingPlan, pool: int) -> int:
    """Narrow the bounds of the arms and contexts in a pool by all that was counted.

    Gives whether an end moved, none did, or the bounds are refuted. Called by
    ``NarrowingBounds.settle`` for every pool, when counts were read or joined.
    """
    came = _narrow_chances(ends, plan.cells[pool], plan.cells[pool + 1], plan.level[pool])
    return came if came == REFUTED else _narrow_ends(ends, plan, pool)


@compile_kernel
def learn_cell(ends: NarrowedEnds, plan: NarrowingPlan, pool: int, cell: int) -> int:
    """Count one observed cell of a pool, and narrow the bounds of the pool's pairs by it.

    A cell is a combination of levels that a round showed, a pool the arms and contexts where it
    counts. Gives whether an end moved, none did, or the bounds are refuted. Called by
    ``_learn_observation`` in whole runs, by ``learn_cell_from_arrays`` for one reward.
    """
    ends.counts[plan.cells[pool] + cell] += 1
    came = _narrow_chances(ends, plan.cells[pool], plan.cells[pool + 1], plan.level[pool])
    return _narrow_ends(ends, plan, pool) if came == MOVED else came


@compile_kernel
def learn_cell_from_arrays(pool: int, cell: int, *parts: Floats | Places | float) -> int:
    """Do ``learn_cell`` for Python: count an observed cell, narrow bounds, say if they moved.

    The arrays of both tuples come one by one, which is three times as quick. Called by
    ``NarrowingBounds.learn_cells`` for every reward that comes with an observation.
    """
    return learn_cell(NarrowedEnds(*parts[:5]), NarrowingPlan(*parts[5:]), pool, cell)  # type: ignore[arg-type]
