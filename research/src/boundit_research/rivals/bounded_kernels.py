"""Rivals that know a bound on every mean: B-kl-UCB, B-TS and GLUE, one decision of each.

B-kl-UCB and B-TS are of Zhang and Bareinboim (2017), who cut an index or a draw to the bounds.
The budget of B-kl-UCB, ``log t + 3 log log t``, and the cut agree with a public implementation;
that arms below the best lower bound are left out, and B-TS, are from memory.
GLUE is of Sharma, Basu, Shanmugam and Shakkottai ("Bandits with Mean Bounds"): a mean near 0 or
1 leaves a reward from 0 to 1 little room to vary, so that bounds on means also bound how fast
an arm must be explored. From the paper's abstract is that bounds give such factors and that
GLUE explores by them without being optimistic for every arm; its formulas are from memory.

Untuned, B-kl-UCB and B-TS are ``KLUCB`` and ``TS`` with a prior. The option ``scale``, 1 unless
tuned, multiplies what an index adds to the mean (of B-kl-UCB, the budget of relative entropy);
of B-TS, the deviation of a belief.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.kl_ucb import compute_budget, invert_kl
from boundit.bandit.kernels.ranking import is_ahead
from boundit.bandit.kernels.rng import branch_stream
from boundit.bandit.kernels.truncated_draws import draw_truncated_beta
from boundit_research.rivals.columns import (
    FREE,
    INDEX,
    LOWER,
    NOISE,
    PLAYS,
    TOTAL,
    UPPER,
)

_LOG_LOG = 3.0
"""The weight of ``log log t`` in B-kl-UCB, as in ``KLUCB``."""


@inline_kernel
def count_plays(block: Floats) -> float:
    """Count all plays in a context."""
    total = 0.0
    for arm in range(block.shape[0]):
        total += block[arm, PLAYS]
    return total


@inline_kernel
def find_best_row(block: Floats) -> int:
    """Find the arm with the highest index; among equals by that without a cap, then the first."""
    winner = -1
    for arm in range(block.shape[0]):
        if math.isnan(block[arm, INDEX]):
            continue
        if winner < 0 or is_ahead(
            block[arm, INDEX],
            block[arm, FREE],
            arm,
            block[winner, INDEX],
            block[winner, FREE],
            winner,
        ):
            winner = arm
    return winner


@inline_kernel
def _find_highest_lower(block: Floats) -> float:
    """Find the highest lower end of a context's arms.

    Arms whose upper end lies below it are out.
    """
    highest = -np.inf
    for arm in range(block.shape[0]):
        highest = max(highest, block[arm, LOWER])
    return highest


@compile_kernel
def decide_b_kl_ucb(block: Floats, scale: float) -> int:
    """Make one decision of B-kl-UCB; gives the arm's row."""
    budget = scale * compute_budget(count_plays(block) + 1.0, _LOG_LOG)
    least, untried = _find_highest_lower(block), False
    for arm in range(block.shape[0]):
        untried |= block[arm, UPPER] >= least and block[arm, PLAYS] == 0.0
    for arm in range(block.shape[0]):
        plays, free = block[arm, PLAYS], np.inf
        if block[arm, UPPER] < least or (untried and plays > 0.0):
            block[arm, INDEX] = np.nan
            continue
        if plays > 0.0:
            free = invert_kl(block[arm, TOTAL] / plays, budget / plays)
        block[arm, FREE], block[arm, INDEX] = free, min(free, block[arm, UPPER])
    return find_best_row(block)


@compile_kernel
def decide_b_ts(block: Floats, scale: float, stream: np.uint64) -> int:
    """Make one decision of B-TS; gives the arm's row.

    A belief is narrower or wider where rewards count for more or less than one each.
    """
    for arm in range(block.shape[0]):
        wins = block[arm, TOTAL] / (scale * scale)
        losses = block[arm, PLAYS] / (scale * scale) - wins
        drawn, _ = draw_truncated_beta(
            wins, losses, block[arm, LOWER], block[arm, UPPER], branch_stream(stream, arm)
        )
        block[arm, INDEX] = block[arm, FREE] = drawn
    return find_best_row(block)


@compile_kernel
def decide_glue(block: Floats, scale: float) -> int:
    """Make one decision of GLUE; gives the arm's row.

    Arms that bounds rule out are out; the index of the others is ``mean + noise sqrt(2 log(1 +
    t log(t)^2) / n)``, at most the upper end, where ``noise`` is what the bounds leave of the
    sub-Gaussian factor.
    """
    t = count_plays(block) + 1.0
    surprise = 2.0 * math.log(1.0 + t * math.log(t) ** 2)
    least = _find_highest_lower(block)
    for arm in range(block.shape[0]):
        plays, free = block[arm, PLAYS], np.inf
        if block[arm, UPPER] < least:
            block[arm, INDEX] = np.nan
            continue
        if plays > 0.0:
            spread = scale * block[arm, NOISE] * math.sqrt(surprise / plays)
            free = block[arm, TOTAL] / plays + spread
        block[arm, FREE], block[arm, INDEX] = free, min(free, block[arm, UPPER])
    return find_best_row(block)
