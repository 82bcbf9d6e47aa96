"""UCB in compiled code: one decision, and whole runs of them."""

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
    blank,
    leads,
)


@inlined
def best_arm(
    cells: Floats, sheet: Floats, start: int, stop: int, width: float
) -> tuple[int, int]:
    """The winner among arms by decreasing cap, and the first that needed no score.

    ``cells`` have a count and a sum each.
    """
    winner, best, best_free, best_place = -1, -np.inf, -np.inf, np.inf
    for here in range(start, stop):
        if winner >= 0 and sheet[here, UPPER] < best:
            return winner, here
        slot, free = int(sheet[here, SLOT]), np.inf
        played = cells[slot, 0]
        if played:
            free = cells[slot, 1] / played + width / math.sqrt(played)
        index, place = (
            max(min(free, sheet[here, UPPER]), sheet[here, LOWER]),
            sheet[here, PLACE],
        )
        sheet[here, FREE], sheet[here, FINAL] = free, index
        if winner < 0 or leads(index, free, place, best, best_free, best_place):
            winner, best, best_free, best_place = here, index, free, place
    return winner, stop


@compiled
def decide_ucb(cells: Floats, sheet: Floats, width: float) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms needed no score."""
    n = sheet.shape[0]
    winner, end = best_arm(cells, sheet, 0, n, width)
    blank(sheet, end, n)
    return winner, n - end


@compiled
def play_ucb(sheet: Floats, width: float, course: BatchArrays) -> Places:
    """Whole runs; what is pulled, by its name outside."""
    runs, rounds = course.visitors.shape
    pulls, sheet = np.empty((runs, rounds), np.int64), sheet.copy()
    cells, starts = np.empty((course.target.size, 2)), course.starts
    for run in range(runs):
        cells[:] = 0.0
        for t in range(rounds):
            c = course.visitors[run, t]
            here, _ = best_arm(cells, sheet, starts[c], starts[c + 1], width)
            pulls[run, t] = course.target[here]
            cells[here, 0] += 1.0
            cells[here, 1] += 1.0 if course.luck[run, t] < course.means[here] else 0.0
    return pulls
