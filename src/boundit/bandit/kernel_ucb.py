"""UCB in compiled code: one decision, and whole runs of them."""

import math

import numpy as np

from boundit.bandit.compiled import compiled, inlined
from boundit.bandit.kernel_contest import leads
from boundit.bandit.stage import Floats, Places


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
    width: float,
    free: Floats,
) -> tuple[int, int]:
    """The winner among ``n`` arms by decreasing cap, and how many were looked at.

    The arms' numbers start at ``at``; ``slots`` tells where an arm's count and sum are.
    """
    winner, final, best_free, best_place = -1, -np.inf, -np.inf, n
    for i in range(n):
        here = at + i
        if winner >= 0 and upper[here] < final:
            return winner, i
        played = count[slots[here]]
        free[here] = np.inf
        if played:
            free[here] = total[slots[here]] / played + width / math.sqrt(played)
        index = max(min(free[here], upper[here]), lower[here])
        if winner < 0 or leads(index, free[here], place[here], final, best_free, best_place):
            winner, final, best_free, best_place = i, index, free[here], place[here]
    return winner, n


@compiled
def decide_ucb(
    count: Floats,
    total: Floats,
    slots: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    width: float,
    free: Floats,
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms were looked at."""
    return best_arm(count, total, slots, lower, upper, place, 0, slots.size, width, free)


@compiled
def play_ucb(
    starts: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    width: float,
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
    slots = np.arange(place.size)
    for run in range(runs):
        count[:], total[:] = 0.0, 0.0
        for t in range(rounds):
            at = starts[visitors[run, t]]
            n = starts[visitors[run, t] + 1] - at
            found, _ = best_arm(count, total, slots, lower, upper, place, at, n, width, free)
            here = at + found
            pulls[run, t] = target[here]
            count[here] += 1.0
            total[here] += 1.0 if luck[run, t] < means[here] else 0.0
    return pulls
