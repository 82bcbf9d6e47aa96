r"""Claims on sums of levels: one exponent for a whole end, whatever it is a sum of.

The error of an estimated sum telescopes, level by level, into independent deviations, so that

.. math:: \theta \ge \hat\theta - \big(\log(1/a) + \Psi_Y + \sum_j \Psi_j\big) / \lambda

holds with chance at least :math:`1 - a`: one :math:`\log(1/a)` however many cells there are.
With a minimum over variables of unknown law inside the sum, the minimum is taken of weighted,
penalised cells: only those that are truly the least must hold.

*Holes.* Write :math:`Q_j` for the shares of a level, 0 in a cell without rows, and telescope
with them: level :math:`j` adds :math:`\sum_g W_j(g) \sum_v (Q_j - P_j)(v \mid g) V_j(v, g)`,
where the weights :math:`W_j` are products of earlier :math:`Q_i`, and what follows,
:math:`V_j`, is true and between 0 and 1. In a hole this is minus the true value, so a lower end
may drop holes and pay nothing for them: it only gets lower. An upper end adds :math:`W_j(g)`,
which is no less than what is missing. Which cells are holes is known before their draws are.
Invented shares in a hole, even ones, say, belong to no such sum, and do not hold. The end is
clipped, never its parts: a cell's part that is raised to 0 would pay less where its
rewards are low.
"""

from functools import cached_property
from typing import Final, final

import numpy as np

from boundit.bounds.claims.last_level import ValuedRest
from boundit.bounds.claims.level_spread import (
    SpreadBoxes,
    bound_about,
    bound_by_total,
    find_stratified,
    may_use_total,
)
from boundit.bounds.claims.penalties import pay_range, weigh_squares
from boundit.bounds.claims.pilot_choice import PilotChoice, PilotChooser
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import take_worst, widen
from boundit.counts.named_array import Floats

SPREAD_SHARE: Final = 0.06
"""Which part of a claim's error pays for statements on the spread of levels."""
SMALL_SCALE: Final = 0.9
"""Up to which scale a level may pay by its spread; beyond, by its range."""


@final
class SumClaims:
    """Claims on one sum of levels, for all rows of a table.

    ``choose`` asks the pilot alone; ``bound`` reads the rest under what was chosen. Strata's
    means spread about a ``centre`` if the pilot, or a threshold, says of one.
    """

    def __init__(
        self, pilot: PilotNumbers, rest: RestNumbers, *, centre: Floats | None = None
    ) -> None:
        self.pilot, self.rest, self.centre = pilot, rest, centre
        self.layout = rest.arrays.layout
        self._strata = None if centre is None else find_stratified(rest.arrays)
        # A numeric reward varies less within strata than its mean allows.
        counted = isinstance(rest.last, ValuedRest) and may_use_total(rest.arrays)
        self._total = counted if centre is None else self._strata is not None

    @cached_property
    def chooser(self) -> PilotChooser:
        """What chooses on the pilot. Ratios have one of their own and never read this one."""
        return PilotChooser(self.pilot)

    def choose(self, log_error: Floats, *, upper: bool) -> PilotChoice:
        """Choose scales and kinds of penalties of one end of all rows, and predict it."""
        return self.chooser.choose(log_error, upper=upper)

    def bound(self, choice: PilotChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each missing with chance ``exp(-log_error)``."""
        return np.clip(self.bound_value(choice, log_error, upper=upper), 0.0, 1.0)

    def bound_value(self, choice: PilotChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows where the sum itself need not be between 0 and 1."""
        sign = 1.0 if upper else -1.0
        spends = np.any(np.stack(np.broadcast_arrays(*choice.spread, np.False_)), axis=0)
        log_main = log_error - np.where(spends, np.log(1 - SPREAD_SHARE), 0.0)
        scale = np.broadcast_to(
            choice.scale, np.broadcast_shapes(choice.scale.shape, log_main.shape)
        )
        paid = self._pay_last(scale, upper=upper)
        lam = widen(scale, paid.ndim)
        last, weights = self.rest.last, self.rest.arrays.weights[-1]
        mean = np.where(last.rows > 0, last.mean, 1.0 if upper else 0.0)
        leaf = weights * mean + sign * paid / lam
        levels = self._pay_levels(choice, scale, paid, log_error, upper=upper)
        value = take_worst(self.layout, leaf, levels, upper=upper)
        return value + sign * log_main / scale

    def _pay_last(self, scale: Floats, *, upper: bool) -> Floats:
        """Pay for the cells of the value at a scale."""
        last, q = self.rest.last, self.pilot.branch_shares[-1]
        weights = self.rest.arrays.weights[-1]
        lam = widen(scale, len(self.layout.cells[-1].axes))
        s = lam * weights / np.maximum(last.rows, 1.0) / q
        s = np.where(last.rows > 0, s, 0.0)
        paid = q * last.pay(-s if upper else s, self.pilot.last)
        shape = np.broadcast_shapes(paid.shape, s.shape, last.mean.shape)
        return np.broadcast_to(paid, shape)

    def _pay_levels(
        self,
        choice: PilotChoice,
        scale: Floats,
        paid: Floats,
        log_error: Floats,
        *,
        upper: bool,
    ) -> list[Floats]:
        """Find what is added at the cells of every level but the last: penalties and holes.

        Where a cell has no rows, what follows may be anything.
        """
        arrays, sign = self.rest.arrays, 1.0 if upper else -1.0
        boxes = self._make_boxes(choice, log_error)
        found = list[Floats]()
        for place, by_spread in enumerate(choice.spread):
            rows, weights = arrays.find_rows(place), arrays.weights[place]
            n_axes = len(self.layout.cells[place].axes)
            lam, q = widen(scale, n_axes), self.pilot.branch_shares[place]
            holes = np.where(rows > 0, 0.0, weights if upper else 0.0)
            if arrays.numbers[place].exact:
                found.append(holes)
                continue
            s = np.where(rows > 0, lam * weights / np.maximum(rows, 1.0) / q, 0.0)
            cost = pay_range(rows, s)
            if by_spread.any():
                if self._total:
                    spread = self._bound_total(scale, paid, log_error, upper=upper)
                else:
                    assert boxes is not None
                    spread = boxes.bound(arrays, place, upper=upper)
                small = widen(by_spread, n_axes) & (s < SMALL_SCALE)
                by = rows * weigh_squares(np.where(small, s, 0.0)) * spread
                cost = np.where(small, by, cost)
            found.append(holes + sign * q * cost / lam)
        return found

    def _make_boxes(self, choice: PilotChoice, log_error: Floats) -> SpreadBoxes | None:
        """Make intervals of the value's cells if some level pays by spread."""
        if self._total or not any(chosen.any() for chosen in choice.spread):
            return None
        parts = 1 + 2 * len(choice.spread)
        return SpreadBoxes.of(
            self.rest.arrays, self.rest.last, log_error + np.log(parts / SPREAD_SHARE)
        )

    def _bound_total(
        self, scale: Floats, paid: Floats, log_error: Floats, *, upper: bool
    ) -> Floats:
        """Bound the spread of the strata's means by the total variance.

        ``paid`` are the penalties of this end; those of the other are needed too.
        """
        if self.centre is not None and self._strata is not None:
            log_half = log_error + np.log(2 / SPREAD_SHARE)
            return bound_about(self.rest, self.centre, log_half, self._strata)
        last, weights = self.rest.last, self.rest.arrays.weights[-1]
        log_part = log_error + np.log(4 / SPREAD_SHARE)
        other = self._pay_last(scale, upper=not upper)
        down, up = (other, paid) if upper else (paid, other)
        kept = tuple(range(len(self.layout.axes), paid.ndim))
        seen = last.rows > 0
        low = (weights * np.where(seen, last.mean, 0.0)).sum(axis=kept)
        high = (weights * np.where(seen, last.mean, 1.0)).sum(axis=kept)
        low = low - (log_part + down.sum(axis=kept)) / scale
        high = high + (log_part + up.sum(axis=kept)) / scale
        return bound_by_total(self.rest, (low.clip(0, 1), high.clip(0, 1)), log_part)
