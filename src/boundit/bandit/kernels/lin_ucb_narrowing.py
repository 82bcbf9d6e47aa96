"""Whole runs of LinUCB whose rounds narrow its bounds, in compiled code.

Ends move as a run goes on, and with them the order of the arms, so all arms of a context are
scored: the same one wins as if they were looked at by decreasing cap.
"""

from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compiled, inlined
from boundit.bandit.kernels.lin_ucb import score
from boundit.bandit.kernels.narrowing import REFUTED, NarrowedEnds, NarrowingPlan, take
from boundit.bandit.kernels.ridge import see, version_at
from boundit.bandit.kernels.score_table import (
    FREE,
    LOWER,
    PLACE,
    SCORED,
    SLOT,
    UPPER,
    BatchArrays,
    leads,
)


class NarrowingLayout(NamedTuple):
    """What a run starts from, and how the places of a board and its stage read.

    ``pair`` is the pair at each place of the board and ``pools`` its pool in each plan, -1 for
    none. ``cells`` is, for each plan, the cell of what the stage shows, -1 if that is not all
    of its variables; ``shows`` are the ends of the stage's cells at each place of the board,
    places x rewards x cells.
    """

    found: NarrowedEnds
    claims: NarrowingPlan
    pair: Places
    pools: Places
    cells: Places
    shows: Floats


@inlined
def _best_arm(
    models: Floats,
    x: Floats,
    sheet: Floats,
    span: tuple[int, int],
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    found: NarrowedEnds,
    pair: Places,
    work: Floats,
) -> int:
    """The place on the board of the arm that wins, by the ends as they are now."""
    version, winner = version_at(work.size), -1
    best, best_free, best_place = -np.inf, -np.inf, np.inf
    for here in range(span[0], span[1]):
        j = pair[here]
        if j >= 0:
            sheet[here, LOWER], sheet[here, UPPER] = found.lower[j], found.upper[j]
        if sheet[here, SCORED] != models[int(sheet[here, SLOT]) + version]:
            score(models, x, sheet, here, d, alpha, work)
        free, place = sheet[here, FREE], sheet[here, PLACE]
        index = min(free, sheet[here, UPPER])
        if floor:
            index = max(index, sheet[here, LOWER])
        if winner < 0 or leads(index, free, place, best, best_free, best_place):
            winner, best, best_free, best_place = here, index, free, place
    return winner


@inlined
def _shown(
    rounds: NarrowingLayout, found: NarrowedEnds, here: int, reward: int, luck: float
) -> int:
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
    start: Floats,
    x: Floats,
    ends: Floats,
    d: int,
    alpha: float,
    floor: bool,  # noqa: FBT001
    rounds: NarrowingLayout,
    seeing: Floats,
    course: BatchArrays,
) -> Places:
    """Whole runs from the same start; what is pulled, by its name outside.

    A run that refutes the bounds goes on without them, and with arms that are not here: it has
    -1 for every pull.
    """
    runs, length = course.visitors.shape
    pulls = np.empty((runs, length), np.int64)
    work, begun = np.empty(x.size // course.target.size), rounds.found
    for run in range(runs):
        models, sheet = start.copy(), ends.copy()
        sheet[:, SCORED] = -1.0
        found = NarrowedEnds(
            begun.counts.copy(),
            begun.low.copy(),
            begun.high.copy(),
            begun.lower.copy(),
            begun.upper.copy(),
        )
        for t in range(length):
            c = course.visitors[run, t]
            span = (course.starts[c], course.starts[c + 1])
            here = _best_arm(models, x, sheet, span, d, alpha, floor, found, rounds.pair, work)
            pulls[run, t] = course.target[here]
            reward = 1 if course.luck[run, t] < course.means[here] else 0
            at, m = here * work.size, int(sheet[here, SLOT])
            see(models, m, x, at, d, float(reward), work)
            if _shown(rounds, found, here, reward, seeing[run, t]) == REFUTED:
                pulls[run] = -1
                break
    return pulls
