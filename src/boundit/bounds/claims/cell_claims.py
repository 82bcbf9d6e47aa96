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
from boundit.bounds.claims.sum_arrays import take_worst, widen
from boundit.bounds.confidence import bound_mean, bound_share
from boundit.counts.named_array import Floats

_NO_CHANCE = 1e-300  # a chance that is as good as none


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
        """Predict one end of all rows from the pilot."""
        last = self.pilot.last
        numeric = isinstance(last, NumericPilot)
        squares = last.rows * (0.25 + last.variance) if numeric else None
        sums = last.rows * last.mean
        ends = bound_cells(sums, last.rows, log_error, upper=upper, squares=squares)
        return CellChoice(take_worst(self.layout, ends, [], upper=upper))

    def bound(self, choice: CellChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each missing with chance ``exp(-log_error)``."""
        del choice
        last = self.rest.last
        squares: Floats | None = None
        match last:
            case ValuedRest():
                sums = last.counts[1]
            case NumericRest():
                sums, squares = last.sums, last.squares
        ends = bound_cells(sums, last.rows, log_error, upper=upper, squares=squares)
        return take_worst(self.layout, ends, [], upper=upper)


def bound_cells(
    sums: Floats,
    rows: Floats,
    log_error: Floats,
    *,
    upper: bool,
    squares: Floats | None = None,
) -> Floats:
    """Bound the mean of every cell on one side, each row of the table at its own error.

    Rewards are 0/1 unless there are ``squares``.
    """
    alpha = 2 * np.exp(-widen(log_error, sums.ndim))  # both sides; one of them is used
    some = (alpha < 1) & (alpha > _NO_CHANCE)
    sums, rows, each = np.broadcast_arrays(sums, rows, np.where(some, alpha, 1.0))
    ends = (
        bound_share(sums, rows, each)
        if squares is None
        else bound_mean(sums, squares, rows, each)
    )
    return np.where(some, ends[upper], 1.0 if upper else 0.0)
