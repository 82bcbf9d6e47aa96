"""Thompson sampling on each context by itself, with bounds (B-TS of Zhang and Bareinboim 2017), without drawing."""

import math
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy.special import expit

from boundit.bandit.best_arm import COLUMNS, LOWER, MEAN, UPPER, find_best_arm_probabilities, write_beta
from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints, pick_arm
from boundit.bandit.policy import CommonOptions, Policy
from boundit.bandit.runs import register_choose, register_copy, register_learn
from boundit.bandit.ucb import TOTAL, N, count_reward

_END = 1e-9


class TSArrays(NamedTuple):
    """`counts` and `bounds` as those of UCB; `span`: the lowest and the highest reward."""

    counts: Floats
    bounds: Floats
    span: Floats


@step
def write_bounds(belief: Floats, i: int, lower: float, upper: float, low: float, high: float) -> None:
    """Write bounds of a mean on the scale of log odds; infinite where they say nothing."""
    one, two = (lower - low) / (high - low), (upper - low) / (high - low)
    belief[i, LOWER], belief[i, UPPER] = -np.inf, np.inf
    if one > _END:
        one = min(one, 1.0 - _END)
        belief[i, LOWER] = math.log(one / (1.0 - one))
    if two < 1.0 - _END:
        two = max(two, _END)
        belief[i, UPPER] = math.log(two / (1.0 - two))


@kernel
def believe_ts(counts: Floats, bounds: Floats, span: Floats, c: int, columns: Ints) -> Floats:
    """The distribution of each arm's mean: Beta(1 + successes, 1 + failures), truncated to the bounds."""
    belief = np.zeros((columns.size, COLUMNS))
    low, high = span[0], span[1]
    for i in range(columns.size):
        n, total = counts[c, columns[i], N], counts[c, columns[i], TOTAL]
        wins = min(max((total - low * n) / (high - low), 0.0), n)
        write_beta(belief, i, MEAN, 1.0 + wins, 1.0 + n - wins)
        write_bounds(belief, i, bounds[c, columns[i], 0], bounds[c, columns[i], 1], low, high)
    return belief


@kernel
def _choose(arrays: TSArrays, c: int, columns: Ints, start: int, stop: int, uniform: float) -> int:
    found = find_best_arm_probabilities(believe_ts(arrays.counts, arrays.bounds, arrays.span, c, columns[start:stop]))
    return columns[start + pick_arm(found, uniform, 0.0)]


@step
def _learn(arrays: TSArrays, c: int, k: int, reward: float, leaf: int) -> None:
    count_reward(arrays.counts, c, k, reward)


@kernel
def _copy(arrays: TSArrays) -> TSArrays:
    return TSArrays(arrays.counts.copy(), arrays.bounds, arrays.span)


register_choose(TSArrays, _choose)
register_learn(TSArrays, _learn)
register_copy(TSArrays, _copy)


class TS(Policy):
    """Play an arm as often as it is probably the best: Beta distributions, truncated to the prior's bounds.

    A reward between 0 and 1 counts as that much success and the rest failure.
    """

    draws = True
    axes = {"counts": "ca"}
    additive = ("counts",)

    def __init__(self, **common: Unpack[CommonOptions]) -> None:
        super().__init__({}, common)

    def make_arrays(self) -> TSArrays:
        counts = np.zeros((*self.prior.bounds.shape[:2], 2))
        return TSArrays(counts, self.prior.bounds, np.array(self.spec.reward_range))

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, Floats, Floats, Floats]:
        belief = believe_ts(self.arrays.counts, self.prior.bounds, self.arrays.span, row, columns)
        found = find_best_arm_probabilities(belief)
        mean = expit(belief[:, MEAN])
        return -1, found, expit(np.clip(belief[:, MEAN], belief[:, LOWER], belief[:, UPPER])), mean

    def take(self, context: Any, row: int, column: int, reward: float, observed: Any) -> None:
        count_reward(self.arrays.counts, row, column, reward)
