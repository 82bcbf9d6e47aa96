r"""Narrowing bounds in compiled code: what a round shows of weights and rewards, and the ends.

For a cell with :math:`k` successes in :math:`n` draws, the likelihood ratio of a binary
variable, averaged over all chances, against the one of chance :math:`p`,

.. math:: \frac{B(k+1, n-k+1)}{p^k (1-p)^{n-k}}

is a martingale under :math:`p`, whichever arms were played and whenever one looks; by Ville's
inequality it ever reaches :math:`1/a` with chance at most :math:`a`. The chances it has not
rejected are those with :math:`n\,\mathrm{kl}(k/n, p) < \log(1/a) - \log B(k+1, n-k+1) -
n h(k/n)`, an interval around :math:`k/n`; intervals are intersected over time. Rewards between
0 and 1 need not be binary: :math:`q^y (1-q)^{1-y} / (p^y (1-p)^{1-y})` is convex in :math:`y`,
so that its mean is no more than that of a binary reward of the same mean, which is 1.

Rows of a log that are draws come first in the sequence, and rounds after them.
"""

import math
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.kl_ucb import invert_kl

SAME, MOVED, REFUTED = range(3)
"""What a round came to: no end moved, some did, or nothing fits what was seen."""
_SLACK = 1e-9
"""By how much rounding may bring ends past each other."""


class NarrowedEnds(NamedTuple):
    """What rounds showed, and what is left: of chances, of means in cells, and of each pair.

    ``counts`` are rounds by the places of chances, which lie between ``low`` and ``high``;
    ``n`` and ``sums`` rounds and their rewards, from 0 to 1, by cells of rewards, whose means
    lie between ``least`` and ``most``. The mean of a pair lies between ``lower`` and ``upper``.
    """

    counts: Places
    low: Floats
    high: Floats
    n: Places
    sums: Floats
    least: Floats
    most: Floats
    lower: Floats
    upper: Floats


class NarrowingPlan(NamedTuple):
    """What is fixed: pools with their chances, cells of rewards, and the tree of each member.

    Pool ``g`` has the chances from ``pool_starts[g]`` to ``pool_starts[g + 1]``, with ``rows``
    of the log each and intervals with error ``pool_level[g]``. Cell ``i`` of rewards has
    ``cell_rows[i]`` of the log with the sum ``cell_sums[i]``, and error ``cell_level[i]``, 0 if
    rounds do not count in it.

    Member ``m`` is the pair ``pair[m]`` in one plan. Its factors are those from ``first[m]`` to
    ``stop[m]``, of ``sizes`` cells each. Their pools, for each way to get there, follow each
    other in ``pools`` from ``pools_at[m]``, the cells of its leaves in ``leaves`` from
    ``leaves_at[m]``. Members that hang on a pool or a cell are listed from ``pool_users_at``
    and ``cell_users_at`` on. Rewards lie between ``lowest`` and ``lowest + width``.
    """

    pool_starts: Places
    pool_level: Floats
    rows: Places
    cell_level: Floats
    cell_rows: Places
    cell_sums: Floats
    pair: Places
    first: Places
    stop: Places
    sizes: Places
    pools_at: Places
    pools: Places
    leaves_at: Places
    leaves: Places
    pool_users_at: Places
    pool_users: Places
    cell_users_at: Places
    cell_users: Places
    lowest: float
    width: float


@compile_kernel
def bound_chance(k: float, n: float, error: float) -> tuple[float, float]:
    """Bound the chance of a cell that was seen in ``k`` of ``n`` draws, for all ``n`` at once.

    Gives both ends of an interval that ever misses with chance ``error`` at most; ``k`` may
    also be the sum of rewards between 0 and 1, and the interval that of their mean. Called by
    ``_narrow_chances`` for every cell of a pool, and by ``_narrow_cell``.

    >>> bound_chance(0.0, 0.0, 0.05)
    (0.0, 1.0)
    >>> low, high = bound_chance(50.0, 100.0, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.345, 0.655)
    """
    if n <= 0.0:
        return 0.0, 1.0
    share = min(k / n, 1.0)
    log_beta = math.lgamma(k + 1.0) + math.lgamma(max(n - k, 0.0) + 1.0) - math.lgamma(n + 2.0)
    entropy = 0.0
    if 0.0 < share < 1.0:
        entropy = -share * math.log(share) - (1.0 - share) * math.log1p(-share)
    budget = (-math.log(error) - log_beta) / n - entropy
    return 1.0 - invert_kl(1.0 - share, budget), invert_kl(share, budget)


@compile_kernel
def find_extreme_mean(
    values: Floats, at: int, sign: float, low: Floats, high: Floats, first: int, order: Places
) -> float:
    """Find the extreme mean of values over all laws between ``low`` and ``high``.

    Every cell gets its least chance, and what is left goes to the cells by rising values if
    ``sign`` is 1, which makes the mean the lowest, by falling ones if it is -1. ``order`` has a
    place for each value, and is overwritten. Called by ``_find_tree_mean`` for every node of a
    member's tree.
    """
    n = order.size
    left, mean = 1.0, 0.0
    for i in range(n):
        left -= low[first + i]
        mean += low[first + i] * values[at + i]
        k = i
        while k > 0 and sign * values[at + order[k - 1]] > sign * values[at + i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
    for k in range(n):
        i = order[k]
        more = max(min(left, high[first + i] - low[first + i]), 0.0)
        mean += more * values[at + i]
        left -= more
    # What rounding left over counts as the worst.
    return float(mean + left * values[at + order[0]])


@inline_kernel
def _find_tree_mean(
    ends: NarrowedEnds, plan: NarrowingPlan, member: int, cells: Floats, sign: float
) -> float:
    """Find the extreme mean of a member's rewards over all laws that are left of its factors.

    ``cells`` are the least or the greatest means of cells of rewards. From the last factor back
    to the first, each node of the tree gets the extreme mean of those below it. Called by
    ``_narrow_ends`` for both ends of every member.
    """
    n = 1
    for f in range(plan.first[member], plan.stop[member]):
        n *= plan.sizes[f]
    values, at = np.empty(n), plan.leaves_at[member]
    for leaf in range(n):
        values[leaf] = cells[plan.leaves[at + leaf]]
    # Places of a factor's pools start after those of all factors before it.
    start = plan.pools_at[member]
    before = 1
    for f in range(plan.first[member], plan.stop[member] - 1):
        start += before
        before *= plan.sizes[f]
    for f in range(plan.stop[member] - 1, plan.first[member] - 1, -1):
        size = plan.sizes[f]
        order = np.empty(size, np.int64)
        for node in range(before):
            first = plan.pool_starts[plan.pools[start + node]]
            values[node] = find_extreme_mean(
                values, node * size, sign, ends.low, ends.high, first, order
            )
        if f > plan.first[member]:
            before //= plan.sizes[f - 1]
            start -= before
    return float(values[0])


@inline_kernel
def _narrow_chances(ends: NarrowedEnds, plan: NarrowingPlan, pool: int) -> int:
    """Narrow the interval of each chance in one pool by the rows and rounds counted so far.

    A pool is the arms and contexts that share the chances of some cells. Gives whether an
    interval moved, none did, or no law is left (refuted). Called by ``learn_round`` for every
    pool that a round tells of, and by ``narrow_all``.
    """
    first, stop = plan.pool_starts[pool], plan.pool_starts[pool + 1]
    n, least, most, moved = 0, 0.0, 0.0, SAME
    for i in range(first, stop):
        n += plan.rows[i] + ends.counts[i]
    for i in range(first, stop):
        k = float(plan.rows[i] + ends.counts[i])
        low, high = bound_chance(k, float(n), plan.pool_level[pool])
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
def _narrow_cell(ends: NarrowedEnds, plan: NarrowingPlan, cell: int) -> int:
    """Narrow the interval of the mean reward in one cell by its rows and rounds so far.

    Gives whether it moved, did not, or is empty (refuted). Called by ``learn_round`` for the
    cell of a round, and by ``narrow_all``.
    """
    moved = SAME
    if plan.cell_level[cell] <= 0.0:
        return moved
    total = plan.cell_sums[cell] + ends.sums[cell]
    n = float(plan.cell_rows[cell] + ends.n[cell])
    low, high = bound_chance(total, n, plan.cell_level[cell])
    low, high = plan.lowest + plan.width * low, plan.lowest + plan.width * high
    if low > ends.least[cell]:
        ends.least[cell], moved = low, MOVED
    if high < ends.most[cell]:
        ends.most[cell], moved = high, MOVED
    return REFUTED if ends.least[cell] > ends.most[cell] + _SLACK * plan.width else moved


@compile_kernel
def _narrow_ends(
    ends: NarrowedEnds, plan: NarrowingPlan, members: Places, first: int, stop: int
) -> int:
    """Narrow the bounds of some members by what chances and means of cells may be.

    They are ``members`` from ``first`` to ``stop``; the ends of each are the lowest and highest
    mean over all that is left. Gives whether an end moved, none did, or the ends cross
    (refuted). Called by ``learn_round`` where an interval moved, and by ``narrow_all``.
    """
    moved = SAME
    for k in range(first, stop):
        m = members[k]
        j = plan.pair[m]
        low = _find_tree_mean(ends, plan, m, ends.least, 1.0)
        high = _find_tree_mean(ends, plan, m, ends.most, -1.0)
        if low > ends.lower[j]:
            ends.lower[j], moved = low, MOVED
        if high < ends.upper[j]:
            ends.upper[j], moved = high, MOVED
        if ends.lower[j] > ends.upper[j] + _SLACK * plan.width:
            return REFUTED
        ends.lower[j] = min(ends.lower[j], ends.upper[j])
    return moved


@compile_kernel
def narrow_all(
    ends: NarrowedEnds, plan: NarrowingPlan, pools: Places, cells: Places, members: Places
) -> int:
    """Narrow some pools, cells and the bounds of some members by all that was counted.

    Gives whether the bounds are refuted; else that they moved. Called by
    ``NarrowingBounds.settle`` for every plan, when counts were read or joined.
    """
    for pool in pools:
        if _narrow_chances(ends, plan, pool) == REFUTED:
            return REFUTED
    for cell in cells:
        if _narrow_cell(ends, plan, cell) == REFUTED:
            return REFUTED
    return max(MOVED, _narrow_ends(ends, plan, members, 0, members.size))


@compile_kernel
def learn_round(
    ends: NarrowedEnds, plan: NarrowingPlan, member: int, leaf: int, reward: float
) -> int:
    """Count one round that showed a leaf of a member, and narrow all bounds that it tells of.

    A leaf is a combination of cells of all factors, a member a pair of arm and context in one
    plan. Gives whether an end moved, none did, or the bounds are refuted. Called by
    ``_learn_observation`` in whole runs, by ``learn_round_from_arrays`` for one reward.
    """
    cell = plan.leaves[plan.leaves_at[member] + leaf]
    ends.n[cell] += 1
    ends.sums[cell] += min(max((reward - plan.lowest) / plan.width, 0.0), 1.0)
    cell_came, came = _narrow_cell(ends, plan, cell), SAME
    if cell_came == REFUTED:
        return REFUTED
    left = 1
    for f in range(plan.first[member], plan.stop[member]):
        left *= plan.sizes[f]
    at, before, prefix = plan.pools_at[member], 1, 0
    for f in range(plan.first[member], plan.stop[member]):
        size = plan.sizes[f]
        left //= size
        place = leaf // left % size
        pool = plan.pools[at + prefix]
        ends.counts[plan.pool_starts[pool] + place] += 1
        pool_came = _narrow_chances(ends, plan, pool)
        if pool_came == MOVED:
            start, stop = plan.pool_users_at[pool], plan.pool_users_at[pool + 1]
            pool_came = _narrow_ends(ends, plan, plan.pool_users, start, stop)
        if pool_came == REFUTED:
            return REFUTED
        came = max(came, pool_came)
        at += before
        before *= size
        prefix = prefix * size + place
    if cell_came == MOVED:
        start, stop = plan.cell_users_at[cell], plan.cell_users_at[cell + 1]
        came = max(came, _narrow_ends(ends, plan, plan.cell_users, start, stop))
    return came


@compile_kernel
def learn_round_from_arrays(
    member: int, leaf: int, reward: float, *parts: Floats | Places | float
) -> int:
    """Do ``learn_round`` for Python: count a round, narrow bounds, say if they moved.

    The arrays of both tuples come one by one, which is three times as quick. Called by
    ``NarrowingBounds.learn_cells`` for every reward that comes with an observation.
    """
    ends, plan = NarrowedEnds(*parts[:9]), NarrowingPlan(*parts[9:])  # type: ignore[arg-type]
    return learn_round(ends, plan, member, leaf, reward)
