"""LinUCB in compiled code: one decision, and whole runs of them."""

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compiled, inlined
from boundit.bandit.kernels.ridge import expected, see, spread, version_at
from boundit.bandit.kernels.score_table import (
    FINAL,
    FREE,
    LOWER,
    PLACE,
    SCORED,
    SLOT,
    UPPER,
    BatchArrays,
    blank,
    leads,
)


@inlined
def score(
    models: Floats, x: Floats, sheet: Floats, here: int, d: int, alpha: float, work: Floats
) -> None:
    """Write the index of an arm on its sheet, as it is without the prior."""
    p, m = work.size, int(sheet[here, SLOT])
    wide = spread(models, m, x, here * p, d, work)
    sheet[here, FREE] = expected(models, m, x, here * p, p) + alpha * wide
    sheet[here, SCORED] = models[m + version_at(p)]


@inlined
def best_arm(
    models: Floats,
    x: Floats,
    sheet: Floats,
    start: int,
    stop: int,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001, compiled code has no names for its arguments
    work: Floats,
) -> tuple[int, int]:
    """The winner among arms by decreasing cap, and the first that needed no score.

    A score that was worked out from the same version of the model is on the sheet already.
    With a ``floor`` an index is at least the lower end.
    """
    version = version_at(work.size)
    winner, best, best_free, best_place = -1, -np.inf, -np.inf, np.inf
    for here in range(start, stop):
        if winner >= 0 and sheet[here, UPPER] < best:
            return winner, here
        if sheet[here, SCORED] != models[int(sheet[here, SLOT]) + version]:
            score(models, x, sheet, here, d, alpha, work)
        free, place = sheet[here, FREE], sheet[here, PLACE]
        index = min(free, sheet[here, UPPER])
        if floor:
            index = max(index, sheet[here, LOWER])
        sheet[here, FINAL] = index
        if winner < 0 or leads(index, free, place, best, best_free, best_place):
            winner, best, best_free, best_place = here, index, free, place
    return winner, stop


@compiled
def decide_linear(
    models: Floats,
    x: Floats,
    sheet: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms needed no score."""
    n = sheet.shape[0]
    winner, end = best_arm(models, x, sheet, 0, n, d, alpha, floor, np.empty(x.size // n))
    blank(sheet, end, n)
    return winner, n - end


@compiled
def play_linear(
    start: Floats,
    x: Floats,
    sheet: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    course: BatchArrays,
) -> Places:
    """Whole runs from the same start; what is pulled, by its name outside."""
    runs, rounds = course.visitors.shape
    pulls, sheet = np.empty((runs, rounds), np.int64), sheet.copy()
    work, starts = np.empty(x.size // course.target.size), course.starts
    for run in range(runs):
        models = start.copy()
        sheet[:, SCORED] = -1.0
        for t in range(rounds):
            c = course.visitors[run, t]
            here, _ = best_arm(
                models, x, sheet, starts[c], starts[c + 1], d, alpha, floor, work
            )
            pulls[run, t] = course.target[here]
            reward = 1.0 if course.luck[run, t] < course.means[here] else 0.0
            see(models, int(sheet[here, SLOT]), x, here * work.size, d, reward, work)
    return pulls
