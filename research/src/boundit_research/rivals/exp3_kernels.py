"""EXP3-IX (Neu 2015), in each context by itself: it needs no law of rewards at all.

An arm's chance falls exponentially in its estimated losses; an estimate divides a loss by the
chance and a little more, the implicit exploration of the paper's title. That estimate,
``gamma = eta / 2`` and the rate for an unknown horizon, ``eta = sqrt(log K / (K t))``, agree
with public implementations.

The option ``scale``, 1 unless tuned, multiplies both rates.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.rng import draw_uniform
from boundit_research.rivals.bounded_kernels import count_plays
from boundit_research.rivals.columns import FREE, INDEX, LOSS


@inline_kernel
def write_chances(block: Floats, scale: float) -> float:
    """Write the chance of every arm as its index; gives the rate ``eta`` of the round."""
    arms = block.shape[0]
    eta = scale * math.sqrt(math.log(arms) / (arms * (count_plays(block) + 1.0)))
    least, total = np.inf, 0.0
    for arm in range(arms):
        least = min(least, block[arm, LOSS])
    for arm in range(arms):
        block[arm, INDEX] = math.exp(-eta * (block[arm, LOSS] - least))
        total += block[arm, INDEX]
    for arm in range(arms):
        block[arm, INDEX] /= total
        block[arm, FREE] = block[arm, INDEX]
    return eta


@compile_kernel
def decide_exp3_ix(block: Floats, scale: float, stream: np.uint64) -> int:
    """Make one decision of EXP3-IX: draw an arm by the chances; gives its row."""
    write_chances(block, scale)
    uniform, _ = draw_uniform(stream)
    last = int(block.shape[0]) - 1
    for arm in range(last):
        uniform -= block[arm, INDEX]
        if uniform < 0.0:
            return arm
    return last


@compile_kernel
def learn_exp3_ix(block: Floats, scale: float, row: int, reward: float) -> None:
    """Add the estimated loss of a round to its arm's.

    The round itself is counted by ``learn_rival``, which calls this before.
    """
    eta = write_chances(block, scale)
    block[row, LOSS] += (1.0 - reward) / (block[row, INDEX] + eta / 2.0)
