"""Whole runs of LinUCB whose rounds narrow its bounds, in compiled code.

Ends move as a run goes on, and with them the order of the arms, so all arms of a context are
scored: the same one wins as if they were looked at by decreasing cap.
"""

import numpy as np

from boundit.bandit.compiled import compiled, inlined
from boundit.bandit.kernel_contest import leads
from boundit.bandit.kernel_living import REFUTED, Found, take
from boundit.bandit.kernel_ridge import dot, see, spread
from boundit.bandit.living_board import LivingBoard
from boundit.bandit.stage import Floats, Places


@inlined
def _best_arm(
    inverse: Floats,
    theta: Floats,
    version: Places,
    slots: Places,
    x: Floats,
    lower: Floats,
    upper: Floats,
    place: Places,
    span: tuple[int, int],
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    found: Found,
    pair: Places,
    free: Floats,
    scored: Places,
    work: Floats,
) -> int:
    """The place on the board of the arm that wins, by the ends as they are now."""
    p, winner = work.size, -1
    best, best_free, best_place = -np.inf, -np.inf, 0
    for here in range(span[0], span[1]):
        m, j = slots[here], pair[here]
        if scored[here] != version[m]:
            wide = spread(inverse, m, x, here * p, d, work)
            free[here] = dot(theta, m * p, x, here * p, p) + alpha * wide
            scored[here] = version[m]
        index = min(free[here], found.upper[j] if j >= 0 else upper[here])
        if floor:
            index = max(index, found.lower[j] if j >= 0 else lower[here])
        if winner < 0 or leads(index, free[here], place[here], best, best_free, best_place):
            winner, best, best_free, best_place = here, index, free[here], place[here]
    return winner


@inlined
def _shown(rounds: LivingBoard, found: Found, here: int, reward: int, luck: float) -> int:
    """Take in what a round shows besides its reward."""
    cell, came = 0, 0
    while cell < rounds.shows.shape[2] - 1 and luck >= rounds.shows[here, reward, cell]:
        cell += 1
    for plan in range(rounds.pools.shape[0]):
        pool, its = rounds.pools[plan, here], rounds.cells[plan, cell]
        if pool >= 0 and its >= 0:
            came = max(came, take(found, rounds.claims, pool, its))
    return came


@compiled
def play_narrowing(
    inverse: Floats,
    theta: Floats,
    slots: Places,
    x: Floats,
    lower: Floats,
    upper: Floats,
    place: Places,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    starts: Places,
    means: Floats,
    target: Places,
    rounds: LivingBoard,
    visitors: Places,
    luck: Floats,
    seeing: Floats,
) -> Places:
    """Whole runs from the same start; what is pulled, as ``target`` names the arms.

    A run that refutes the bounds goes on without them, and with arms that are not here: it has
    -1 for every pull.
    """
    runs, length = visitors.shape
    pulls = np.empty((runs, length), np.int64)
    free, scored, version = np.empty(slots.size), np.empty_like(slots), np.empty_like(slots)
    work, begun = np.empty(x.size // slots.size), rounds.found
    for run in range(runs):
        inverse_now, theta_now = inverse.copy(), theta.copy()
        scored[:], version[:] = -1, 0
        found = Found(
            begun.counts.copy(),
            begun.low.copy(),
            begun.high.copy(),
            begun.lower.copy(),
            begun.upper.copy(),
        )
        for t in range(length):
            c = visitors[run, t]
            here = _best_arm(
                inverse_now,
                theta_now,
                version,
                slots,
                x,
                lower,
                upper,
                place,
                (starts[c], starts[c + 1]),
                d,
                alpha,
                floor,
                found,
                rounds.pair,
                free,
                scored,
                work,
            )
            pulls[run, t] = target[here]
            reward = 1 if luck[run, t] < means[here] else 0
            m = slots[here]
            see(inverse_now, theta_now, m, x, here * work.size, d, float(reward), work)
            version[m] += 1
            if _shown(rounds, found, here, reward, seeing[run, t]) == REFUTED:
                pulls[run] = -1
                break
    return pulls
