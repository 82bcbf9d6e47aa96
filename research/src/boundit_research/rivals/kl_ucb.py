"""KL-UCB on each context by itself; with bounds B-kl-UCB (Zhang and Bareinboim 2017).

The index is the largest ``m`` with ``n kl(mean, m) <= log t + c log log t`` (Garivier and Cappé
2011), truncated at the upper bound, where ``t`` counts the rounds of the context. Arms whose
upper bound lies below another's lower bound are out. The others are played once first. The
budget, and the truncation, agree with a public implementation; that arms below the best lower
bound are left out is from memory.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple, Unpack

import numpy as np

from boundit.bandit.compiled import kernel, step
from boundit.bandit.decision import FREE, INDEX
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.runs import register_runs
from boundit.bandit.ucb import TOTAL, N, is_ahead, learn_ucb
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

_STEPS = 100
"""Newton needs about five; this only ends what rounding might keep alive."""
_ROUNDINGS = 4
"""By how many of the smallest steps rounding may leave Newton above the root."""
_BELOW_ONE = 1.0 - 2.0**-53


@step
def compute_kl(p: float, q: float) -> float:
    """Compute the relative entropy ``kl(p, q)`` of two binary rewards with these means.

    >>> compute_kl(0.5, 0.5), round(compute_kl(0.5, 0.9), 4), compute_kl(0.5, 1.0)
    (0.0, 0.5108, inf)
    """
    return _compute_term(p, q) + _compute_term(1.0 - p, 1.0 - q)


@step
def _compute_term(p: float, q: float) -> float:
    if p <= 0.0:
        return 0.0
    return p * math.log(p / q) if q > 0.0 else np.inf


@kernel
def invert_kl(mean: float, budget: float) -> float:
    """Find the largest ``m`` with ``kl(mean, m) <= budget``, by Newton from above.

    ``kl(mean, .)`` is convex and grows, so Newton's steps from a point above the root go down
    and never pass it. Two such points: Pinsker's, and the root without the part of success,
    which is close when the root is near 1. A step that rounding turns around is the last; near
    1, where a rounding is worth much, the result is brought back under the budget.

    >>> round(invert_kl(0.5, 0.5108), 4)
    0.9
    """
    if mean >= 1.0 or budget <= 0.0:
        return min(mean, 1.0)
    known = _compute_term(mean, 1.0) + _compute_term(1.0 - mean, 1.0)
    top = 1.0 - math.exp((known - budget) / (1.0 - mean))
    q = min(top, mean + math.sqrt(budget / 2.0), _BELOW_ONE)
    for _ in range(_STEPS):
        slope = (q - mean) / (q * (1.0 - q))
        lower = q - (compute_kl(mean, q) - budget) / slope
        if not mean < lower < q:
            break
        q = lower
    for _ in range(_ROUNDINGS):
        if compute_kl(mean, q) <= budget:
            break
        q = np.nextafter(q, 0.0)
    return max(q, mean)


class KLUCBArrays(NamedTuple):
    """As those of UCB, but for ``constants``: c, scale, lowest and highest reward."""

    counts: Floats
    rounds: Floats
    bounds: Floats
    constants: Floats
    table: Floats


@kernel
def index_kl_ucb(
    a: KLUCBArrays, c: int, columns: Ints, start: int, stop: int, table: Floats
) -> int:
    """Write the index of each arm that is in, nan for the others; give the winner.

    While some that are in were never played, only those are.
    """
    log_t, low, high = math.log(a.rounds[c] + 1.0), a.constants[2], a.constants[3]
    budget = a.constants[1] * (log_t + a.constants[0] * math.log(max(log_t, 1.0)))
    least, untried, winner, best, best_free = -np.inf, False, -1, -np.inf, -np.inf
    for i in range(start, stop):
        least = max(least, a.bounds[c, columns[i], 0])
    for i in range(start, stop):
        k = columns[i]
        untried |= a.bounds[c, k, 1] >= least and a.counts[c, k, N] == 0.0
    for i in range(start, stop):
        k = columns[i]
        n, upper, free = a.counts[c, k, N], a.bounds[c, k, 1], np.inf
        out = upper < least or (untried and n > 0.0)
        if table.size > 0 and out:
            table[i, FREE] = table[i, INDEX] = np.nan
        if out or (table.size == 0 and upper < best):
            continue
        if n > 0.0:
            mean = min(max((a.counts[c, k, TOTAL] / n - low) / (high - low), 0.0), 1.0)
            free = low + (high - low) * invert_kl(mean, budget / n)
        index = min(free, upper)
        if table.size > 0:
            table[i, FREE], table[i, INDEX] = free, index
        if winner < 0 or is_ahead(index, free, k, best, best_free, columns[winner]):
            winner, best, best_free = i, index, free
    return winner


@kernel
def _choose(
    arrays: KLUCBArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    k: int = columns[index_kl_ucb(arrays, c, columns, start, stop, arrays.table)]
    return k


@step
def _learn(arrays: KLUCBArrays, c: int, k: int, reward: float, leaf: int) -> None:
    learn_ucb(arrays.counts, arrays.rounds, c, k, reward)


register_runs(KLUCBArrays, choose=_choose, learn=_learn)


class KLUCB(Policy):
    """Optimism by relative entropy: kl-UCB, and with a prior B-kl-UCB.

    ``scale`` multiplies the budget; 1 is the paper's.

    >>> policy = KLUCB(arms=["A", "B"])
    >>> for reward in (1.0, 0.0):
    ...     policy.learn(policy.decide(), reward)
    >>> policy.decide().arm
    'A'
    """

    axes: Mapping[str, str] = {"counts": "ca", "rounds": "c"}
    additive = ("counts", "rounds")

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        c: float = 3.0,
        scale: float = 1.0,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(prior, {"c": c, "scale": scale}, common)

    def make_arrays(self) -> KLUCBArrays:
        counts = np.zeros((*self.prior.bounds.shape[:2], 2))
        constants = np.array(
            [self.options["c"], self.options["scale"], *self.spec.reward_range]
        )
        rounds, table = np.zeros(len(counts)), np.empty((0, 2))
        return KLUCBArrays(counts, rounds, self.prior.bounds, constants, table)

    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, None, Floats]:
        table = np.empty((columns.size, 2))
        return index_kl_ucb(self.arrays, row, columns, 0, columns.size, table), None, table

    def take(
        self, context: Context, row: int, column: int, reward: float, observed: object
    ) -> None:
        learn_ucb(self.arrays.counts, self.arrays.rounds, row, column, reward)
