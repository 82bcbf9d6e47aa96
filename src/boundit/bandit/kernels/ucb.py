"""UCB in compiled code: one decision, and whole runs of them."""

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


@compile_kernel
def compute_anytime_width(sigma: float, t: float) -> float:
    """Compute how far UCB's index lies above the mean after one play, in round ``t``.

    Where nobody says how long it plays: ``sigma sqrt(2 log(1 + t log(t)^2))``, which grows so
    slowly that regret stays logarithmic (Lattimore and Szepesvari 2020, 8.1).
    """
    return sigma * math.sqrt(2.0 * math.log(1.0 + t * math.log(t) ** 2))


@inline_kernel
def find_best_arm(
    count_rows: Floats, score_table: Floats, start: int, stop: int, width: float
) -> tuple[int, int]:
    """Find the row of the arm with UCB's highest index, and the first row not scored.

    Arms come by decreasing upper end; ``count_rows`` have a count and a sum each.
    """
    winner, best, best_free, best_position = -1, -np.inf, -np.inf, np.inf
    for arm in range(start, stop):
        if winner >= 0 and score_table[arm, UPPER] < best:
            return winner, arm
        slot, free = int(score_table[arm, STATISTICS]), np.inf
        played = count_rows[slot, 0]
        if played:
            free = count_rows[slot, 1] / played + width / math.sqrt(played)
        index, position = (
            max(min(free, score_table[arm, UPPER]), score_table[arm, LOWER]),
            score_table[arm, POSITION],
        )
        score_table[arm, FREE_SCORE], score_table[arm, SCORE] = free, index
        if winner < 0 or is_ahead(index, free, position, best, best_free, best_position):
            winner, best, best_free, best_position = arm, index, free, position
    return winner, stop


@compile_kernel
def decide_ucb(count_rows: Floats, score_table: Floats, width: float) -> tuple[int, int]:
    """Make one decision of UCB; gives the winner's row, and how many arms needed no score."""
    n = score_table.shape[0]
    winner, end = find_best_arm(count_rows, score_table, 0, n, width)
    mark_unscored(score_table, end, n)
    return winner, n - end


@compile_kernel
def play_ucb(score_table: Floats, width: float, sigma: float, batch: BatchArrays) -> Places:
    """Play whole runs of UCB; gives the arm pulled in every run and round.

    As the environment numbers its arms. A ``width`` of nan is the anytime one of each round,
    counted in its context.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    count_rows, starts = np.empty((batch.target.size, 2)), batch.starts
    plays, anytime = np.empty(starts.size - 1), math.isnan(width)
    for run in range(runs):
        count_rows[:], plays[:] = 0.0, 0.0
        for t in range(rounds):
            c = batch.contexts[run, t]
            plays[c] += 1.0
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                if anytime:
                    width = compute_anytime_width(sigma, plays[c])
                arm, _ = find_best_arm(count_rows, score_table, starts[c], starts[c + 1], width)
            pulls[run, t] = batch.target[arm]
            count_rows[arm, 0] += 1.0
            count_rows[arm, 1] += 1.0 if batch.uniforms[run, t] < batch.means[arm] else 0.0
    return pulls
