"""Whole runs of LinUCB whose rounds narrow its bounds, in compiled code.

Ends move as a run goes on, and with them the order of the arms, so all arms of a context are
scored: the same one wins as if they were looked at by decreasing upper end.
"""

from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.lin_ucb import score_arm
from boundit.bandit.kernels.narrowing import REFUTED, NarrowedEnds, NarrowingPlan, learn_round
from boundit.bandit.kernels.ridge import locate_version, update_model
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LIN_UCB_VERSION,
    LOWER,
    POSITION,
    STATISTICS,
    UPPER,
    is_ahead,
)


class NarrowingLayout(NamedTuple):
    """What runs start from, and what their rounds show of which pair.

    ``pair`` is the pair in each row of the score table and ``members`` its number in each plan,
    -1 for none. ``cells`` is, for each plan, the cell of what the environment shows, -1 if that
    is not all of its variables; ``shows`` are the chances of the environment's cells added up,
    rows of the table x rewards x cells.
    """

    ends: NarrowedEnds
    plan: NarrowingPlan
    pair: Places
    members: Places
    cells: Places
    shows: Floats


@inline_kernel
def _find_best_arm(
    models: Floats,
    x: Floats,
    score_table: Floats,
    span: tuple[int, int],
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    ends: NarrowedEnds,
    pair: Places,
    scratch: Floats,
) -> int:
    """Find the row of the arm with LinUCB's highest index, capped by ends narrowed so far.

    Called by ``play_lin_ucb_narrowing`` in every round.
    """
    version, winner = locate_version(scratch.size), -1
    best, best_free, best_position = -np.inf, -np.inf, np.inf
    for arm in range(span[0], span[1]):
        j = pair[arm]
        if j >= 0:
            score_table[arm, LOWER], score_table[arm, UPPER] = ends.lower[j], ends.upper[j]
        if (
            score_table[arm, LIN_UCB_VERSION]
            != models[int(score_table[arm, STATISTICS]) + version]
        ):
            score_arm(models, x, score_table, arm, d, alpha, scratch)
        free, position = score_table[arm, FREE_SCORE], score_table[arm, POSITION]
        index = min(free, score_table[arm, UPPER])
        if floor:
            index = max(index, score_table[arm, LOWER])
        if winner < 0 or is_ahead(index, free, position, best, best_free, best_position):
            winner, best, best_free, best_position = arm, index, free, position
    return winner


@inline_kernel
def _learn_observation(
    layout: NarrowingLayout, ends: NarrowedEnds, arm: int, reward: int, luck: float
) -> int:
    """Draw what a round shows besides its reward, and narrow the bounds by it.

    ``luck`` is the uniform number that decides it, nan where the round shows nothing. Gives
    whether ends moved, or were refuted. Called by ``play_lin_ucb_narrowing`` in every round.
    """
    cell, came = 0, 0
    if np.isnan(luck):
        return came
    while cell < layout.shows.shape[2] - 1 and luck >= layout.shows[arm, reward, cell]:
        cell += 1
    for plan in range(layout.members.shape[0]):
        member, its = layout.members[plan, arm], layout.cells[plan, cell]
        if member >= 0 and its >= 0:
            came = max(came, learn_round(ends, layout.plan, member, its, float(reward)))
    return came


@compile_kernel
def play_lin_ucb_narrowing(
    start: Floats,
    x: Floats,
    start_table: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    layout: NarrowingLayout,
    seeing: Floats,
    batch: BatchArrays,
) -> Places:
    """Play whole runs of LinUCB while rounds narrow its bounds; gives the arm of each round.

    As the environment numbers its arms. A run that refutes the bounds goes on without them, and
    with arms that are not here: it has -1 for every pull. Called by ``LinUCB.play_batch`` where
    rounds narrow the bounds.
    """
    runs, length = batch.contexts.shape
    pulls = np.empty((runs, length), np.int64)
    scratch, begun = np.empty(x.size // batch.target.size), layout.ends
    for run in range(runs):
        models, score_table = start.copy(), start_table.copy()
        score_table[:, LIN_UCB_VERSION] = -1.0
        ends = NarrowedEnds(
            begun.counts.copy(),
            begun.low.copy(),
            begun.high.copy(),
            begun.n.copy(),
            begun.sums.copy(),
            begun.least.copy(),
            begun.most.copy(),
            begun.lower.copy(),
            begun.upper.copy(),
        )
        for t in range(length):
            c = batch.contexts[run, t]
            span = (batch.starts[c], batch.starts[c + 1])
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                arm = _find_best_arm(
                    models, x, score_table, span, d, alpha, floor, ends, layout.pair, scratch
                )
            pulls[run, t] = batch.target[arm]
            reward = 1 if batch.uniforms[run, t] < batch.means[arm] else 0
            row, model = arm * scratch.size, int(score_table[arm, STATISTICS])
            update_model(models, model, x, row, d, float(reward), scratch)
            if _learn_observation(layout, ends, arm, reward, seeing[run, t]) == REFUTED:
                pulls[run] = -1
                break
    return pulls
