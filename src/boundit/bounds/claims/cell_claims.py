"""Claims on single cells: the least of some means, of which only the truly least must hold.

A conditioning bound reads one cell for each value of what it conditions on and takes the least
or the greatest. An exact interval of each cell, one-sided, is as good as any claim: there is
nothing to add up.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bounds.claims.last_level import NumericPilot, NumericRest, ValuedRest
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import take_worst
from boundit.bounds.confidence import bound_mean, bound_share
from boundit.counts.named_array import Floats


@dataclass(frozen=True, eq=False)
class CellChoice:
    """What the pilot expects of ends that leave nothing to choose."""

    predicted: Floats


@final
class CellClaims:
    """One-sided intervals of the cells of one level, at the worst of unknown variables."""

    def __init__(self, pilot: PilotNumbers, rest: RestNumbers) -> None:
        self.pilot, self.rest = pilot, rest
        self.layout = rest.arrays.layout

    def choose(self, log_error: Floats, *, upper: bool) -> CellChoice:
        """Predict one end of all rows from the pilot.

        Called by ``ClaimFinder`` to rank rules.
        """
        last = self.pilot.last
        if isinstance(last, NumericPilot):
            sums, squares = last.rows * 0.5, last.rows * (0.25 + last.variance)
        else:
            sums = squares = last.rows * last.mean
        binary = not isinstance(last, NumericPilot)
        ends = _bound_cells(sums, squares, last.rows, log_error, binary=binary, upper=upper)
        return CellChoice(take_worst(self.layout, ends, [], upper=upper))

    def bound(self, choice: CellChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each missing with chance ``exp(-log_error)``.

        Called by ``bound_shared``.
        """
        del choice
        last = self.rest.last
        match last:
            case ValuedRest():
                sums, squares, binary = last.counts[1], last.counts[1], True
            case NumericRest():
                sums, squares, binary = last.sums, last.squares, False
        ends = _bound_cells(sums, squares, last.rows, log_error, binary=binary, upper=upper)
        return take_worst(self.layout, ends, [], upper=upper)


def _bound_cells(
    sums: Floats,
    squares: Floats,
    rows: Floats,
    log_error: Floats,
    *,
    binary: bool,
    upper: bool,
) -> Floats:
    """Bound the mean of every cell on one side, each row of the table at its own error.

    Rows of a table have few different errors, so that each is computed once. Called by
    ``CellClaims.choose`` and ``CellClaims.bound``.
    """
    sums, squares, rows = np.broadcast_arrays(sums, squares, rows)
    sides = log_error.reshape(log_error.shape + (1,) * (sums.ndim - log_error.ndim))
    found = np.full(np.broadcast_shapes(sums.shape, sides.shape), 1.0 if upper else 0.0)
    for log_each in np.unique(sides[np.isfinite(sides)]):
        alpha = 2 * float(np.exp(-log_each))  # both sides; one of them is used
        if alpha >= 1:
            continue
        ends = (
            bound_share(sums, rows, alpha) if binary else bound_mean(sums, squares, rows, alpha)
        )
        found = np.where(sides == log_each, ends[upper], found)
    return found
