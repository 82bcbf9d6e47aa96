"""Rivals that count the log's rows of an arm and a context as rewards: MIN-UCB and VirUCB.

MIN-UCB (Cheung and Lyu 2024) takes the lower of two indices: by rewards alone, and by rewards
and rows together, raised by the share of rows times a bound on their bias, which has to be
given; here it comes from our bounds. That the two are compared, and that a bound on the bias is
needed, is from the paper's abstract; the radius is from memory.

VirUCB (Li, Xie, Lin and Lui 2021) lets UCB ask the log first: as long as it has a row of the
context with the arm that UCB would play, the row is played and used up. That log and rounds
share one algorithm is from the paper's abstract, the rest from memory; it takes a log to be
unconfounded given the context and not selected.

The option ``scale``, 1 unless tuned, multiplies what an index adds to the mean.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.rng import branch_stream, draw_uniform, open_stream
from boundit_research.rivals.bounded_kernels import count_plays, find_best_row
from boundit_research.rivals.columns import (
    BIAS,
    FREE,
    INDEX,
    LOG_ROWS,
    LOG_TOTAL,
    NUMBER,
    PLAYS,
    TOTAL,
)


@compile_kernel
def decide_min_ucb(block: Floats, scale: float) -> int:
    """Make one decision of MIN-UCB; gives the arm's row.

    The radius after n samples is ``sqrt(2 log(2 t / d) / n)`` with ``d = 1 / (2 K t^2)``, for K
    arms in round t of the context.
    """
    t, arms = count_plays(block) + 1.0, block.shape[0]
    surprise = 2.0 * math.log(4.0 * arms * t**3)
    for arm in range(arms):
        plays, rows = block[arm, PLAYS], block[arm, LOG_ROWS]
        online, pooled = np.inf, np.inf
        if plays > 0.0:
            online = block[arm, TOTAL] / plays + scale * math.sqrt(surprise / plays)
        if plays + rows > 0.0:
            mean = (block[arm, TOTAL] + block[arm, LOG_TOTAL]) / (plays + rows)
            radius = scale * math.sqrt(surprise / (plays + rows))
            pooled = mean + radius + rows / (plays + rows) * block[arm, BIAS]
        block[arm, FREE] = block[arm, INDEX] = min(online, pooled)
    return find_best_row(block)


@inline_kernel
def _find_ucb_row(block: Floats, scale: float) -> int:
    """Find the arm with UCB's highest index, ``mean + sqrt(2 log t / n)``."""
    surprise = 2.0 * math.log(count_plays(block) + 1.0)
    for arm in range(block.shape[0]):
        plays, index = block[arm, PLAYS], np.inf
        if plays > 0.0:
            index = block[arm, TOTAL] / plays + scale * math.sqrt(surprise / plays)
        block[arm, FREE] = block[arm, INDEX] = index
    return find_best_row(block)


@compile_kernel
def decide_vir_ucb(block: Floats, scale: float) -> int:
    """Make one decision of VirUCB; gives the arm's row, of which no row of the log is left."""
    return _find_ucb_row(block, scale)


@compile_kernel
def play_log_rows(block: Floats, scale: float, seed: int | np.uint64) -> None:
    """Play rows of the log in one context, as long as it has one of the arm that UCB wants.

    Which of the pair's rows comes next is drawn by the seed.
    """
    while True:
        arm = _find_ucb_row(block, scale)
        rows = block[arm, LOG_ROWS]
        if rows < 1.0:
            return
        stream = branch_stream(open_stream(seed, int(block[arm, NUMBER])), int(rows))
        uniform, _ = draw_uniform(stream)
        reward = 1.0 if uniform * rows < block[arm, LOG_TOTAL] else 0.0
        block[arm, LOG_ROWS] -= 1.0
        block[arm, LOG_TOTAL] -= reward
        block[arm, PLAYS] += 1.0
        block[arm, TOTAL] += reward
