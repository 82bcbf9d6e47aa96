"""Variances of ends, term by term: what chance in the rows of each cell adds.

Where columns can be revealed level after level, errors of different terms are uncorrelated and
their variances add up. Shares are smoothed, so that small cells do not look certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boundit.bounds.approximate.derivatives import TermDerivative
from boundit.bounds.approximate.term_counts import TermCounts, align_to
from boundit.bounds.binary_reward import SUCCESS
from boundit.counts.named_array import Floats


@dataclass(frozen=True, slots=True, eq=False)
class CellVariances:
    """What each cell of a term adds to the variance of every row.

    ``smoothed`` and ``plain`` have the axes of the derivative without those of ``of``; ``rows``
    are the numbers of rows in the cells.
    """

    derivative: TermDerivative
    smoothed: Floats
    plain: Floats
    rows: Floats

    def add_up(self, cells: Floats) -> Floats:
        """Add up numbers of cells to one for each row of the table."""
        n = self.derivative.n_row_axes
        return np.asarray(cells.sum(axis=tuple(range(n, cells.ndim))))


@dataclass(frozen=True, slots=True, eq=False)
class Variance:
    """The variance of every row's end, and how many degrees of freedom it was estimated with.

    ``cushion`` is what smoothing adds.
    """

    smoothed: Floats
    cushion: Floats
    freedom: Floats

    @classmethod
    def of(cls, parts: Sequence[CellVariances], shape: Sequence[int]) -> "Variance":
        """Add up what the cells of all terms add, with Satterthwaite's degrees of freedom."""
        total, plain, squares = np.zeros((3, *shape))
        for part in parts:
            total = total + part.add_up(part.smoothed)
            plain = plain + part.add_up(part.plain)
            inverse = np.where(part.rows > 0, 1 / np.maximum(part.rows, 1), 0.0)
            squares = squares + part.add_up(part.smoothed**2 * inverse)
        freedom = np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1), np.inf)
        return cls(total, total - plain, freedom)


def find_level_variance(derivative: TermDerivative, counts: TermCounts) -> CellVariances:
    """Find what every cell of a term adds to the variance of every row.

    In a cell of ``given`` with n rows that is the variance of the derivative over ``of``,
    divided by n.
    """
    smoothed = _find_variance(derivative, counts, counts.smooth_shares())
    plain = _find_variance(derivative, counts, counts.find_shares().arrays[0])
    over = derivative.list_own_axes(counts.term.of)
    names, order = derivative.names, derivative.axes
    inverse = align_to(counts.axes, counts.invert_rows(), names, order)
    rows = align_to(counts.axes, counts.n, names, order)
    if over:
        inverse, rows = (array.max(axis=over) for array in (inverse, rows))
    return CellVariances(derivative, smoothed * inverse, plain * inverse, rows)


def _find_variance(derivative: TermDerivative, counts: TermCounts, shares: Floats) -> Floats:
    """Find the variance of a derivative over ``of`` in each cell of ``given``.

    A tied column of ``of`` has a derivative at the row's level alone: at others it is nothing,
    so that these sums need no axis for it.
    """
    names, order, values = derivative.names, derivative.axes, derivative.values
    over = derivative.list_own_axes(counts.term.of)
    weights = align_to(counts.axes, shares, names, order)
    weighted = weights * values
    mean, square = weighted.sum(axis=over), (weighted * values).sum(axis=over)
    variance = np.maximum(square - mean**2, 0.0)
    return np.asarray(variance - _find_overstatement(derivative, counts, variance))


def _find_overstatement(derivative: TermDerivative, counts: TermCounts, most: Floats) -> Floats:
    """Find by how much a 0/1 reward would vary more than the logged one does."""
    if counts.overstated is None:
        return np.zeros(())
    names, order = derivative.names, derivative.axes
    (outcome,) = (
        axis
        for axis, one, full in zip(
            counts.axes, counts.overstated.shape, counts.k.shape, strict=True
        )
        if one < full
    )
    place = order.index(names[outcome])
    slope = np.take(derivative.values, [SUCCESS], place)
    slope = slope - np.take(derivative.values, [1 - SUCCESS], place)
    ratio = counts.overstated / np.maximum(counts.n, 1)
    excess = align_to(counts.axes, ratio, names, order) * slope**2
    over = derivative.list_own_axes(counts.term.of)
    return np.asarray(np.minimum(excess.sum(axis=over), most))
