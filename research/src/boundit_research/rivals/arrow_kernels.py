"""ARRoW-CB (Zhang, Agarwal, Daume, Langford and Negahban 2019): how much to weigh the log.

A model is fitted for each of several weights between log and rounds; the one whose choices
would have cost least in the rounds so far, by inverse propensities, is played, and a share of
rounds explores. Weights, costs, their order and the share were checked against the authors'
code, Vowpal Wabbit's ``warm_cb`` and the scripts of their experiments (``warmcb_scripts``): 8
weights from 0, the log alone, which is played first, to 1, rounds alone, halving towards both
from ``e / (1 + e)`` for a share e; theirs is .05 unless told, and .0125 to .1 in experiments.
Models here are means of each arm and context, in which every round counts once and one row of
reward 1/2 is there from the start; the authors' weights are scaled by how much was learned,
which is nothing to a mean. In the paper a row of the log tells the cost of every arm; a row of
ours tells that of one.

The option ``scale``, 1 unless tuned, multiplies the share of rounds that explore.
"""

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.rng import draw_uniform
from boundit_research.rivals.bounded_kernels import find_best_row
from boundit_research.rivals.columns import (
    FREE,
    INDEX,
    LOG_ROWS,
    LOG_TOTAL,
    PLAYS,
    TOTAL,
)

WEIGHTS = 8
"""How many weights of rounds against rows of the log there are."""
_MIDDLE = WEIGHTS // 2
_EXPLORE = 0.05


@inline_kernel
def compute_weight(place: int, explore: float) -> float:
    """Compute how much rounds weigh against rows of the log at one place of the list."""
    middle = explore / (1.0 + explore)
    if place == 0:
        return 0.0
    if place == WEIGHTS - 1:
        return 1.0
    if place <= _MIDDLE:
        return middle / 2.0 ** (_MIDDLE - place)
    return 1.0 - (1.0 - middle) / 2.0 ** (place - _MIDDLE)


@compile_kernel
def find_greedy_row(block: Floats, weight: float) -> int:
    """Find the arm that looks best when rounds weigh so much; gives its row."""
    for arm in range(block.shape[0]):
        n = (1.0 - weight) * block[arm, LOG_ROWS] + weight * block[arm, PLAYS]
        total = (1.0 - weight) * block[arm, LOG_TOTAL] + weight * block[arm, TOTAL]
        block[arm, FREE] = block[arm, INDEX] = (total + 0.5) / (n + 1.0)
    return find_best_row(block)


@inline_kernel
def _find_best_weight(costs: Floats, explore: float) -> float:
    """Find the weight whose choices would have cost least, the first among equals."""
    best = 0
    for i in range(1, WEIGHTS):
        if costs[i] < costs[best]:
            best = i
    return compute_weight(best, explore)


@compile_kernel
def decide_arrow(block: Floats, costs: Floats, scale: float, stream: np.uint64) -> int:
    """Make one decision of ARRoW-CB; gives the arm's row."""
    explore = min(_EXPLORE * scale, 1.0)
    row = find_greedy_row(block, _find_best_weight(costs, explore))
    uniform, _ = draw_uniform(stream)
    if uniform >= explore:
        return row
    arms = int(block.shape[0])
    return min(int(uniform / explore * arms), arms - 1)


@compile_kernel
def learn_arrow(block: Floats, costs: Floats, scale: float, row: int, reward: float) -> None:
    """Charge what a round cost to the weights that would have chosen its arm.

    The cost is divided by the arm's propensity. The round itself is counted by
    ``learn_rival``, which calls this before.
    """
    explore = min(_EXPLORE * scale, 1.0)
    greedy = find_greedy_row(block, _find_best_weight(costs, explore))
    chance = explore / block.shape[0] + (1.0 - explore if greedy == row else 0.0)
    for i in range(WEIGHTS):
        if find_greedy_row(block, compute_weight(i, explore)) == row:
            costs[i] += (1.0 - reward) / chance
