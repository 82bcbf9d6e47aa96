"""Thompson sampling in compiled code: one decision, and whole runs of them."""

from typing import NamedTuple

import numpy as np

from boundit.bandit.compiled import compiled
from boundit.bandit.kernel_contest import leads
from boundit.bandit.kernel_draws import beta_draw
from boundit.bandit.stage import Floats, Places, Seeds
from boundit.bandit.stream import branched, stream


class Table(NamedTuple):
    """Arms in the order in which they are looked at: their cells, ends and places."""

    slots: Places
    lower: Floats
    upper: Floats
    place: Places


@compiled
def unit(number: float, low: float, high: float) -> float:
    """Bring a reward to the scale from 0 to 1; what lies outside is clipped."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


@compiled
def best_draw(
    word: np.uint64,
    count: Floats,
    total: Floats,
    table: Table,
    span: tuple[int, int],
    low: float,
    high: float,
    draws: Floats,
    free: Floats,
) -> tuple[int, int]:
    """The highest draw among arms by decreasing cap: its position, and how many were drawn.

    The arms are those of the table from one position to another. Draws are on the rewards'
    scale; in ``free`` they are as they would be without a bound.
    """
    start, stop = span
    winner, best = -1, 0.0
    for here in range(start, stop):
        lower, upper = unit(table.lower[here], low, high), unit(table.upper[here], low, high)
        if winner >= 0 and upper < best:
            return winner, here - start
        n, place = count[table.slots[here]], table.place[here]
        wins = n * unit(total[table.slots[here]] / n, low, high) if n else 0.0
        draw, loose = beta_draw(wins, n - wins, lower, upper, branched(word, place))
        shown = min(max(low + (high - low) * draw, table.lower[here]), table.upper[here])
        draws[here] = shown
        free[here] = shown if loose == draw else low + (high - low) * loose
        if winner < 0 or leads(draw, draw, place, best, best, table.place[start + winner]):
            winner, best = here - start, draw
    return winner, stop - start


@compiled
def decide_ts(
    seed: np.uint64,
    events: int,
    who: np.uint64,
    count: Floats,
    total: Floats,
    slots: Places,
    lower: Floats,
    upper: Floats,
    place: Places,
    low: float,
    high: float,
    draws: Floats,
    free: Floats,
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms were drawn."""
    table = Table(slots, lower, upper, place)
    word = stream(seed, events, who)
    return best_draw(word, count, total, table, (0, slots.size), low, high, draws, free)


@compiled
def play_ts(
    starts: Places,
    table: Table,
    words: Seeds,
    low: float,
    high: float,
    means: Floats,
    target: Places,
    visitors: Places,
    luck: Floats,
    seeds: Seeds,
) -> Places:
    """Whole runs; what is pulled, as ``target`` names the arms. ``words`` name the contexts.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``.
    """
    runs, rounds = visitors.shape
    pulls = np.empty((runs, rounds), np.int64)
    count, total = np.empty(target.size), np.empty(target.size)
    draws, free = np.empty(target.size), np.empty(target.size)
    for run in range(runs):
        count[:], total[:] = 0.0, 0.0
        for t in range(rounds):
            c = visitors[run, t]
            word, span = stream(seeds[run], t, words[c]), (starts[c], starts[c + 1])
            found, _ = best_draw(word, count, total, table, span, low, high, draws, free)
            here = starts[c] + found
            pulls[run, t] = target[here]
            count[here] += 1.0
            total[here] += 1.0 if luck[run, t] < means[here] else 0.0
    return pulls
