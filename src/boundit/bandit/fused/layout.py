"""From a plan to arrays: trees of cells, and what rows of the log count for under each tau."""

import math
from collections.abc import Sequence

import numpy as np

from boundit.bandit.fused.arrays import FusedLayout
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.fused_plan import Factor, FusedPlan

TAUS = (0.0, 0.025, 0.05, 0.1, 0.2, math.inf)
"""The sizes that the log's bias may have."""
PRIOR = (0.7, 0.06, 0.06, 0.06, 0.06, 0.06)
"""How likely each of them is at first."""


def lay_out_plan(plan: FusedPlan, taus: Sequence[float], prior: Sequence[float]) -> FusedLayout:
    """Put a plan into arrays for kernels, with what its rows count for under each tau.

    ``taus`` are the sizes that the log's bias may have, ``prior`` how likely each is.
    """
    sizes = [len(factor.cells) for factor in plan.factors]
    starts, parents = _number_edges(sizes)
    offsets, weights = _lay_out_pools(plan.factors, taus)
    n_pairs = len(plan.pairs)
    rows = [
        np.array(factor.pools, np.int64).reshape(n_pairs, -1) * len(factor.cells) + offset
        for factor, offset in zip(plan.factors, offsets, strict=True)
    ]
    pools = np.concatenate([np.zeros((n_pairs, 0), np.int64), *rows], axis=1)
    cells = np.array(plan.cells, np.int64).reshape(n_pairs, plan.n_leaves)
    n, sums = np.array(plan.n, np.float64), np.array(plan.sums, np.float64)
    means = np.divide(sums, n, out=np.zeros_like(n), where=n > 0)
    arms = {arm: i for i, arm in enumerate(plan.arms, n_pairs)}
    effective = np.array([count_discounted(n, sums, tau) for tau in taus])
    return FusedLayout(
        starts,
        parents,
        np.ascontiguousarray(pools),
        cells,
        *_find_shared(starts, pools, cells),
        1.0 + means * effective,
        1.0 + (1.0 - means) * effective,
        weights,
        np.log(np.array(prior)),
        np.array([arms[arm] for arm, _ in plan.pairs], np.int64),
    )


def count_discounted(n: Floats, sums: Floats, tau: float) -> Floats:
    """Count for how many rows those of a cell stand, if their mean may be off by about tau.

    ``1 / (1/n + tau^2 / (v (1 - v)))``, where ``v`` is their mean: never more than ``n``, and
    none where tau is infinite.

    >>> count_discounted(np.array([100.0, 1e9]), np.array([50.0, 5e8]), 0.05).round(2).tolist()
    [50.0, 100.0]
    """
    if math.isinf(tau):
        return np.zeros_like(n)
    v = (sums + 0.5) / (n + 1.0)
    found: Floats = n / (1.0 + n * tau**2 / (v * (1.0 - v)))
    return found


def discount_weights(counts: Floats, tau: float) -> Floats:
    """Count for how many rows those of a law stand, if its shares may be off by about tau.

    Shares stay as they are; with two cells this is what ``count_discounted`` does.

    >>> discount_weights(np.array([[50.0, 50.0]]), 0.05).round(2).tolist()
    [[25.0, 25.0]]
    """
    if math.isinf(tau):
        return np.zeros_like(counts)
    n = counts.sum(axis=1, keepdims=True)
    shares = (counts + 0.5) / (n + 0.5 * counts.shape[1])
    spread = 1.0 - (shares**2).sum(axis=1, keepdims=True)
    found: Floats = counts / (1.0 + n * counts.shape[1] * tau**2 / spread)
    return found


def _number_edges(sizes: Sequence[int]) -> tuple[Places, Places]:
    """Number the edges of the tree that factors of some sizes make, level by level.

    Gives where the edges of every node begin, and the node of every edge.

    >>> starts, parents = _number_edges([2, 3])
    >>> starts.tolist(), parents.tolist()
    ([0, 2, 5, 8], [0, 0, 1, 1, 1, 2, 2, 2])
    """
    widths, prefixes = list[int](), 1
    for size in sizes:
        widths += [size] * prefixes
        prefixes *= size
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    return starts, np.repeat(np.arange(len(widths), dtype=np.int64), widths)


def _lay_out_pools(
    factors: Sequence[Factor], taus: Sequence[float]
) -> tuple[list[int], Floats]:
    """Put the counts of all laws of all factors after each other, under each tau.

    Gives where those of each factor begin, and the counts with one more for each cell.
    """
    offsets, size, parts = list[int](), 0, [np.zeros((len(taus), 0))]
    for factor in factors:
        counts = np.array(factor.counts, np.float64).reshape(-1, len(factor.cells))
        offsets.append(size)
        size += counts.size
        parts.append(1.0 + np.array([discount_weights(counts, tau).ravel() for tau in taus]))
    return offsets, np.concatenate(parts, axis=1)


def _find_shared(starts: Places, pools: Places, cells: Places) -> tuple[Places, Places]:
    """Find for every pair which parts of its tree go by the same law or end in the same cell.

    Gives a mark for every node two branches of which do, and for every node and leaf the first
    one of the same law or cell.
    """
    n_nodes, n_pairs = starts.size - 1, len(cells)
    tied = np.zeros((n_pairs, n_nodes), np.int64)
    twins = np.zeros((n_pairs, n_nodes + cells.shape[1]), np.int64)
    for pair in range(n_pairs):
        # Laws get negative names, so that they are never mistaken for cells.
        names = [*(-1 - pools[pair]).tolist(), *cells[pair].tolist()]
        twins[pair] = [names.index(name) for name in names]
        below = [{name} for name in names]
        for node in range(n_nodes - 1, -1, -1):
            branches = below[starts[node] + 1 : starts[node + 1] + 1]
            whole = set[int]().union(*branches)
            tied[pair, node] = len(whole) < sum(map(len, branches))
            below[node] = below[node] | whole
    return tied, twins
