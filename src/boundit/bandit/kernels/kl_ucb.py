"""KL-UCB in compiled code: the index, one decision, and whole runs of them."""

import math

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.ranking import is_ahead, mark_unscored
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    UPPER,
)

_STEPS = 100
"""Newton needs about five; this only ends what rounding might keep alive."""
_ROUNDINGS = 4
"""By how many of the smallest steps rounding may leave Newton above the root."""
_BELOW_ONE = 1.0 - 2.0**-53


@inline_kernel
def compute_kl(p: float, q: float) -> float:
    """Compute the relative entropy ``kl(p, q)`` of two binary rewards with these means.

    >>> compute_kl(0.5, 0.5), round(compute_kl(0.5, 0.9), 4), compute_kl(0.5, 1.0)
    (0.0, 0.5108, inf)
    """
    return _compute_kl_term(p, q) + _compute_kl_term(1.0 - p, 1.0 - q)


@inline_kernel
def _compute_kl_term(p: float, q: float) -> float:
    """Compute ``p log(p / q)``, which is 0 for no chance ``p``."""
    if p <= 0.0:
        return 0.0
    return p * math.log(p / q) if q > 0.0 else np.inf


@compile_kernel
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
    known = _compute_kl_term(mean, 1.0) + _compute_kl_term(1.0 - mean, 1.0)
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


@inline_kernel
def compute_budget(t: float, c: float) -> float:
    """Compute how far from its mean KL-UCB's index may lie: ``log t + c log log t``.

    In relative entropy times the plays of the arm, in round ``t`` of a context.
    """
    return math.log(t) + c * math.log(max(math.log(t), 1.0))


@inline_kernel
def _find_highest_lower(score_table: Floats, start: int, stop: int) -> float:
    """Find the highest lower end of a bound among some arms.

    Arms whose upper end lies below it are out.
    """
    highest = -np.inf
    for arm in range(start, stop):
        highest = max(highest, score_table[arm, LOWER])
    return highest


@inline_kernel
def _count_candidates(
    count_rows: Floats, score_table: Floats, start: int, stop: int, least: float
) -> tuple[int, int]:
    """Count the arms whose upper end reaches ``least``, and those of them never played.

    Such arms are not ruled out, and KL-UCB plays each once first.
    """
    candidates, untried = 0, 0
    for arm in range(start, stop):
        if score_table[arm, UPPER] >= least:
            candidates += 1
            untried += count_rows[int(score_table[arm, STATISTICS]), 0] == 0.0
    return candidates, untried


@inline_kernel
def _score_arm(n: float, total: float, budget: float, low: float, high: float) -> float:
    """Compute KL-UCB's index of an arm without its bound, from its plays and reward sum."""
    if not n:
        return np.inf
    mean = (total / n - low) / (high - low)
    return low + (high - low) * invert_kl(min(max(mean, 0.0), 1.0), budget / n)


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
    """Find the row of the arm with KL-UCB's highest index, and how many needed no score.

    Arms come by decreasing upper end. Those whose upper end lies below another's lower end are
    out; while some that are in were never played, only those are scored.
    """
    mark_unscored(score_table, start, stop)
    least = _find_highest_lower(score_table, start, stop)
    candidates, untried = _count_candidates(count_rows, score_table, start, stop, least)
    left = untried or candidates
    winner, best, best_free, best_position = -1, -np.inf, -np.inf, np.inf
    for arm in range(start, stop):
        upper, row = score_table[arm, UPPER], int(score_table[arm, STATISTICS])
        if upper < least or (winner >= 0 and upper < best):
            break
        if untried and count_rows[row, 0]:
            continue
        free = _score_arm(count_rows[row, 0], count_rows[row, 1], budget, low, high)
        index, position = min(free, upper), score_table[arm, POSITION]
        score_table[arm, FREE_SCORE], score_table[arm, SCORE] = free, index
        left -= 1
        if winner < 0 or is_ahead(index, free, position, best, best_free, best_position):
            winner, best, best_free, best_position = arm, index, free, position
    return winner, left


@compile_kernel
def decide_kl_ucb(
    count_rows: Floats, score_table: Floats, t: float, c: float, low: float, high: float
) -> tuple[int, int]:
    """Make one decision of KL-UCB in round ``t`` of a context.

    Rewards go from ``low`` to ``high``. Gives the winner's row in the table, and how many arms
    needed no score.
    """
    return find_best_arm(
        count_rows, score_table, 0, score_table.shape[0], compute_budget(t, c), low, high
    )


@compile_kernel
def play_kl_ucb(
    score_table: Floats, c: float, low: float, high: float, batch: BatchArrays
) -> Places:
    """Play whole runs of KL-UCB; gives the arm pulled in every run and round.

    As the environment numbers its arms.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    count_rows, starts = np.empty((batch.target.size, 2)), batch.starts
    plays = np.empty(starts.size - 1)
    for run in range(runs):
        count_rows[:], plays[:] = 0.0, 0.0
        for t in range(rounds):
            v = batch.contexts[run, t]
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                budget = compute_budget(plays[v] + 1.0, c)
                arm, _ = find_best_arm(
                    count_rows, score_table, starts[v], starts[v + 1], budget, low, high
                )
            pulls[run, t] = batch.target[arm]
            plays[v] += 1.0
            count_rows[arm, 0] += 1.0
            count_rows[arm, 1] += 1.0 if batch.uniforms[run, t] < batch.means[arm] else 0.0
    return pulls
