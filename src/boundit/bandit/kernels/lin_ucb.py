"""LinUCB in compiled code: one decision, and whole runs of them."""

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.ranking import is_ahead, mark_unscored
from boundit.bandit.kernels.ridge import (
    compute_spread,
    locate_version,
    predict_mean,
    update_model,
)
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LIN_UCB_VERSION,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    UPPER,
)


@inline_kernel
def score_arm(
    models: Floats,
    x: Floats,
    score_table: Floats,
    arm: int,
    d: int,
    alpha: float,
    scratch: Floats,
) -> None:
    """Write LinUCB's index of an arm, without its bound, into the score table.

    And how much its model had learned by then, to know when the index is out of date.
    """
    p, model = scratch.size, int(score_table[arm, STATISTICS])
    spread = compute_spread(models, model, x, arm * p, d, scratch)
    score_table[arm, FREE_SCORE] = predict_mean(models, model, x, arm * p, p) + alpha * spread
    score_table[arm, LIN_UCB_VERSION] = models[model + locate_version(p)]


@inline_kernel
def find_best_arm(
    models: Floats,
    x: Floats,
    score_table: Floats,
    start: int,
    stop: int,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001, compiled code has no names for its arguments
    scratch: Floats,
) -> tuple[int, int]:
    """Find the row of the arm with LinUCB's highest index, and the first row not scored.

    Arms come by decreasing upper end. A score that was worked out from the same version of the
    model is in the table already. With a ``floor`` an index is at least the lower end.
    """
    version = locate_version(scratch.size)
    winner, best, best_free, best_position = -1, -np.inf, -np.inf, np.inf
    for arm in range(start, stop):
        if winner >= 0 and score_table[arm, UPPER] < best:
            return winner, arm
        if (
            score_table[arm, LIN_UCB_VERSION]
            != models[int(score_table[arm, STATISTICS]) + version]
        ):
            score_arm(models, x, score_table, arm, d, alpha, scratch)
        free, position = score_table[arm, FREE_SCORE], score_table[arm, POSITION]
        index = min(free, score_table[arm, UPPER])
        if floor:
            index = max(index, score_table[arm, LOWER])
        score_table[arm, SCORE] = index
        if winner < 0 or is_ahead(index, free, position, best, best_free, best_position):
            winner, best, best_free, best_position = arm, index, free, position
    return winner, stop


@compile_kernel
def decide_lin_ucb(
    models: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """Make one decision of LinUCB; gives the winner's row, and how many arms needed no score."""
    n = score_table.shape[0]
    winner, end = find_best_arm(
        models, x, score_table, 0, n, d, alpha, floor, np.empty(x.size // n)
    )
    mark_unscored(score_table, end, n)
    return winner, n - end


@compile_kernel
def play_lin_ucb(
    start: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    batch: BatchArrays,
) -> Places:
    """Play whole runs of LinUCB from one start; gives the arm of every run and round.

    As the environment numbers its arms.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    scratch, starts = np.empty(x.size // batch.target.size), batch.starts
    for run in range(runs):
        models = start.copy()
        score_table[:, LIN_UCB_VERSION] = -1.0
        for t in range(rounds):
            c = batch.contexts[run, t]
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                arm, _ = find_best_arm(
                    models, x, score_table, starts[c], starts[c + 1], d, alpha, floor, scratch
                )
            pulls[run, t] = batch.target[arm]
            reward = 1.0 if batch.uniforms[run, t] < batch.means[arm] else 0.0
            update_model(
                models,
                int(score_table[arm, STATISTICS]),
                x,
                arm * scratch.size,
                d,
                reward,
                scratch,
            )
    return pulls
