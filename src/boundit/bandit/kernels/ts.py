"""Thompson sampling in compiled code: one decision, and whole runs of them."""

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.ranking import mark_unscored
from boundit.bandit.kernels.rng import branch_stream, open_stream
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    TS_SUCCESSES,
    TS_TRIALS,
    UPPER,
)
from boundit.bandit.kernels.truncated_draws import draw_truncated_beta


@compile_kernel
def scale_to_unit(number: float, low: float, high: float) -> float:
    """Bring a reward to the scale from 0 to 1; what lies outside is clipped."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


@compile_kernel
def write_belief(
    count_rows: Floats, score_table: Floats, arm: int, low: float, high: float
) -> None:
    """Write into the table what Thompson sampling believes of an arm: successes and trials."""
    n, total = (
        count_rows[int(score_table[arm, STATISTICS]), 0],
        count_rows[int(score_table[arm, STATISTICS]), 1],
    )
    score_table[arm, TS_SUCCESSES] = n * scale_to_unit(total / n, low, high) if n else 0.0
    score_table[arm, TS_TRIALS] = n


@compile_kernel
def draw_best_arm(
    stream: np.uint64,
    count_rows: Floats,
    score_table: Floats,
    start: int,
    stop: int,
    low: float,
    high: float,
) -> tuple[int, int]:
    """Draw a mean for each arm by Thompson sampling; give the row of the highest draw.

    And the first row that was not drawn, arms coming by decreasing upper end. Draws are on the
    rewards' scale; the free ones are as they would be without a bound.
    """
    winner, best = -1, 0.0
    for arm in range(start, stop):
        lower, upper = score_table[arm, LOWER], score_table[arm, UPPER]
        least, most = scale_to_unit(lower, low, high), scale_to_unit(upper, low, high)
        if winner >= 0 and most < best:
            return winner, arm
        write_belief(count_rows, score_table, arm, low, high)
        wins, position = score_table[arm, TS_SUCCESSES], score_table[arm, POSITION]
        own = branch_stream(stream, int(position))
        draw, loose = draw_truncated_beta(
            wins, score_table[arm, TS_TRIALS] - wins, least, most, own
        )
        shown = min(max(low + (high - low) * draw, lower), upper)
        score_table[arm, SCORE] = shown
        score_table[arm, FREE_SCORE] = shown if loose == draw else low + (high - low) * loose
        if (
            winner < 0
            or draw > best
            or (draw == best and position < score_table[winner, POSITION])
        ):
            winner, best = arm, draw
    return winner, stop


@compile_kernel
def decide_ts(
    seed: int,
    id_hash: int,
    count_rows: Floats,
    score_table: Floats,
    low: float,
    high: float,
) -> tuple[int, int]:
    """Make one decision of Thompson sampling: the winner's row, and how many were not drawn."""
    n = score_table.shape[0]
    winner, end = draw_best_arm(
        open_stream(seed, id_hash), count_rows, score_table, 0, n, low, high
    )
    for arm in range(end, n):
        write_belief(count_rows, score_table, arm, low, high)
    mark_unscored(score_table, end, n)
    return winner, n - end


@compile_kernel
def decide_many_ts(
    seed: int,
    id_hashes: Places,
    count_rows: Floats,
    score_table: Floats,
    low: float,
    high: float,
) -> tuple[Places, Floats]:
    """Make decisions of Thompson sampling for several visitors of one context.

    Gives for each the winner's row and how many arms were not drawn, and the score tables.
    """
    n = id_hashes.size
    found, tables = np.empty((n, 2), np.int64), np.empty((n, *score_table.shape))
    for i in range(n):
        tables[i] = score_table
        found[i, 0], found[i, 1] = decide_ts(
            seed, id_hashes[i], count_rows, tables[i], low, high
        )
    return found, tables


@compile_kernel
def play_ts(
    score_table: Floats,
    low: float,
    high: float,
    batch: BatchArrays,
) -> Places:
    """Play whole runs of Thompson sampling; gives the arm pulled in every run and round.

    As the environment numbers its arms.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    count_rows, starts = np.empty((batch.target.size, 2)), batch.starts
    for run in range(runs):
        count_rows[:] = 0.0
        for t in range(rounds):
            c = batch.contexts[run, t]
            stream = open_stream(batch.seeds[run], t)
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                arm, _ = draw_best_arm(
                    stream, count_rows, score_table, starts[c], starts[c + 1], low, high
                )
            pulls[run, t] = batch.target[arm]
            count_rows[arm, 0] += 1.0
            count_rows[arm, 1] += 1.0 if batch.uniforms[run, t] < batch.means[arm] else 0.0
    return pulls
