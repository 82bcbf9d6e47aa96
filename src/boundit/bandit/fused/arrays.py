"""A plan and what was learned by it, as arrays that kernels read and write.

The means of a pair (an arm in a context) hang on a tree: its first node is the first factor of
the plan, every cell of a factor leads on to a node of the next, and those of the last factor to
*leaves*, where rewards are. Nodes and leaves are numbered level by level, so that the edge
``e`` leads to the element ``e + 1``: a node as long as there are nodes, then the leaves. A plan
without factors is a single leaf.
"""

from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places

SEEN_WINS, SEEN_LOSSES, GUESSED_WINS, GUESSED_LOSSES = range(4)
"""Columns of ``FusedCounts.cells`` and ``FusedCounts.leaves``."""
SEEN, GUESSED = 0, 1
"""Columns of ``FusedCounts.pools``."""
WINS, LOSSES, BIAS_EVIDENCE, OWN_EVIDENCE = range(4)
"""Columns of ``FusedCounts.pairs``."""
LOG_WEIGHT, WEIGHT = 0, 1
"""Columns of ``FusedCounts.taus``."""
N_LEARNED, N_SEEN = 0, 1
"""Places in ``FusedCounts.totals``."""
SHIFTS = (0.5, 1.0, 2.0)
"""By how much better than fused a pair or an arm may be, in log odds of what it earns: columns
of ``FusedCounts.shifts``. What looks too good is played, and found out."""


class FusedLayout(NamedTuple):
    """A plan as arrays: what never changes while a policy learns.

    The edges of node ``i`` are those from ``starts[i]`` to ``starts[i + 1]``, and ``parents``
    has the node of every edge. ``pools`` is where the counts of a pair's law at a node begin,
    ``cells`` the cell of each of its leaves. ``tied`` says that two branches of a node end in
    the same cell or law, ``twins`` has for every node and leaf the first one of the same law or
    cell. ``wins`` and ``losses`` are what rows of the log count in each cell
    under each tau, the first belief (1 and 1) included; ``weights`` the same for the laws.
    ``log_prior`` is what is believed of tau at first; ``arms`` has the row of every pair's arm
    in ``FusedCounts.shifts``.
    """

    starts: Places
    parents: Places
    pools: Places
    cells: Places
    tied: Places
    twins: Places
    wins: Floats
    losses: Floats
    weights: Floats
    log_prior: Floats
    arms: Places


class FusedCounts(NamedTuple):
    """What rounds taught: rewards and cells seen, those guessed, and evidence.

    ``cells``, ``pools`` and ``own`` (the weights of each pair by itself, an entry an edge) are
    what decisions read, ``leaves`` the same rounds by pair and leaf, of which the others can be
    made. ``pairs`` has the rewards of each pair and the evidence that the fused cells, or the
    pool, are wrong for it; ``taus`` the weight of each tau; ``totals`` the rounds learned and
    those that showed all; ``shifts`` the evidence that a pair, and in the rows after those of
    pairs an arm in all contexts, is better by each of ``SHIFTS``.
    """

    cells: Floats
    pools: Floats
    own: Floats
    leaves: Floats
    pairs: Floats
    taus: Floats
    totals: Floats
    shifts: Floats


def make_counts(layout: FusedLayout, n_pairs: int) -> FusedCounts:
    """Make the counts of a policy that has learned nothing.

    ``n_pairs`` are the pairs that rewards can come from, those of the plan first.
    """
    (n_planned, n_leaves), n_edges = layout.cells.shape, layout.parents.size
    taus = np.stack([layout.log_prior, np.exp(layout.log_prior)], axis=1)
    return FusedCounts(
        np.zeros((layout.wins.shape[1], 4)),
        np.zeros((layout.weights.shape[1], 2)),
        np.zeros((n_planned, n_edges)),
        np.zeros((n_planned, n_leaves, 4)),
        np.zeros((n_pairs, 4)),
        taus,
        np.zeros(2),
        np.zeros((int(layout.arms.max(initial=-1)) + 1, len(SHIFTS))),
    )
