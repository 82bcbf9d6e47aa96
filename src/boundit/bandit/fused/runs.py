"""Whole runs of the fused policy in compiled code, by the loops that one decision goes by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.fused.arrays import N_LEARNED, N_SEEN, FusedCounts, FusedLayout
from boundit.bandit.fused.decide import FusedOptions, find_best_arm
from boundit.bandit.fused.learn import learn_particles, learn_round, weigh_particles
from boundit.bandit.fused.particles import ParticleCounts, ParticleLaws
from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.rng import open_stream
from boundit.bandit.kernels.score_table import STATISTICS

FEW = 10
"""Particles decide as long as fewer than one in so many rounds showed all."""


class Sights(NamedTuple):
    """What rounds of whole runs show: nothing where ``luck`` is nan or has no rounds.

    ``luck`` decides it, runs x rounds. ``ends`` are the chances of the environment's cells
    added up, rows of the score table x rewards x cells; ``leaves`` the leaf of each cell, -1
    where it does not say all, and ``may_be`` the leaves that it leaves open.
    """

    luck: Floats
    ends: Floats
    leaves: Places
    may_be: NDArray[np.bool_]


@inline_kernel
def is_blind(totals: Floats) -> bool:
    """Tell whether so few rounds showed the plan's variables that particles decide."""
    return bool(totals[N_SEEN] * FEW < totals[N_LEARNED])


@compile_kernel
def learn_blind_rounds(
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    pairs: Places,
    rewards: Floats,
    may_be: NDArray[np.bool_],
    scratch: Floats,
) -> None:
    """Learn rounds that showed too little, in their order, once particles are there.

    Each as ``FusedBeliefs._learn`` would; ``may_be`` has a row for each. To go in and out of
    compiled code takes longer than a round.
    """
    for i in range(pairs.size):
        predicted, blind = (-1.0, -1.0), is_blind(counts.totals)
        if pairs[i] < layout.cells.shape[0]:
            found = learn_particles(laws, learned, pairs[i], rewards[i])
            predicted = found if blind else predicted
        learn_round(layout, counts, pairs[i], rewards[i], -1, may_be[i], predicted, scratch)


@inline_kernel
def find_shown(sights: Sights, run: int, t: int, row: int, reward: int) -> int:
    """Find the cell that a round shows, -1 for none."""
    if sights.luck.shape[1] == 0 or np.isnan(sights.luck[run, t]):
        return -1
    cell = 0
    while (
        cell < sights.ends.shape[2] - 1
        and sights.luck[run, t] >= sights.ends[row, reward, cell]
    ):
        cell += 1
    return cell


@inline_kernel
def find_leaf(sights: Sights, cell: int, bare: bool) -> int:  # noqa: FBT001
    """Find the leaf of a cell that a round shows, -1 where it shows none or not all.

    A plan without factors is ``bare``: it has one leaf, which every round is in.
    """
    if bare:
        return 0
    return int(sights.leaves[cell]) if cell >= 0 else -1


@compile_kernel
def play_fused(
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    options: FusedOptions,
    score_table: Floats,
    sights: Sights,
    batch: BatchArrays,
) -> Places:
    """Play whole runs of the fused policy; gives the arm pulled in every run and round.

    As the environment numbers its arms. ``counts`` and ``learned`` are those of nothing
    learned.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    scratch = np.empty((6, layout.starts.size + layout.cells.shape[1]))
    anything = np.ones(layout.cells.shape[1], np.bool_)
    scale = options.high - options.low
    for run in range(runs):
        own = FusedCounts(
            counts.cells.copy(),
            counts.pools.copy(),
            counts.own.copy(),
            counts.leaves.copy(),
            counts.pairs.copy(),
            counts.taus.copy(),
            counts.totals.copy(),
            counts.shifts.copy(),
        )
        its = ParticleCounts(learned.units.copy(), learned.weights.copy(), learned.taus.copy())
        spread = False
        for t in range(rounds):
            c = batch.contexts[run, t]
            blind = spread and is_blind(own.totals)
            row = find_explored_row(batch, run, t)
            if row < 0:
                row = find_best_arm(
                    layout,
                    own,
                    laws,
                    its,
                    blind,
                    options,
                    score_table,
                    batch.starts[c],
                    batch.starts[c + 1],
                    open_stream(batch.seeds[run], t),
                    scratch,
                )
            pulls[run, t] = batch.target[row]
            reward = 1 if batch.uniforms[run, t] < batch.means[row] else 0
            cell = find_shown(sights, run, t, row, reward)
            pair = int(score_table[row, STATISTICS])
            leaf = find_leaf(sights, cell, layout.starts.size == 1)
            may_be = sights.may_be[cell] if cell >= 0 else anything
            value, predicted = (float(reward) - options.low) / scale, (-1.0, -1.0)
            if leaf < 0 and not spread:
                weigh_particles(laws, its, own.pairs, layout.log_prior)
                spread = True
            if spread and pair < layout.cells.shape[0]:
                found = learn_particles(laws, its, pair, value)
                predicted = found if blind else predicted
            learn_round(layout, own, pair, value, leaf, may_be, predicted, scratch)
    return pulls
