"""UCB on each context by itself, truncated to prior bounds (Algorithm 6 of the paper, UCB-PCB).

And the rule that UCB, LinUCB and OAM share: the highest index wins. Truncation makes ties the
normal case: among equals the higher index before truncation wins, among these the arm that comes
first. So a bound at the end of the reward's range changes nothing. An algorithm goes through
``columns[start:stop]`` and leaves out arms whose upper bound is below the best index so far,
unless it was given a table to write all scores to. Whole runs give none, and arms by decreasing
upper bound.
"""

import math
from typing import Any, NamedTuple, Unpack

import numpy as np

from boundit.bandit.compiled import step
from boundit.bandit.decision import FREE, INDEX
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.runs import register_runs
from boundit.results.bound_table import BoundTable

N, TOTAL = 0, 1


class UCBArrays(NamedTuple):
    """``counts``: contexts x arms x (rewards, their sum); ``rounds``: the rewards of a context.

    ``noise``: (sigma, width of the index after one play, or nan). ``table``: without rows, as
    whole runs keep no scores.
    """

    counts: Floats
    rounds: Floats
    bounds: Floats
    noise: Floats
    table: Floats


@step
def is_ahead(
    index: float, free: float, k: int, best: float, best_free: float, best_k: int
) -> bool:
    """Tell whether an arm beats the best so far: index, index before truncation, column."""
    if index != best:
        return index > best
    if free != best_free:
        return free > best_free
    return k < best_k


@step
def count_reward(counts: Floats, c: int, k: int, reward: float) -> None:
    """Count a reward of an arm in a context."""
    counts[c, k, N] += 1.0
    counts[c, k, TOTAL] += reward


@step
def learn_ucb(counts: Floats, rounds: Floats, c: int, k: int, reward: float) -> None:
    """Count a reward, and the round of its context: a sum over arms would take longer."""
    count_reward(counts, c, k, reward)
    rounds[c] += 1.0


@step
def index_ucb(
    counts: Floats,
    rounds: Floats,
    bounds: Floats,
    noise: Floats,
    c: int,
    columns: Ints,
    start: int,
    stop: int,
    table: Floats,
) -> int:
    """Write UCB's index of each arm, ``mean + width / sqrt(n)``; give the winner's place.

    Infinite before the first play. Without a horizon the width is
    ``sigma sqrt(2 log(1 + t log(t)^2))`` in round t of the context: regret stays logarithmic
    (Lattimore and Szepesvari 2020, section 8.1).
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
def _choose(
    arrays: UCBArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    a = arrays
    place = index_ucb(a.counts, a.rounds, a.bounds, a.noise, c, columns, start, stop, a.table)
    k: int = columns[place]
    return k


@step
def _learn(arrays: UCBArrays, c: int, k: int, reward: float, leaf: int) -> None:
    learn_ucb(arrays.counts, arrays.rounds, c, k, reward)


register_runs(UCBArrays, choose=_choose, learn=_learn)


class UCB(Policy):
    """Upper confidence bounds on the mean of every arm in every context, truncated to a prior.

    The index is ``mean + sigma sqrt(2 log(1/delta) / n)``, truncated to the bounds: UCB, and with
    a prior UCB-PCB. It assumes nothing of how arms or contexts are alike.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from.
    horizon : int, optional
        The number of rounds, if it is known: then ``delta`` is ``1 / horizon**2``. Without
        either, ``delta`` is ``1 / (1 + t log(t)**2)`` in round t of a context.
    delta : float, optional
        Probability with which a bound may fail.
    sigma : float, optional
        How noisy rewards are (subgaussian), by default the width of their range.
    **common
        The options of every policy: see ``Policy``.

    Examples
    --------
    >>> policy = UCB(arms=["A", "B"], context=["Age"])
    >>> decision = policy.decide("older")
    >>> policy.learn(decision, 0.0)
    >>> decision.arm, policy.decide("older").arm
    ('A', 'B')
    """

    axes = {"counts": "ca", "rounds": "c"}
    additive = ("counts", "rounds")

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        sigma: float | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        own = {"horizon": horizon, "delta": delta, "sigma": sigma}
        super().__init__(prior, own, common)

    def make_arrays(self) -> UCBArrays:
        """Make the counts of nothing learned."""
        (low, high), (horizon, delta, sigma) = self.spec.reward_range, self.options.values()
        noise, width = high - low if sigma is None else sigma, math.nan
        if delta is not None or horizon is not None:
            width = noise * math.sqrt(
                2 * (-math.log(delta) if delta else 2 * math.log(horizon))
            )
        counts = np.zeros((*self.prior.bounds.shape[:2], 2))
        known = np.array([noise, width])
        return UCBArrays(
            counts, np.zeros(len(counts)), self.prior.bounds, known, np.empty((0, 2))
        )

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, None, Floats]:
        """Compute the index of each arm; the highest wins."""
        a, table = self.arrays, np.empty((columns.size, 2))
        winner = index_ucb(
            a.counts, a.rounds, a.bounds, a.noise, row, columns, 0, columns.size, table
        )
        return winner, None, table

    def take(self, context: Any, row: int, column: int, reward: float, shown: Any) -> None:
        """Count the reward."""
        learn_ucb(self.arrays.counts, self.arrays.rounds, row, column, reward)
