"""Linear Thompson sampling in compiled code: one decision, and whole runs of them.

Models and rows lie as ``kernel_ridge`` says.
"""

from typing import NamedTuple

import numpy as np

from boundit.bandit.compiled import compiled
from boundit.bandit.kernel_contest import leads
from boundit.bandit.kernel_dense import factored
from boundit.bandit.kernel_draws import cut_normal, normal_pair
from boundit.bandit.kernel_ridge import dot, see, spread
from boundit.bandit.stage import Floats, Places, Seeds
from boundit.bandit.stream import branched, stream


class Rows(NamedTuple):
    """Arms in the order in which they are looked at: models, features, ends and places."""

    slots: Places
    x: Floats
    lower: Floats
    upper: Floats
    place: Places


@compiled
def joint_luck(inverse: Floats, m: int, d: int, p: int, word: np.uint64) -> Floats:
    """Draw from the normal law around zero with a model's inverse as its covariance."""
    square = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            square[i, j] = inverse[m * p * p + i * p + j]
    low, luck = factored(square), np.zeros(p)
    for j in range(0, d, 2):
        one, two, word = normal_pair(word)
        for i in range(j, d):
            luck[i] += low[i, j] * one
            if j + 1 <= i:
                luck[i] += low[i, j + 1] * two
    return luck


@compiled
def best_draw(
    word: np.uint64,
    inverse: Floats,
    theta: Floats,
    rows: Rows,
    span: tuple[int, int],
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001, compiled code has no names for its arguments
    draws: Floats,
    free: Floats,
    work: Floats,
) -> tuple[int, int]:
    """The highest draw among arms by decreasing cap: its position, and how many were drawn.

    Arms that share a model share the luck that moves it; any other luck is an arm's own.
    """
    (start, stop), p = span, work.size
    luck = joint_luck(inverse, rows.slots[start], d, p, word) if shared else work
    winner, best = -1, -np.inf
    for here in range(start, stop):
        lower, upper, place = rows.lower[here], rows.upper[here], rows.place[here]
        if winner >= 0 and upper < best:
            return winner, here - start
        m, at, own = rows.slots[here], here * p, branched(word, place)
        mean, wide = dot(theta, m * p, rows.x, at, p), 0.0
        if shared:
            free[here] = mean + scale * dot(luck, 0, rows.x, at, p)
            if not lower <= free[here] <= upper:
                wide = scale * spread(inverse, m, rows.x, at, d, work)
        else:
            wide = scale * spread(inverse, m, rows.x, at, d, work)
            z, _, own = normal_pair(own)
            free[here] = mean + wide * z
        draws[here] = draw = cut_normal(mean, wide, free[here], lower, upper, own)
        if winner < 0 or leads(draw, draw, place, best, best, rows.place[start + winner]):
            winner, best = here - start, draw
    return winner, stop - start


@compiled
def decide_lin_ts(
    seed: np.uint64,
    events: int,
    who: np.uint64,
    inverse: Floats,
    theta: Floats,
    slots: Places,
    x: Floats,
    lower: Floats,
    upper: Floats,
    place: Places,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001
    further: int,
    draws: Floats,
    free: Floats,
) -> tuple[int, int, float]:
    """One decision: the winner's position, how many arms were drawn, the winner's share.

    The share is that of wins in this and so many further draws.
    """
    rows, span = Rows(slots, x, lower, upper, place), (0, slots.size)
    work, word = np.empty(x.size // slots.size), stream(seed, events, who)
    winner, looked = best_draw(
        word, inverse, theta, rows, span, d, scale, shared, draws, free, work
    )
    wins, others, loose = 1, np.empty(slots.size), np.empty(slots.size)
    for k in range(further):
        other = branched(~word, k)
        again, _ = best_draw(
            other, inverse, theta, rows, span, d, scale, shared, others, loose, work
        )
        wins += again == winner
    return winner, looked, wins / (1 + further)


@compiled
def play_lin_ts(
    inverse: Floats,
    theta: Floats,
    rows: Rows,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001
    words: Seeds,
    starts: Places,
    means: Floats,
    target: Places,
    visitors: Places,
    luck: Floats,
    seeds: Seeds,
) -> Places:
    """Whole runs from the same start; what is pulled, as ``target`` names the arms.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``.
    """
    runs, rounds = visitors.shape
    p, pulls = rows.x.size // target.size, np.empty((runs, rounds), np.int64)
    draws, free, work = np.empty(target.size), np.empty(target.size), np.empty(p)
    for run in range(runs):
        now, estimate = inverse.copy(), theta.copy()
        for t in range(rounds):
            c = visitors[run, t]
            word, span = stream(seeds[run], t, words[c]), (starts[c], starts[c + 1])
            found, _ = best_draw(
                word, now, estimate, rows, span, d, scale, shared, draws, free, work
            )
            here = starts[c] + found
            pulls[run, t] = target[here]
            reward = 1.0 if luck[run, t] < means[here] else 0.0
            see(now, estimate, rows.slots[here], rows.x, here * p, d, reward, work)
    return pulls
