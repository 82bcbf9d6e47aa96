"""LinUCB in compiled code: one decision, and whole runs of them."""

import numpy as np

from boundit.bandit.compiled import compiled, inlined
from boundit.bandit.kernel_contest import leads
from boundit.bandit.kernel_ridge import dot, see, spread
from boundit.bandit.stage import Floats, Places


@inlined
def best_arm(
    inverse: Floats,
    theta: Floats,
    version: Places,
    slots: Places,
    x: Floats,
    lower: Floats,
    upper: Floats,
    place: Places,
    at: int,
    n: int,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    free: Floats,
    scored: Places,
    work: Floats,
) -> tuple[int, int]:
    """The winner among ``n`` arms by decreasing cap, and how many were looked at.

    The arms' numbers start at ``at``. A score that was worked out from the same version of the
    model is in ``free`` already. With a ``floor`` an index is at least the lower end.
    """
    p = work.size
    winner, final, best_free, best_place = -1, -np.inf, -np.inf, n
    for i in range(n):
        here = at + i
        if winner >= 0 and upper[here] < final:
            return winner, i
        m = slots[here]
        if scored[here] != version[m]:
            wide = spread(inverse, m, x, here * p, d, work)
            free[here] = dot(theta, m * p, x, here * p, p) + alpha * wide
            scored[here] = version[m]
        index = min(free[here], upper[here])
        if floor:
            index = max(index, lower[here])
        if winner < 0 or leads(index, free[here], place[here], final, best_free, best_place):
            winner, final, best_free, best_place = i, index, free[here], place[here]
    return winner, n


@compiled
def decide_linear(
    inverse: Floats,
    theta: Floats,
    version: Places,
    slots: Places,
    x: Floats,
    lower: Floats,
    upper: Floats,
    place: Places,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    free: Floats,
    scored: Places,
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms were looked at."""
    work = np.empty(x.size // slots.size)
    return best_arm(
        inverse,
        theta,
        version,
        slots,
        x,
        lower,
        upper,
        place,
        0,
        slots.size,
        d,
        alpha,
        floor,
        free,
        scored,
        work,
    )


@compiled
def play_linear(
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
    visitors: Places,
    luck: Floats,
) -> Places:
    """Whole runs from the same start; what is pulled, as ``target`` names the arms.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``.
    """
    runs, rounds = visitors.shape
    p = x.size // slots.size
    pulls = np.empty((runs, rounds), np.int64)
    free, scored, version = np.empty(slots.size), np.empty_like(slots), np.empty_like(slots)
    work = np.empty(p)
    for run in range(runs):
        inverse_now, theta_now = inverse.copy(), theta.copy()
        scored[:], version[:] = -1, 0
        for t in range(rounds):
            at = starts[visitors[run, t]]
            found, _ = best_arm(
                inverse_now,
                theta_now,
                version,
                slots,
                x,
                lower,
                upper,
                place,
                at,
                starts[visitors[run, t] + 1] - at,
                d,
                alpha,
                floor,
                free,
                scored,
                work,
            )
            here = at + found
            pulls[run, t] = target[here]
            reward = 1.0 if luck[run, t] < means[here] else 0.0
            m = slots[here]
            see(inverse_now, theta_now, m, x, here * p, d, reward, work)
            version[m] += 1
    return pulls
