"""KL-UCB in compiled code: the index, one decision, and whole runs of them."""

import math

import numpy as np

from boundit.bandit.compiled import compiled, inlined
from boundit.bandit.kernel_contest import leads
from boundit.bandit.stage import Floats, Places

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
    count: Floats,
    total: Floats,
    slots: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    at: int,
    n: int,
    budget: float,
    low: float,
    high: float,
    free: Floats,
) -> tuple[int, int, int]:
    """The winner among ``n`` arms by decreasing cap, how many were looked at, and how many in.

    Arms whose upper end lies below another's lower end are out; while some that are in were
    never played, only those are. An arm that was not looked at has no number in ``free``.
    """
    surest = -np.inf
    for here in range(at, at + n):
        surest = max(surest, lower[here])
        free[here] = np.nan
    entered, untried = 0, False
    for here in range(at, at + n):
        if upper[here] >= surest:
            entered += 1
            untried = untried or not count[slots[here]]
    if untried:
        entered = 0
        for here in range(at, at + n):
            entered += upper[here] >= surest and not count[slots[here]]
    winner, looked, final, best_free, best_place = -1, 0, -np.inf, -np.inf, n
    for i in range(n):
        here = at + i
        if upper[here] < surest or (winner >= 0 and upper[here] < final):
            break
        played = count[slots[here]]
        if untried and played:
            continue
        free[here] = np.inf
        if played:
            mean = (total[slots[here]] / played - low) / (high - low)
            unit = kl_upper(min(max(mean, 0.0), 1.0), budget / played)
            free[here] = low + (high - low) * unit
        looked += 1
        index = min(free[here], upper[here])
        if winner < 0 or leads(index, free[here], place[here], final, best_free, best_place):
            winner, final, best_free, best_place = i, index, free[here], place[here]
    return winner, looked, entered


@compiled
def decide_kl(
    count: Floats,
    total: Floats,
    slots: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    t: float,
    c: float,
    low: float,
    high: float,
    free: Floats,
) -> tuple[int, int, int]:
    """One decision in round ``t`` of a context, with rewards from ``low`` to ``high``."""
    budget = budget_of(t, c)
    return best_arm(
        count, total, slots, lower, upper, place, 0, slots.size, budget, low, high, free
    )


@compiled
def play_kl(
    starts: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    c: float,
    low: float,
    high: float,
    means: Floats,
    target: Places,
    visitors: Places,
    luck: Floats,
) -> Places:
    """Whole runs; what is pulled, as ``target`` names the arms.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``.
    """
    runs, rounds = visitors.shape
    pulls = np.empty((runs, rounds), np.int64)
    count, total, free = np.empty(place.size), np.empty(place.size), np.empty(place.size)
    slots, plays = np.arange(place.size), np.empty(starts.size - 1)
    for run in range(runs):
        count[:], total[:], plays[:] = 0.0, 0.0, 0.0
        for t in range(rounds):
            v = visitors[run, t]
            at, n = starts[v], starts[v + 1] - starts[v]
            budget = budget_of(plays[v] + 1.0, c)
            found, _, _ = best_arm(
                count, total, slots, lower, upper, place, at, n, budget, low, high, free
            )
            here = at + found
            pulls[run, t] = target[here]
            plays[v] += 1.0
            count[here] += 1.0
            total[here] += 1.0 if luck[run, t] < means[here] else 0.0
    return pulls
