"""Thompson sampling on each context by itself, with bounds, without drawing.

With bounds it is B-TS of Zhang and Bareinboim (2017).
"""

from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy.special import expit

from boundit.bandit.best_arm import (
    COLUMNS,
    LOWER,
    MEAN,
    P_BEST,
    UPPER,
    weigh_arms,
    write_beta,
    write_bounds,
)
from boundit.bandit.compiled import kernel, step
from boundit.bandit.ids import Floats, Ints, pick_arm
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.runs import register_runs
from boundit.bandit.ucb import TOTAL, N, count_reward
from boundit.results.bound_table import BoundTable


class TSArrays(NamedTuple):
    """``counts`` and ``bounds`` as those of UCB; ``span``: the least and the greatest reward."""

    counts: Floats
    bounds: Floats
    span: Floats


@kernel
def score_ts(counts: Floats, bounds: Floats, span: Floats, c: int, columns: Ints) -> Floats:
    """Write the distribution of each arm's mean: Beta(1 + successes, 1 + failures), truncated.

    And the probability that it is the best.
    """
    belief = np.zeros((columns.size, COLUMNS))
    low, high = span[0], span[1]
    for i in range(columns.size):
        n, total = counts[c, columns[i], N], counts[c, columns[i], TOTAL]
        wins = min(max((total - low * n) / (high - low), 0.0), n)
        write_beta(belief, i, MEAN, 1.0 + wins, 1.0 + n - wins)
        write_bounds(belief, i, bounds[c, columns[i], 0], bounds[c, columns[i], 1], low, high)
    weigh_arms(belief)
    return belief


@kernel
def _choose(
    arrays: TSArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    a, open_ = arrays, columns[start:stop]
    belief = score_ts(a.counts, a.bounds, a.span, c, open_)
    k: int = open_[pick_arm(belief[:, P_BEST], uniform)]
    return k


@step
def _learn(arrays: TSArrays, c: int, k: int, reward: float, leaf: int) -> None:
    count_reward(arrays.counts, c, k, reward)


register_runs(TSArrays, choose=_choose, learn=_learn)


class TS(Policy):
    """Thompson sampling with a Beta distribution of every mean, truncated to the prior bounds.

    An arm is played with the probability that it is the best; a reward counts as that share of
    a success and the rest of a failure. It assumes nothing of how arms or contexts are alike.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from.
    **common
        The options of every policy: see ``Policy``.

    Examples
    --------
    >>> policy = TS(arms=["A", "B"], seed=0)
    >>> policy.learn(policy.decide(), 1.0)
    >>> sum(policy.decide().propensities.values())
    1.0
    """

    draws = True
    axes = {"counts": "ca"}
    additive = ("counts",)

    def __init__(
        self, prior: BoundTable | None = None, **common: Unpack[CommonOptions]
    ) -> None:
        super().__init__(prior, {}, common)

    def make_arrays(self) -> TSArrays:
        """Make the counts of nothing learned."""
        counts = np.zeros((*self.prior.bounds.shape[:2], 2))
        return TSArrays(counts, self.prior.bounds, np.array(self.spec.reward_range))

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, Floats, Floats]:
        """Compute the probability that each arm is the best; scores are the expected rewards."""
        a, (low, high) = self.arrays, self.spec.reward_range
        belief = score_ts(a.counts, a.bounds, a.span, row, columns)
        kept = np.minimum(np.maximum(belief[:, MEAN], belief[:, LOWER]), belief[:, UPPER])
        table = low + (high - low) * expit(np.array([belief[:, MEAN], kept]).T)
        return -1, belief[:, P_BEST].copy(), table

    def take(self, context: Any, row: int, column: int, reward: float, shown: Any) -> None:
        """Count the reward."""
        count_reward(self.arrays.counts, row, column, reward)
