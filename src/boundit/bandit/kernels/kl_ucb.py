"""KL-UCB in compiled code: the index, one decision, and whole runs of them."""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compiled, inlined
from boundit.bandit.kernels.score_table import (
    FINAL,
    FREE,
    LOWER,
    PLACE,
    SLOT,
    UPPER,
    BatchArrays,
    leads,
)

_STEPS = 100
"""Newton needs about five; this only ends what rounding might keep alive."""
_ROUNDINGS = 4
"""By how many of the smallest steps rounding may leave Newton above the root."""
_BELOW_ONE = 1.0 - 2.0**-53


@compiled
def kl(p: float, q: float) -> float:
    """Relative entropy of two coins.

    >>> kl(0.5, 0.5), round(kl(0.5, 0.9), 4), kl(0.5, 1.0)
    (0.0, 0.5108, inf)
    """
    return _part(p, q) + _part(1.0 - p, 1.0 - q)


@inlined
def _part(p: float, q: float) -> float:
    if p <= 0.0:
        return 0.0
    return p * math.log(p / q) if q > 0.0 else np.inf


@compiled
def kl_upper(mean: float, budget: float) -> float:
    """The largest ``m`` with ``kl(mean, m) <= budget``, by Newton from above.

    ``kl(mean, .)`` is convex and grows, so Newton's steps from a point above the root go down
    and never pass it. Two such points: Pinsker's, and the root without the part of success,
    which is close when the root is near 1. A step that rounding turns around is the last; near
    1, where a rounding is worth much, the result is brought back under the budget.

    >>> round(kl_upper(0.5, 0.5108), 4)
    0.9
    """
    if mean >= 1.0 or budget <= 0.0:
        return min(mean, 1.0)
    known = _part(mean, 1.0) + _part(1.0 - mean, 1.0)
    top = 1.0 - math.exp((known - budget) / (1.0 - mean))
    q = min(top, mean + math.sqrt(budget / 2.0), _BELOW_ONE)
    for _ in range(_STEPS):
        slope = (q - mean) / (q * (1.0 - q))
        lower = q - (_part(mean, q) + _part(1.0 - mean, 1.0 - q) - budget) / slope
        if not mean < lower < q:
            break
        q = lower
    for _ in range(_ROUNDINGS):
        if _part(mean, q) + _part(1.0 - mean, 1.0 - q) <= budget:
            break
        q = np.nextafter(q, 0.0)
    return max(q, mean)


@inlined
def budget_of(t: float, c: float) -> float:
    """What round ``t`` allows: ``log t + c log log t``."""
    return math.log(t) + c * math.log(max(math.log(t), 1.0))


@inlined
def best_arm(
    cells: Floats,
    sheet: Floats,
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
    for here in range(start, stop):
        surest = max(surest, sheet[here, LOWER])
        sheet[here, FINAL] = np.nan
    for here in range(start, stop):
        if sheet[here, UPPER] >= surest:
            entered += 1
            tried += cells[int(sheet[here, SLOT]), 0] > 0.0
    untried = tried < entered
    left = entered - tried if untried else entered
    winner, best, best_free, best_place = -1, -np.inf, -np.inf, np.inf
    for here in range(start, stop):
        upper, slot = sheet[here, UPPER], int(sheet[here, SLOT])
        if upper < surest or (winner >= 0 and upper < best):
            break
        played = cells[slot, 0]
        if untried and played:
            continue
        free = np.inf
        if played:
            mean = (cells[slot, 1] / played - low) / (high - low)
            unit = kl_upper(min(max(mean, 0.0), 1.0), budget / played)
            free = low + (high - low) * unit
        index, place = min(free, upper), sheet[here, PLACE]
        sheet[here, FREE], sheet[here, FINAL] = free, index
        left -= 1
        if winner < 0 or leads(index, free, place, best, best_free, best_place):
            winner, best, best_free, best_place = here, index, free, place
    return winner, left


@compiled
def decide_kl(
    cells: Floats, sheet: Floats, t: float, c: float, low: float, high: float
) -> tuple[int, int]:
    """One decision in round ``t`` of a context, with rewards from ``low`` to ``high``."""
    return best_arm(cells, sheet, 0, sheet.shape[0], budget_of(t, c), low, high)


@compiled
def play_kl(sheet: Floats, c: float, low: float, high: float, course: BatchArrays) -> Places:
    """Whole runs; what is pulled, by its name outside."""
    runs, rounds = course.visitors.shape
    pulls, sheet = np.empty((runs, rounds), np.int64), sheet.copy()
    cells, starts = np.empty((course.target.size, 2)), course.starts
    plays = np.empty(starts.size - 1)
    for run in range(runs):
        cells[:], plays[:] = 0.0, 0.0
        for t in range(rounds):
            v = course.visitors[run, t]
            budget = budget_of(plays[v] + 1.0, c)
            here, _ = best_arm(cells, sheet, starts[v], starts[v + 1], budget, low, high)
            pulls[run, t] = course.target[here]
            plays[v] += 1.0
            cells[here, 0] += 1.0
            cells[here, 1] += 1.0 if course.luck[run, t] < course.means[here] else 0.0
    return pulls
