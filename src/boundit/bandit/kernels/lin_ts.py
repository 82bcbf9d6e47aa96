"""Linear Thompson sampling in compiled code: one decision, and whole runs of them.

Models and rows lie as ``kernel_ridge`` says.
"""

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.kernels.compile import compiled
from boundit.bandit.kernels.dense import factored
from boundit.bandit.kernels.ridge import dot, expected, see, spread
from boundit.bandit.kernels.rng import branched, stream
from boundit.bandit.kernels.score_table import (
    FINAL,
    FREE,
    LOWER,
    MEAN,
    PLACE,
    SLOT,
    SPREAD,
    UPPER,
    BatchArrays,
    blank,
)
from boundit.bandit.kernels.truncated_draws import cut_normal, normal_pair


@compiled
def root_of(models: Floats, m: int, d: int, p: int) -> Floats:
    """The lower triangle whose square is a model's inverse."""
    square = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            square[i, j] = models[m + i * p + j]
    return factored(square)


@compiled
def joint_luck(root: Floats, p: int, word: np.uint64) -> Floats:
    """Draw from the normal law around zero whose covariance is the square of ``root``."""
    d, luck = root.shape[0], np.zeros(p)
    for j in range(0, d, 2):
        one, two, word = normal_pair(word)
        for i in range(j, d):
            luck[i] += root[i, j] * one
            if j + 1 <= i:
                luck[i] += root[i, j + 1] * two
    return luck


@compiled
def best_draw(
    word: np.uint64,
    models: Floats,
    x: Floats,
    sheet: Floats,
    span: tuple[int, int],
    d: int,
    scale: float,
    root: Floats,
    work: Floats,
) -> tuple[int, int]:
    """The highest draw among arms by decreasing cap, and the first that was not drawn.

    Arms that share a model share the luck that moves it, and its ``root`` is given; without one
    an arm's luck is its own.
    """
    (start, stop), p, shared = span, work.size, root.size > 0
    luck = joint_luck(root, p, word) if shared else work
    winner, best = -1, -np.inf
    for here in range(start, stop):
        lower, upper, place = sheet[here, LOWER], sheet[here, UPPER], sheet[here, PLACE]
        if winner >= 0 and upper < best:
            return winner, here
        m, at, own = int(sheet[here, SLOT]), here * p, branched(word, int(place))
        mean, wide = expected(models, m, x, at, p), 0.0
        if shared:
            free = mean + scale * dot(luck, 0, x, at, p)
            if not lower <= free <= upper:
                wide = scale * spread(models, m, x, at, d, work)
        else:
            wide = scale * spread(models, m, x, at, d, work)
            z, _, own = normal_pair(own)
            free = mean + wide * z
        draw = cut_normal(mean, wide, free, lower, upper, own)
        sheet[here, FREE], sheet[here, FINAL] = free, draw
        sheet[here, MEAN], sheet[here, SPREAD] = mean, wide
        if winner < 0 or draw > best or (draw == best and place < sheet[winner, PLACE]):
            winner, best = here, draw
    return winner, stop


@compiled
def decide_lin_ts(
    seed: np.uint64,
    events: int,
    who: np.uint64,
    models: Floats,
    x: Floats,
    sheet: Floats,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001, compiled code has no names for its arguments
    telling: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms were not drawn.

    When ``telling`` it writes down what is believed of these too.
    """
    n = sheet.shape[0]
    p = x.size // n
    work, root = np.empty(p), np.empty((0, 0))
    if shared:
        root = root_of(models, int(sheet[0, SLOT]), d, p)
    word = stream(seed, events, who)
    winner, end = best_draw(word, models, x, sheet, (0, n), d, scale, root, work)
    for here in range(end if telling else n, n):
        m, at = int(sheet[here, SLOT]), here * p
        sheet[here, MEAN] = expected(models, m, x, at, p)
        sheet[here, SPREAD] = scale * spread(models, m, x, at, d, work)
    blank(sheet, end, n)
    return winner, n - end


@compiled
def share_of_wins(
    seed: np.uint64,
    events: int,
    who: np.uint64,
    models: Floats,
    x: Floats,
    sheet: Floats,
    d: int,
    scale: float,
    winner: int,
    further: int,
) -> float:
    """How often an arm wins in the draw of a decision, which it won, and in further ones.

    All arms share the first model.
    """
    n = sheet.shape[0]
    p = x.size // n
    word, work, root = stream(seed, events, who), np.empty(p), root_of(models, 0, d, p)
    wins = 1
    for k in range(further):
        again, _ = best_draw(branched(~word, k), models, x, sheet, (0, n), d, scale, root, work)
        wins += again == winner
    return wins / (1 + further)


@compiled
def play_lin_ts(
    start: Floats,
    x: Floats,
    sheet: Floats,
    d: int,
    scale: float,
    shared: bool,  # noqa: FBT001
    words: Seeds,
    seeds: Seeds,
    course: BatchArrays,
) -> Places:
    """Whole runs from the same start; what is pulled, by its name outside."""
    runs, rounds = course.visitors.shape
    pulls, sheet = np.empty((runs, rounds), np.int64), sheet.copy()
    work, root = np.empty(x.size // course.target.size), np.empty((0, 0))
    for run in range(runs):
        models = start.copy()
        for t in range(rounds):
            c = course.visitors[run, t]
            if shared:
                root = root_of(models, 0, d, work.size)
            word, span = (
                stream(seeds[run], t, words[c]),
                (course.starts[c], course.starts[c + 1]),
            )
            here, _ = best_draw(word, models, x, sheet, span, d, scale, root, work)
            pulls[run, t] = course.target[here]
            reward = 1.0 if course.luck[run, t] < course.means[here] else 0.0
            see(models, int(sheet[here, SLOT]), x, here * work.size, d, reward, work)
    return pulls
