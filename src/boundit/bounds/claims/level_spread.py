"""How much what follows a level's draws can vary, bounded with a little of a claim's error.

A level before the last pays for deviations of its draws, each times the value of what follows.
That value is unknown, and between 0 and 1; by its range alone a level would pay a quarter.

What follows, times the weight of the level's cell, is a sum over later levels and the value's
cells. All statements are made of its parts: each cell's mean is in its box, each later level is
within its total variation of the truth. They move the sum by at most the sum of their radii,
each with the weight of its cell, and only this sum is clipped to between 0 and the weight.
Clipping each cell's box after moving it would not do: a later level that is off may give more
weight to a cell whose mean is one already, and so raise the sum where that box has no room.
"""

from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.claims.last_level import RestLast
from boundit.bounds.claims.read_form import RestNumbers
from boundit.bounds.claims.sum_arrays import (
    ArraySettings,
    SumArrays,
    add_up,
    multiply_onto,
    trim,
    widen,
)
from boundit.counts.named_array import Floats


def may_use_total(arrays: SumArrays) -> bool:
    """Tell whether a sum has one level before the last, with one cell for each row.

    Its spread then follows from the total variance.
    """
    if len(arrays.numbers) != 1 or arrays.layout.worst:
        return False
    (where, _), (numbers,) = arrays.layout.cells, arrays.numbers
    drawn = frozenset(where.draws)
    return where.axes == arrays.layout.axes and drawn == frozenset(numbers.joint.axes) - (
        frozenset(numbers.rows.axes)
    )


def bound_by_total(rest: RestNumbers, crude: tuple[Floats, Floats], log_part: Floats) -> Floats:
    """Bound the spread of the means of strata from above, by the law of total variance.

    The spread is ``t (1 - t) - sum of P(z) m(1 - m)``, where ``t`` is within the ``crude`` ends
    and the variance within strata is estimated without bias. ``log_part`` is the logarithm of
    one over the chance that each of four statements may miss with.
    """
    arrays, last = rest.arrays, rest.last
    axes, kept = arrays.layout.cells[-1].axes, arrays.layout.axes
    low, high = crude
    around = (low <= 0.5) & (high >= 0.5)
    most = np.where(around, 0.25, np.maximum(low * (1 - low), high * (1 - high)))
    weights, pairs = arrays.weights[-1], np.floor(last.rows / 2)
    seen = pairs > 0
    within = add_up(np.where(seen, weights * last.estimate_spread(), 0.0), axes, kept)
    noise = np.where(seen, weights**2 / (4 * np.maximum(pairs, 1.0)), 0.0)
    within = within - np.sqrt(log_part / 2 * add_up(noise, axes, kept))
    rows = np.maximum(arrays.find_rows(0), 1.0)
    off = (log_part + log(2)) / (2 * rows)
    found: Floats = np.minimum(np.maximum(most - np.maximum(within, 0.0), 0.0) + off, 1.0)
    return found


def find_stratified(arrays: SumArrays) -> int | None:
    """Find the level that draws strata, if it is the only one that is not an exact law.

    It has one cell for each row of the table.
    """
    drawn = [place for place, each in enumerate(arrays.numbers) if not each.exact]
    if len(drawn) != 1 or arrays.layout.worst:
        return None
    where, numbers = arrays.layout.cells[drawn[0]], arrays.numbers[drawn[0]]
    own = frozenset(numbers.joint.axes) - frozenset(numbers.rows.axes)
    alone = where.axes == arrays.layout.axes and own == frozenset(where.draws)
    return drawn[0] if alone else None


def bound_about(rest: RestNumbers, centre: Floats, log_part: Floats, place: int) -> Floats:
    """Bound the spread of the means of strata from above, by their squares about a ``centre``.

    The square of a stratum's mean is estimated without bias by products of two of its rows, or
    of two from each of its cells; one row tells nothing. ``log_part`` is the logarithm of one
    over the chance that each of two statements may miss with.
    """
    arrays, last = rest.arrays, rest.last
    axes, kept = arrays.layout.cells[-1].axes, arrays.layout.axes
    strata = tuple(axis for axis in axes if axis in (*kept, *arrays.layout.cells[place].draws))
    weights = np.broadcast_to(
        arrays.weights[-1], np.broadcast_shapes(arrays.weights[-1].shape, last.rows.shape)
    )
    middle = widen(centre, len(strata))
    farthest = np.maximum(middle, 1 - middle)
    whole = add_up(weights, axes, strata)
    part = np.where(whole > 0, whole, 1.0)
    mean = add_up(weights * last.mean, axes, strata) / part
    noise_of_mean = weights**2 * last.estimate_spread() / np.maximum(last.rows, 1.0)
    squares = (mean - middle) ** 2 - add_up(noise_of_mean, axes, strata) / part**2
    within = tuple(i for i, axis in enumerate(axes) if axis not in strata)
    fewest = np.where(weights > 0, np.floor(last.rows / 2), np.inf)
    pairs = fewest.min(axis=within) if within else fewest
    squares = np.where(pairs > 0, squares, farthest**2)
    noise = np.where(pairs > 0, (whole * farthest) ** 2 / np.maximum(pairs, 1.0), 0.0)
    found = add_up(whole * squares, strata, kept)
    found = found + np.sqrt(log_part / 2 * add_up(noise, strata, kept))
    off = (log_part + log(2)) / (2 * np.maximum(arrays.find_rows(place), 1.0))
    most: Floats = np.clip(found, 0.0, 0.25) + off
    return most


@dataclass(frozen=True, eq=False)
class SpreadBoxes:
    """Intervals of the value's cells, from which the spread of every level is bounded."""

    low: Floats
    high: Floats
    log_part: Floats

    @classmethod
    def of(cls, arrays: SumArrays, last: RestLast, log_part: Floats) -> "SpreadBoxes":
        """Find an interval of every cell that a row reads, all at once."""
        used = (arrays.weights[-1] > 0) & (last.rows > 0)
        n_cells = _count_cells(used, arrays, len(arrays.numbers))
        alpha = float(np.exp(-np.max(log_part))) / n_cells
        low, high = last.find_boxes(alpha)
        seen = last.rows > 0
        return cls(np.where(seen, low, 0.0), np.where(seen, high, 1.0), log_part)

    def bound(self, arrays: SumArrays, place: int, *, upper: bool) -> Floats:
        """Bound the spread of what follows a level's draws, cell by cell.

        By the triangle inequality it is at most that of the middle of what may follow, plus
        half its width. Later levels are known up to their total variation.
        """
        where, weights = arrays.layout.cells[place], arrays.weights[place]
        one = np.ones_like(arrays.weights[-1])
        low = arrays.value_draws(place, self.low * one, upper=upper, most=False)
        high = arrays.value_draws(place, self.high * one, upper=upper, most=True)
        moved = self._add_variations(arrays, place)
        over = tuple(range(len(where.axes), len(where.axes) + len(where.draws)))
        full = np.expand_dims(weights, over) if over else weights
        low, high = np.maximum(low - moved, 0.0), np.minimum(high + moved, full)
        high = np.maximum(low, high)
        share = arrays.shares[place].align((*where.axes, *where.draws))[0]
        middle, half = (low + high) / 2, (high - low) / 2
        mean = (share * middle).sum(axis=over)
        variance = np.maximum((share * middle**2).sum(axis=over) - mean**2, 0.0)
        deviation = np.sqrt(variance) + np.sqrt((share * half**2).sum(axis=over))
        rows = np.maximum(arrays.find_rows(place), 1.0)
        used = (weights > 0) & (arrays.find_rows(place) > 0)
        n_cells = _count_cells(used, arrays, place)
        off = (widen(self.log_part, rows.ndim) + log(2 * n_cells)) / (2 * rows)
        whole = np.where(weights > 0, weights, 1.0)
        found: Floats = np.minimum((deviation / whole) ** 2 + off, 1.0)
        return found

    def _add_variations(self, arrays: SumArrays, place: int) -> Floats:
        """Add up how far the shares of later levels may be from the truth, with their weights."""
        where = arrays.layout.cells[place]
        kept = (*where.axes, *where.draws)
        total = np.zeros((1,) * len(kept))
        for later in range(place + 1, len(arrays.numbers)):
            numbers, cells = arrays.numbers[later], arrays.layout.cells[later]
            if numbers.exact:
                continue
            rows = numbers.rows.align(cells.axes)
            n_cells = _count_cells((arrays.weights[later] > 0) & (rows > 0), arrays, later)
            n_kinds = prod(
                n for axis, n in numbers.joint.n_levels.items() if axis not in numbers.rows.axes
            )
            bits = n_kinds * log(2) + widen(self.log_part, rows.ndim) + log(n_cells)
            radius = np.minimum(np.sqrt(bits / (2 * np.maximum(rows, 1.0))), 1.0)
            radius = np.where(rows > 0, radius, 1.0)
            total = total + _weigh(arrays, place, later, radius)
        return total


def _weigh(arrays: SumArrays, place: int, later: int, radius: Floats) -> Floats:
    """Weigh how far a later level may be off by the shares of the levels before it."""
    where, cells = arrays.layout.cells[place], arrays.layout.cells[later]
    used = sorted({*where.before, *cells.before} - {place})
    factors = [arrays.shares[i] for i in used]
    settings: ArraySettings = arrays.settings
    gone = tuple(
        i for i, axis in enumerate(cells.axes) if axis in arrays.layout.worst[where.depth :]
    )
    radius = radius.max(axis=gone, keepdims=True)  # whatever is chosen of unknown variables
    return multiply_onto(
        [*factors, trim(cells.axes, radius)], (*where.axes, *where.draws), settings
    )


def _count_cells(used: NDArray[np.bool_], arrays: SumArrays, place: int) -> int:
    """Count the cells of a level that a row reads, at most."""
    axes = arrays.layout.cells[place].axes
    found = add_up(used.astype(np.float64), axes, arrays.layout.axes)
    return max(int(found.max(initial=1)), 1)
