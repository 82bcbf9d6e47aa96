"""ARRoW-CB (Zhang, Agarwal, Daume, Langford and Negahban 2019): how much to weigh the log.

A model is fitted for each of several weights between log and rounds; the one whose choices
would have earned most in the rounds so far, by inverse propensities, is played, and a share of
rounds explores. That data of two sources are weighed, and the weight is learned, is from the
paper's abstract; the list of weights, progressive validation and the share are from memory.
Models here are means of each arm and context. In the paper a row of the log tells the cost of
every arm; a row of ours tells that of one.

The option ``scale``, 1 unless tuned, multiplies the share of rounds that explore.
"""

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.rng import draw_uniform
from boundit.studies.rivals.bounded_kernels import find_best_row
from boundit.studies.rivals.columns import (
    FREE,
    INDEX,
    LOG_ROWS,
    LOG_TOTAL,
    PLAYS,
    TOTAL,
)

WEIGHTS = np.array([0.5, 0.0, 0.125, 0.25, 0.75, 0.875, 1.0])
"""How much rounds weigh against rows of the log; the first is played until one is better."""
_EXPLORE = 0.05


@compile_kernel
def find_greedy_row(block: Floats, weight: float) -> int:
    """Find the arm that looks best when rounds weigh so much; gives its row.

    Called by ``decide_arrow`` and, for every weight, by ``learn_arrow``.
    """
    for arm in range(block.shape[0]):
        n = (1.0 - weight) * block[arm, LOG_ROWS] + weight * block[arm, PLAYS]
        total = (1.0 - weight) * block[arm, LOG_TOTAL] + weight * block[arm, TOTAL]
        block[arm, FREE] = block[arm, INDEX] = (total + 0.5) / (n + 1.0)
    return find_best_row(block)


@inline_kernel
def _find_best_weight(earned: Floats) -> int:
    """Find the weight whose choices would have earned most, the first among equals.

    Called by ``decide_arrow`` and ``learn_arrow``.
    """
    best = 0
    for i in range(1, earned.size):
        if earned[i] > earned[best]:
            best = i
    return best


@compile_kernel
def decide_arrow(block: Floats, earned: Floats, scale: float, stream: np.uint64) -> int:
    """Make one decision of ARRoW-CB; gives the arm's row.

    Called by ``decide_rival``.
    """
    row, explore = find_greedy_row(block, WEIGHTS[_find_best_weight(earned)]), _EXPLORE * scale
    uniform, _ = draw_uniform(stream)
    if uniform >= explore:
        return row
    arms = int(block.shape[0])
    return min(int(uniform / explore * arms), arms - 1)


@compile_kernel
def learn_arrow(block: Floats, earned: Floats, scale: float, row: int, reward: float) -> None:
    """Credit a reward to the weights that would have chosen its arm, by its propensity.

    The round itself is counted by ``learn_rival``, which calls this before.
    """
    explore = min(_EXPLORE * scale, 1.0)
    greedy = find_greedy_row(block, WEIGHTS[_find_best_weight(earned)])
    chance = explore / block.shape[0] + (1.0 - explore if greedy == row else 0.0)
    for i in range(WEIGHTS.size):
        if find_greedy_row(block, WEIGHTS[i]) == row:
            earned[i] += reward / chance
