"""Linear Thompson sampling in compiled code: one decision, and whole runs of them.

Models and rows lie as ``kernels.ridge`` says.
"""

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import factor
from boundit.bandit.kernels.explore import find_explored_row
from boundit.bandit.kernels.ranking import mark_unscored
from boundit.bandit.kernels.ridge import compute_spread, dot_padded, predict_mean, update_model
from boundit.bandit.kernels.rng import branch_stream, mix_bits, open_stream
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    LIN_TS_MEAN,
    LIN_TS_SPREAD,
    LOWER,
    POSITION,
    SCORE,
    STATISTICS,
    UPPER,
)
from boundit.bandit.kernels.truncated_draws import draw_normal_pair, truncate_normal_draw


@compile_kernel
def factor_inverse(models: Floats, model: int, d: int, p: int) -> Floats:
    """Find the lower triangle ``L`` with ``L L'`` a ridge model's inverse, to draw from it.

    Called where all arms share one model: by ``decide_lin_ts`` and
    ``estimate_win_probabilities`` once, by ``play_lin_ts`` in every round.
    """
    square = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            square[i, j] = models[model + i * p + j]
    return factor(square)


@compile_kernel
def draw_deviation(root: Floats, p: int, stream: np.uint64) -> Floats:
    """Draw how far the coefficients of a shared model lie from their estimate.

    From the normal law around zero with covariance ``root root'``.
    """
    d, deviation = root.shape[0], np.zeros(p)
    for j in range(0, d, 2):
        one, two, stream = draw_normal_pair(stream)
        for i in range(j, d):
            deviation[i] += root[i, j] * one
            if j + 1 <= i:
                deviation[i] += root[i, j + 1] * two
    return deviation


@compile_kernel
def draw_best_arm(
    stream: np.uint64,
    models: Floats,
    x: Floats,
    score_table: Floats,
    span: tuple[int, int],
    d: int,
    scale: float,
    root: Floats,
    scratch: Floats,
) -> tuple[int, int]:
    """Draw a mean for each arm by linear Thompson sampling; give the row of the highest.

    And the first row that was not drawn, arms coming by decreasing upper end. Arms that share a
    model share the deviation drawn for it, and its ``root`` is given; without one an arm has a
    deviation of its own.
    """
    (start, stop), p, shared = span, scratch.size, root.size > 0
    deviation = draw_deviation(root, p, stream) if shared else scratch
    winner, best = -1, -np.inf
    for arm in range(start, stop):
        lower, upper, position = (
            score_table[arm, LOWER],
            score_table[arm, UPPER],
            score_table[arm, POSITION],
        )
        if winner >= 0 and upper < best:
            return winner, arm
        model, row, own = (
            int(score_table[arm, STATISTICS]),
            arm * p,
            branch_stream(stream, int(position)),
        )
        mean, spread = predict_mean(models, model, x, row, p), 0.0
        if shared:
            free = mean + scale * dot_padded(deviation, 0, x, row, p)
            if not lower <= free <= upper:
                spread = scale * compute_spread(models, model, x, row, d, scratch)
        else:
            spread = scale * compute_spread(models, model, x, row, d, scratch)
            z, _, own = draw_normal_pair(own)
            free = mean + spread * z
        draw = truncate_normal_draw(mean, spread, free, lower, upper, own)
        score_table[arm, FREE_SCORE], score_table[arm, SCORE] = free, draw
        score_table[arm, LIN_TS_MEAN], score_table[arm, LIN_TS_SPREAD] = mean, spread
        if (
            winner < 0
            or draw > best
            or (draw == best and position < score_table[winner, POSITION])
        ):
            winner, best = arm, draw
    return winner, stop


@compile_kernel
def decide_lin_ts(
    seed: int,
    id_hash: int,
    models: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001, compiled code has no names for its arguments
    all_beliefs: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """Make one decision of LinTS; gives the winner's row and how many arms were not drawn.

    With ``all_beliefs`` it writes mean and spread of these too into the table, for a
    propensity.
    """
    n = score_table.shape[0]
    p = x.size // n
    scratch, root = np.empty(p), np.empty((0, 0))
    if shared:
        root = factor_inverse(models, int(score_table[0, STATISTICS]), d, p)
    stream = open_stream(seed, id_hash)
    winner, end = draw_best_arm(stream, models, x, score_table, (0, n), d, scale, root, scratch)
    for arm in range(end if all_beliefs else n, n):
        model, row = int(score_table[arm, STATISTICS]), arm * p
        score_table[arm, LIN_TS_MEAN] = predict_mean(models, model, x, row, p)
        score_table[arm, LIN_TS_SPREAD] = scale * compute_spread(
            models, model, x, row, d, scratch
        )
    mark_unscored(score_table, end, n)
    return winner, n - end


@compile_kernel
def decide_many_lin_ts(
    seed: int,
    id_hashes: Places,
    models: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001
    all_beliefs: bool,  # noqa: FBT001
) -> tuple[Places, Floats]:
    """Make decisions of LinTS for several visitors of one context.

    Gives for each the winner's row and how many arms were not drawn, and the score tables.
    """
    n = id_hashes.size
    found, tables = np.empty((n, 2), np.int64), np.empty((n, *score_table.shape))
    for i in range(n):
        tables[i] = score_table
        found[i, 0], found[i, 1] = decide_lin_ts(
            seed, id_hashes[i], models, x, tables[i], d, scale, shared, all_beliefs
        )
    return found, tables


@compile_kernel
def estimate_win_probabilities(
    seed: int,
    models: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    scale: float,
    n_draws: int,
) -> Floats:
    """Estimate each arm's chance to win as its share of wins in many draws of LinTS.

    All arms share the first model. The draws hang on the seed and not on the decision, so that
    the shares are the same whichever arm won. One draw more is shared by all arms that the
    bounds leave: none of them has a chance of 0.
    """
    n = score_table.shape[0]
    p = x.size // n
    stream, scratch, root = (
        ~mix_bits(np.uint64(seed)),
        np.empty(p),
        factor_inverse(models, 0, d, p),
    )
    highest, wins = score_table[:, LOWER].max(), np.zeros(n)
    for arm in range(n):
        wins[arm] = 1.0 if score_table[arm, UPPER] >= highest else 0.0
    wins /= wins.sum()
    for k in range(n_draws):
        winner, _ = draw_best_arm(
            branch_stream(stream, k), models, x, score_table, (0, n), d, scale, root, scratch
        )
        wins[winner] += 1.0
    return wins / (1 + n_draws)


@compile_kernel
def play_lin_ts(
    start: Floats,
    x: Floats,
    score_table: Floats,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001
    batch: BatchArrays,
) -> Places:
    """Play whole runs of LinTS from one start; gives the arm of every run and round.

    As the environment numbers its arms.
    """
    runs, rounds = batch.contexts.shape
    pulls, score_table = np.empty((runs, rounds), np.int64), score_table.copy()
    scratch, root = np.empty(x.size // batch.target.size), np.empty((0, 0))
    for run in range(runs):
        models = start.copy()
        for t in range(rounds):
            c = batch.contexts[run, t]
            if shared:
                root = factor_inverse(models, 0, d, scratch.size)
            stream, span = (
                open_stream(batch.seeds[run], t),
                (batch.starts[c], batch.starts[c + 1]),
            )
            arm = find_explored_row(batch, run, t)
            if arm < 0:
                arm, _ = draw_best_arm(
                    stream, models, x, score_table, span, d, scale, root, scratch
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
