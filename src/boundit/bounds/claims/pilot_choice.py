"""What the pilot chooses: the scale of every claim, and how each level pays.

The chooser holds no row of the rest, so that nothing the rest's rewards say can move a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.claims.last_level import predict_price
from boundit.bounds.claims.read_form import PilotNumbers
from boundit.bounds.claims.sum_arrays import add_up, take_worst, widen
from boundit.counts.named_array import Floats

_GOLDEN: Final = (5**0.5 - 1) / 2
_STEPS: Final = 9
_REACH: Final = 1.8  # how far, in logarithms, the best scale may be from the first guess
_LEAST: Final = 1e-12

Costs: TypeAlias = tuple[Floats, Floats]
"""What a level pays for, by what follows its draws and by their range."""


class RowChoice(Protocol):
    """What the pilot chose for one side of all rows."""

    @property
    def predicted(self) -> Floats:
        """The ends that the pilot expects."""


class RowClaims(Protocol):
    """The claims of one rule on all rows of a table."""

    def choose(self, log_error: Floats, *, upper: bool) -> RowChoice:
        """Choose on the pilot alone what is free, and predict one side of all rows."""

    def bound(self, choice: Any, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one side of all rows under a choice of its own."""


@dataclass(frozen=True, eq=False)
class PilotChoice:
    """What the pilot chose for one end of all rows: the scale, and levels that pay by spread.

    ``spread`` tells for every level but the last and every row whether it pays by what follows
    its draws, and not by their range. ``predicted`` is the end that the pilot expects.
    """

    scale: Floats
    spread: tuple[NDArray[np.bool_], ...]
    predicted: Floats


@final
class PilotChooser:
    """Chooses scales and kinds of penalties, and predicts ends, on the pilot alone.

    Levels before the last may be made to pay ``by_range`` whatever follows their draws.
    """

    def __init__(self, pilot: PilotNumbers, *, by_range: bool = False) -> None:
        self.pilot, self.arrays, self.by_range = pilot, pilot.arrays, by_range
        self.layout = pilot.arrays.layout
        n_levels, self.branch_shares = len(self.layout.cells), pilot.branch_shares
        weights, rows = self.arrays.weights[-1], np.maximum(pilot.last.rows, 1.0)
        self._steps = weights / rows / self.branch_shares[-1]  # a row's, at scale 1
        self._expected = weights * pilot.last.mean
        self._costs = [
            [self._guess_costs(i, upper=upper) for i in range(n_levels - 1)]
            for upper in ((False, True) if self.layout.worst else (False,))
        ]

    def choose(self, log_error: Floats, *, upper: bool) -> PilotChoice:
        """Choose the scale of one end of all rows, and predict the end.

        ``log_error`` is the logarithm of one over each row's chance of missing. The best scale
        is searched by golden section, for all rows at once.
        """
        sign = -1.0 if upper else 1.0
        costs = self._costs[upper and len(self._costs) > 1]
        spread = tuple(self._choose_spread(i, each) for i, each in enumerate(costs))
        halves = self._halve_costs(costs, spread, upper=upper)

        def predict(exponent: Floats) -> Floats:
            return sign * self._predict(np.exp(exponent), log_error, halves, upper=upper)

        first = np.log(2 * log_error / np.maximum(self._guess_variance(costs), _LEAST)) / 2
        low, high = first - _REACH, first + _REACH
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = predict(left), predict(right)
        for _ in range(_STEPS):
            self.arrays.settings.workspace.require_time()
            better = at_left > at_right
            low, high = np.where(better, low, left), np.where(better, right, high)
            kept, at_kept = np.where(better, left, right), np.where(better, at_left, at_right)
            new = np.where(better, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_new = predict(new)
            left, right = np.where(better, new, kept), np.where(better, kept, new)
            at_left = np.where(better, at_new, at_kept)
            at_right = np.where(better, at_kept, at_new)
        best = np.where(at_left > at_right, left, right)
        return PilotChoice(np.exp(best), spread, sign * np.maximum(at_left, at_right))

    def _predict(
        self, scale: Floats, log_error: Floats, halves: Sequence[Floats], *, upper: bool
    ) -> Floats:
        """Predict the ends of all rows at a scale.

        ``halves`` are what levels before the last add at their cells at scale 1.
        """
        sign = 1.0 if upper else -1.0
        last = self.pilot.last
        lam = widen(scale, len(self.layout.cells[-1].axes))
        price = predict_price(last, last.rows, lam * (-self._steps if upper else self._steps))
        leaf = self._expected + sign * self.branch_shares[-1] * price / lam
        levels = [widen(scale, half.ndim) * half for half in halves]
        value = take_worst(self.layout, leaf, levels, upper=upper)
        return value + sign * log_error / scale

    def _halve_costs(
        self, costs: Sequence[Costs], spread: Sequence[NDArray[np.bool_]], *, upper: bool
    ) -> list[Floats]:
        """Find what the levels before the last add at their cells, for each unit of scale."""
        half = 0.5 if upper else -0.5
        return [
            half * np.where(widen(by_spread, each[0].ndim), *each)
            for each, by_spread in zip(costs, spread, strict=True)
        ]

    def _guess_variance(self, costs: Sequence[Costs]) -> Floats:
        """Guess the variance of the estimated sum, for a first guess of the scale."""
        last, kept = self.pilot.last, self.layout.axes
        spread = np.maximum(last.mean * (1 - last.mean), 0.004)
        cells = self.arrays.weights[-1] ** 2 * spread / np.maximum(last.rows, 1.0)
        found = add_up(cells, self.layout.cells[-1].axes, kept)
        for where, each in zip(self.layout.cells, costs, strict=False):
            found = found + add_up(np.minimum(*each), where.axes, kept)
        return found

    def _guess_costs(self, place: int, *, upper: bool) -> Costs:
        """Guess the variance that a level pays for, by what follows its draws and by range.

        The first is infinite where levels are made to pay by range, and where one is read at a
        value that is chosen later.
        """
        where, numbers = self.layout.cells[place], self.arrays.numbers[place]
        rows = np.maximum(self.arrays.find_rows(place), 1.0)
        weights = self.arrays.weights[place]
        shape = np.broadcast_shapes(weights.shape, rows.shape)
        if numbers.exact:
            return np.zeros(shape), np.zeros(shape)
        by_range = np.broadcast_to(0.25 * weights**2 / rows / self.branch_shares[place], shape)
        chosen = frozenset(numbers.joint.axes) - frozenset(where.axes) - frozenset(where.draws)
        if self.by_range or chosen:
            return np.full(shape, np.inf), by_range
        one = np.ones_like(self.arrays.weights[-1])
        values = self.arrays.value_draws(
            place, self.pilot.last.mean * one, upper=upper, most=upper
        )
        share = self.arrays.shares[place].align((*where.axes, *where.draws))[0]
        over = tuple(range(len(where.axes), len(where.axes) + len(where.draws)))
        mean = (share * values).sum(axis=over)
        variance = np.maximum((share * values**2).sum(axis=over) - mean**2, 0.0)
        by_spread = 1.4 * variance / rows + 24.0 / rows**2 * weights**2 * (variance > 0)
        one, other = np.broadcast_arrays(by_spread, by_range)
        return one, other

    def _choose_spread(self, place: int, costs: Costs) -> NDArray[np.bool_]:
        """Choose for every row whether a level pays by what follows its draws."""
        axes, kept = self.layout.cells[place].axes, self.layout.axes
        by_spread, by_range = (add_up(cost, axes, kept) for cost in costs)
        return np.asarray(by_spread < by_range)
