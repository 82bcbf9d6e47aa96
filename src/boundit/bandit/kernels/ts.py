"""Thompson sampling in compiled code: one decision, and whole runs of them."""

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.kernels.compile import compiled
from boundit.bandit.kernels.rng import branched, stream
from boundit.bandit.kernels.score_table import (
    COUNT,
    FINAL,
    FREE,
    LOWER,
    PLACE,
    SLOT,
    UPPER,
    WINS,
    BatchArrays,
    blank,
)
from boundit.bandit.kernels.truncated_draws import beta_draw


@compiled
def unit(number: float, low: float, high: float) -> float:
    """Bring a reward to the scale from 0 to 1; what lies outside is clipped."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


@compiled
def believe(cells: Floats, sheet: Floats, here: int, low: float, high: float) -> None:
    """Write on its sheet what is believed of an arm: successes and trials."""
    n, total = cells[int(sheet[here, SLOT]), 0], cells[int(sheet[here, SLOT]), 1]
    sheet[here, WINS] = n * unit(total / n, low, high) if n else 0.0
    sheet[here, COUNT] = n


@compiled
def best_draw(
    word: np.uint64,
    cells: Floats,
    sheet: Floats,
    start: int,
    stop: int,
    low: float,
    high: float,
) -> tuple[int, int]:
    """The highest draw among arms by decreasing cap, and the first that was not drawn.

    Draws are on the rewards' scale; the free ones are as they would be without a bound.
    """
    winner, best = -1, 0.0
    for here in range(start, stop):
        lower, upper = sheet[here, LOWER], sheet[here, UPPER]
        least, most = unit(lower, low, high), unit(upper, low, high)
        if winner >= 0 and most < best:
            return winner, here
        believe(cells, sheet, here, low, high)
        wins, place = sheet[here, WINS], sheet[here, PLACE]
        own = branched(word, int(place))
        draw, loose = beta_draw(wins, sheet[here, COUNT] - wins, least, most, own)
        shown = min(max(low + (high - low) * draw, lower), upper)
        sheet[here, FINAL] = shown
        sheet[here, FREE] = shown if loose == draw else low + (high - low) * loose
        if winner < 0 or draw > best or (draw == best and place < sheet[winner, PLACE]):
            winner, best = here, draw
    return winner, stop


@compiled
def decide_ts(
    seed: np.uint64,
    events: int,
    who: np.uint64,
    cells: Floats,
    sheet: Floats,
    low: float,
    high: float,
) -> tuple[int, int]:
    """One decision: the winner's position, and how many arms were not drawn."""
    n = sheet.shape[0]
    winner, end = best_draw(stream(seed, events, who), cells, sheet, 0, n, low, high)
    for here in range(end, n):
        believe(cells, sheet, here, low, high)
    blank(sheet, end, n)
    return winner, n - end


@compiled
def play_ts(
    sheet: Floats, words: Seeds, low: float, high: float, seeds: Seeds, course: BatchArrays
) -> Places:
    """Whole runs; what is pulled, by its name outside. ``words`` name the contexts."""
    runs, rounds = course.visitors.shape
    pulls, sheet = np.empty((runs, rounds), np.int64), sheet.copy()
    cells, starts = np.empty((course.target.size, 2)), course.starts
    for run in range(runs):
        cells[:] = 0.0
        for t in range(rounds):
            c = course.visitors[run, t]
            word = stream(seeds[run], t, words[c])
            here, _ = best_draw(word, cells, sheet, starts[c], starts[c + 1], low, high)
            pulls[run, t] = course.target[here]
            cells[here, 0] += 1.0
            cells[here, 1] += 1.0 if course.luck[run, t] < course.means[here] else 0.0
    return pulls
