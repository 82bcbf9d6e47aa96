r"""Claims on a sum of few cells: an interval of each cell, the error shared as the pilot says.

Deviations of many cells cancel, and one exponent for the whole sum makes use of it. Where a row
reads a few cells, and one of them alone decides how wide it is, an exact interval of each cell
is narrower. Each cell's part of the error is what the pilot expects it to weigh.
"""

from dataclasses import dataclass, replace
from math import prod
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import SumArrays, widen
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.confidence import bound_share
from boundit.bounds.rules.chain import find_least_mean
from boundit.counts.named_array import Floats

MOST_CELLS: Final = 6
"""Up to how many cells of a row intervals of cells are tried."""
MOST_BOXES: Final = 30_000
"""Up to how many cells of a whole table: an exact interval takes some microseconds."""
_LEAST_PART: Final = 0.02  # of a row's error, so that no interval becomes endless


@dataclass(frozen=True, eq=False)
class BoxChoice:
    """Which part of the error each cell's mean gets, and each cell's weight."""

    means: Floats
    weights: Floats
    predicted: Floats


@dataclass(frozen=True, eq=False)
class BestChoice:
    """What the pilot chose of two ways to claim, for every row the better one."""

    of_sum: PilotChoice
    of_boxes: BoxChoice
    boxes: NDArray[np.bool_]
    predicted: Floats


def may_use_boxes(arrays: SumArrays) -> bool:
    """Tell whether a sum goes over few values of one variable, drawn once for each row."""
    if len(arrays.numbers) != 1 or arrays.layout.worst:
        return False
    where, end = arrays.layout.cells
    fixed = frozenset(arrays.numbers[0].joint.axes) - frozenset(arrays.numbers[0].rows.axes)
    return (
        where.axes == arrays.layout.axes
        and fixed == frozenset(where.draws)
        and end.axes == (*where.axes, *where.draws)
        and prod(arrays.settings.sizes[name] for name in where.draws) <= MOST_CELLS
        and prod(arrays.settings.sizes[name] for name in end.axes) <= MOST_BOXES
    )


@final
class BestClaims:
    """Claims on a sum of few cells: by one exponent or by intervals of cells, row by row."""

    def __init__(self, pilot: PilotNumbers, rest: RestNumbers) -> None:
        self.pilot, self.rest = pilot, rest
        self.by_sum = SumClaims(pilot, rest)

    def choose(self, log_error: Floats, *, upper: bool) -> BestChoice:
        """Let the pilot choose the way that it expects to be narrower, for one end of all rows."""
        of_sum = self.by_sum.choose(log_error, upper=upper)
        of_boxes = self._choose_parts(log_error, upper=upper)
        one, other = np.broadcast_arrays(of_sum.predicted, of_boxes.predicted)
        boxes = other < one if upper else other > one
        return BestChoice(of_sum, of_boxes, boxes, np.where(boxes, other, one))

    def bound(self, choice: BestChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each in the way that was chosen for it."""
        found = self.by_sum.bound(choice.of_sum, log_error, upper=upper)
        if not choice.boxes.any():
            return found
        last, arrays = self.rest.last, self.rest.arrays
        # The rows of cells are revealed before their rewards, so they may share a part anew.
        expected = _expect(arrays.weights[-1], last.rows, self.pilot.last.mean)
        means = _share_again(choice.of_boxes.means, expected, arrays)
        parts = replace(choice.of_boxes, means=means)
        hits = last.mean * last.rows
        ends = _add_boxes(arrays, hits, last.rows, parts, log_error, upper=upper)
        return np.where(choice.boxes, ends, found)

    def _choose_parts(self, log_error: Floats, *, upper: bool) -> BoxChoice:
        """Share a row's error over its cells and their weights, and predict the end.

        An interval's part is as large as the pilot expects it to weigh.
        """
        last, arrays = self.pilot.last, self.pilot.arrays
        shares, mean, over = arrays.weights[-1], last.mean, _list_cells(arrays)
        rows = widen(arrays.find_rows(0), shares.ndim)
        of_mean = _expect(shares, last.rows, mean)
        middle = (shares * mean).sum(axis=over, keepdims=True)
        of_weight = np.abs(mean - middle) * np.sqrt(
            shares * (1 - shares) / np.maximum(rows, 1.0)
        )
        if arrays.numbers[0].exact:
            of_weight = np.zeros_like(of_weight)
        total = (of_mean + of_weight).sum(axis=over, keepdims=True)
        floor = _LEAST_PART / prod(of_mean.shape[i] for i in over)
        means, weights = (
            (1 - 2 * _LEAST_PART) * part / np.maximum(total, 1e-300) + floor
            for part in (of_mean, of_weight)
        )
        parts = BoxChoice(means, weights, np.zeros(()))
        ends = _add_boxes(arrays, mean * last.rows, last.rows, parts, log_error, upper=upper)
        return replace(parts, predicted=ends)


def _list_cells(arrays: SumArrays) -> tuple[int, ...]:
    """List the axes of the cells of a row, after those of the table."""
    return tuple(range(len(arrays.layout.axes), len(arrays.layout.cells[-1].axes)))


def _expect(shares: Floats, rows: Floats, mean: Floats) -> Floats:
    """Expect how much the interval of each cell's mean will weigh."""
    found: Floats = shares * np.sqrt(
        np.maximum(mean * (1 - mean), 0.01) / np.maximum(rows, 1.0)
    )
    return found


def _share_again(means: Floats, expected: Floats, arrays: SumArrays) -> Floats:
    """Share the part of the error that all cells of a row have by what each is to weigh."""
    over = _list_cells(arrays)
    whole = means.sum(axis=over, keepdims=True)
    total = np.maximum(expected.sum(axis=over, keepdims=True), 1e-300)
    floor = _LEAST_PART / prod(expected.shape[i] for i in over)
    found: Floats = whole * ((1 - _LEAST_PART) * expected / total + floor)
    return found


def _add_boxes(
    arrays: SumArrays,
    hits: Floats,
    rows: Floats,
    parts: BoxChoice,
    log_error: Floats,
    *,
    upper: bool,
) -> Floats:
    """Bound a weighted sum of means, each mean and each weight within an interval of its own."""
    shares, n_axes = arrays.weights[-1], arrays.weights[-1].ndim
    error = np.exp(-widen(log_error, n_axes))
    hits, rows, of_means = np.broadcast_arrays(hits, rows, 2 * error * parts.means)
    values = bound_share(hits, rows, np.minimum(of_means, 1.0))[upper]
    low, high = _bound_weights(arrays, error * parts.weights)
    shape = np.broadcast_shapes(values.shape, low.shape, shares.shape)
    flat = (*shape[: log_error.ndim], -1)
    low, high, values = (
        np.broadcast_to(array, shape).reshape(flat) for array in (low, high, values)
    )
    return -find_least_mean(low, high, -values) if upper else find_least_mean(low, high, values)


def _bound_weights(arrays: SumArrays, error: Floats) -> tuple[Floats, Floats]:
    """Bound the weight of every cell; of two cells one interval gives the other."""
    shares, over = arrays.weights[-1], _list_cells(arrays)
    if arrays.numbers[0].exact:
        return shares, shares
    if prod(shares.shape[i] for i in over) == 2:
        error = error.sum(axis=over, keepdims=True)
    total = widen(arrays.find_rows(0), shares.ndim)
    k, total, error = np.broadcast_arrays(shares * total, total, error)
    return bound_share(k, total, np.minimum(error, 1.0))
