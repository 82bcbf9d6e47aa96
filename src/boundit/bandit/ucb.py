"""UCB on each context by itself, truncated to prior bounds (Algorithm 6 of the paper, UCB-PCB)."""

import math
from typing import Any, NamedTuple, Unpack

import numpy as np

from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints
from boundit.bandit.index import FREE, INDEX, is_ahead
from boundit.bandit.policy import CommonOptions, Policy
from boundit.bandit.runs import register_choose, register_copy, register_learn

N, TOTAL = 0, 1


class UCBArrays(NamedTuple):
    """`counts`: contexts x arms x (rewards, their sum). `rounds`: how many rewards a context has, all arms together.
    `noise`: (sigma, width of the index after one play, or nan). `table`: without rows, as whole runs keep no scores."""

    counts: Floats
    rounds: Floats
    bounds: Floats
    noise: Floats
    table: Floats


@step
def count_reward(counts: Floats, c: int, k: int, reward: float) -> None:
    counts[c, k, N] += 1.0
    counts[c, k, TOTAL] += reward


@step
def learn_ucb(counts: Floats, rounds: Floats, c: int, k: int, reward: float) -> None:
    count_reward(counts, c, k, reward)
    rounds[c] += 1.0


@step
def index_ucb(
    counts: Floats, rounds: Floats, bounds: Floats, noise: Floats, c: int, columns: Ints, start: int, stop: int, table: Floats
) -> int:
    """Write UCB's index of each arm, `mean + width / sqrt(n)`, infinite before the first play; give the winner.

    Without a horizon the width is `sigma sqrt(2 log(1 + t log(t)^2))` in round t of the context: regret stays
    logarithmic (Lattimore and Szepesvari 2020, section 8.1).
    """
    width = noise[1]
    if math.isnan(width):
        t = rounds[c] + 1.0
        width = noise[0] * math.sqrt(2.0 * math.log(1.0 + t * math.log(t) ** 2))
    winner, best, best_free = -1, -np.inf, -np.inf
    for i in range(start, stop):
        k = columns[i]
        n, upper, free = counts[c, k, N], bounds[c, k, 1], np.inf
        if table.size == 0 and upper < best:
            continue
        if n:
            free = counts[c, k, TOTAL] / n + width / math.sqrt(n)
        index = max(min(free, upper), bounds[c, k, 0])
        if table.size > 0:
            table[i, FREE], table[i, INDEX] = free, index
        if winner < 0 or is_ahead(index, free, k, best, best_free, columns[winner]):
            winner, best, best_free = i, index, free
    return winner


@step
def _choose(arrays: UCBArrays, c: int, columns: Ints, start: int, stop: int, uniform: float) -> int:
    a = arrays
    return columns[index_ucb(a.counts, a.rounds, a.bounds, a.noise, c, columns, start, stop, a.table)]


@step
def _learn(arrays: UCBArrays, c: int, k: int, reward: float, leaf: int) -> None:
    learn_ucb(arrays.counts, arrays.rounds, c, k, reward)


@kernel
def _copy(arrays: UCBArrays) -> UCBArrays:
    return UCBArrays(arrays.counts.copy(), arrays.rounds.copy(), arrays.bounds, arrays.noise, arrays.table)


register_choose(UCBArrays, _choose)
register_learn(UCBArrays, _learn)
register_copy(UCBArrays, _copy)


class UCB(Policy):
    """Optimism about the mean of every (context, arm): UCB, and with a prior UCB-PCB.

    The index is `mean + sigma sqrt(2 log(1/delta) / n)`, truncated to [L, U]. `delta` is `1/horizon**2` by default;
    without either it is `1 / (1 + t log(t)**2)`. `sigma` is the width of the reward's range by default.
    """

    axes = {"counts": "ca", "rounds": "c"}
    additive = ("counts", "rounds")

    def __init__(
        self,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        sigma: float | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__({"horizon": horizon, "delta": delta, "sigma": sigma}, common)

    def make_arrays(self) -> UCBArrays:
        (low, high), (horizon, delta, sigma) = self.spec.reward_range, self.options.values()
        noise, width = high - low if sigma is None else sigma, math.nan
        if delta is not None or horizon is not None:
            width = noise * math.sqrt(2 * (-math.log(delta) if delta else 2 * math.log(horizon)))
        counts = np.zeros((*self.prior.bounds.shape[:2], 2))
        return UCBArrays(counts, np.zeros(len(counts)), self.prior.bounds, np.array([noise, width]), np.empty((0, 2)))

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, None, Floats, Floats]:
        arrays, table = self.arrays, np.empty((columns.size, 2))
        winner = index_ucb(
            arrays.counts, arrays.rounds, self.prior.bounds, arrays.noise, row, columns, 0, columns.size, table
        )
        return winner, None, table[:, INDEX], table[:, FREE]

    def take(self, context: Any, row: int, column: int, reward: float, observed: Any) -> None:
        learn_ucb(self.arrays.counts, self.arrays.rounds, row, column, reward)
