"""KL-UCB in compiled code: the index, one decision, and whole runs of them."""

import math

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    UPPER,
    is_ahead,
)

_STEPS = 100
"""Newton needs about five; this only ends what rounding might keep alive."""
_ROUNDINGS = 4
"""By how many of the smallest steps rounding may leave Newton above the root."""
_BELOW_ONE = 1.0 - 2.0**-53


@compile_kernel
def compute_kl(p: float, q: float) -> float:
    """Relative entropy of two coins.

    >>> compute_kl(0.5, 0.5), round(compute_kl(0.5, 0.9), 4), compute_kl(0.5, 1.0)
    (0.0, 0.5108, inf)
    """
    return _compute_kl_term(p, q) + _compute_kl_term(1.0 - p, 1.0 - q)


@inline_kernel
def _compute_kl_term(p: float, q: float) -> float:
    if p <= 0.0:
        return 0.0
    return p * math.log(p / q) if q > 0.0 else np.inf


@compile_kernel
def invert_kl(mean: float, budget: float) -> float:
    """The largest ``m`` with ``kl(mean, m) <= budget``, by Newton from above.

    ``kl(mean, .)`` is convex and grows, so Newton's steps from a point above the root go down
    and never pass it. Two such points: Pinsker's, and the root without the part of success,
    which is close when the root is near 1. A step that rounding turns around is the last; near
    1, where a rounding is worth much, the result is brought back under the budget.

    >>> round(invert_kl(0.5, 0.5108), 4)
    0.9
    """
    if mean >= 1.0 or budget <= 0.0:
        return min(mean, 1.0)
    known = _compute_kl_term(mean, 1.0) + _compute_kl_term(1.0 - mean, 1.0)
    top = 1.0 - math.exp((known - budget) / (1.0 - mean))
    q = min(top, mean + math.sqrt(budget / 2.0), _BELOW_ONE)
    for _ in range(_STEPS):
        slope = (q - mean) / (q * (1.0 - q))
        lower = (
            q
            - (_compute_kl_term(mean, q) + _compute_kl_term(1.0 - mean, 1.0 - q) - budget)
            / slope
        )
        if not mean < lower < q:
            break
        q = lower
    for _ in range(_ROUNDINGS):
        if _compute_kl_term(mean, q) + _compute_kl_term(1.0 - mean, 1.0 - q) <= budget:
            break
        q = np.nextafter(q, 0.0)
    return max(q, mean)


@inline_kernel
def compute_budget(t: float, c: float) -> float:
    """What round ``t`` allows: ``log t + c log log t``."""
    return math.log(t) + c * math.log(max(math.log(t), 1.0))


@inline_kernel
def find_best_arm(
    count_rows: Floats,
    score_table: Floats,
    start: int,
    stop: int,
    budget: float,
    low: float,
    high: float,
) -> tuple[int, int]:
    """The winner among arms by decreasing cap, and how many needed no score.

    Arms whose upper end lies below another's lower end are out; while some that are in were
    never played, only those are. An arm that was not looked at has no index.
    """
    surest, entered, tried = -np.inf, 0, 0
    for arm in range(start, stop):
        surest = max(surest, score_table[arm, LOWER])
        score_table[arm, SCORE] = np.nan
    for arm in range(start, stop):
        if score_table[arm, UPPER] >= surest:
            entered += 1
            tried += count_rows[int(score_table[arm, STATISTICS]), 0] > 0.0
    untried = tried < entered
    left = entered - tried if untried else entered
    winner, best, best_free, best_place = -1, -np.inf, -np.inf, np.inf
    for arm in range(start, stop):
        upper, slot = score_table[arm, UPPER], int(score_table[arm, STATISTICS])
        if upper < surest or (winner >= 0 and upper < best):
            break
        played = count_rows[slot, 0]
        if untried and played:
            continue
        free = np.inf
        if played:
            mean = (count_rows[slot, 1] / played - low) / (high - low)
            unit = invert_kl(min(max(mean, 0.0), 1.0), budget / played)
            free = low + (high - low) * unit
        index, place = min(free, upper), score_table[arm, POSITION]
        score_table[arm, FREE_SCORE], score_table[arm, SCORE] = free, index
        left -= 1
        if winner < 0 or is_ahead(index, free, place, best, best_free, best_place):
            winner, best, best_free, best_place = arm, index, free, place
    return winner, left


@compile_kernel
def decide_kl_ucb(
    count_rows: Floats, score_table: Floats, t: float, c: float, low: float, high: float
) -> tuple[int, int]:
    """One decision in round ``t`` of a context, with rewards from ``low`` to ``high``."""
    return find_best_arm(
        count_rows, score_table, 0, score_table.shape[0], compute_budget(t, c), low, high
    )


@compile_kernel
def play_kl_ucb(
    score_table: Floats, c: float, low: float, high: float, batch: BatchArrays
) -> Places:
    """Whole runs; what is pulled, by its name outside."""
    runs, rounds = batch.visitors.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    count_rows, starts = np.empty((batch.target.size, 2)), batch.starts
    plays = np.empty(starts.size - 1)
    for run in range(runs):
        count_rows[:], plays[:] = 0.0, 0.0
        for t in range(rounds):
            v = batch.visitors[run, t]
            budget = compute_budget(plays[v] + 1.0, c)
            arm, _ = find_best_arm(
                count_rows, score_table, starts[v], starts[v + 1], budget, low, high
            )
            pulls[run, t] = batch.target[arm]
            plays[v] += 1.0
            count_rows[arm, 0] += 1.0
            count_rows[arm, 1] += 1.0 if batch.luck[run, t] < batch.means[arm] else 0.0
    return pulls
