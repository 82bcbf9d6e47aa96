"""Claims on sums with a numeric reward, whose variance no pilot tells.

Of a numeric reward counts hold only sums, so its pilot has no rewards to choose a scale by.
Instead a claim is tried at a few supposed variances, each with its part of the error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod
from typing import Final, final

import numpy as np

from boundit.bounds.claims.last_level import NumericPilot, NumericRest
from boundit.bounds.claims.pilot_choice import PilotChoice, RowChoice, RowClaims
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.counts.named_array import Floats

VARIANCES: Final = (0.16, 0.04, 0.01)
"""Variances that a reward between 0 and 1 is supposed to have."""
MOST_CELLS: Final = 20_000
"""Up to how many cells of a table all variances are tried at once, for want of memory."""
_AXIS: Final = "supposed variance"


@dataclass(frozen=True, eq=False)
class NumericChoice:
    """What was chosen at each supposed variance, and the best end to expect of them."""

    choices: tuple[RowChoice, ...]
    predicted: Floats


@final
class NumericClaims:
    """Claims on one sum or ratio, at each of a few supposed variances of its reward.

    Each of ``claims`` is for one of them, or one is for all.
    """

    def __init__(self, claims: Sequence[RowClaims]) -> None:
        self.claims = tuple(claims)
        self._price = log(len(VARIANCES))

    def choose(self, log_error: Floats, *, upper: bool) -> NumericChoice:
        """Choose scales at each supposed variance, knowing counts of covariates alone."""
        found = tuple(each.choose(log_error + self._price, upper=upper) for each in self.claims)
        middle = found[len(found) // 2]
        return NumericChoice(found, middle.predicted)

    def bound(self, choice: NumericChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows by the best of its claims."""
        ends = [
            each.bound(chosen, log_error + self._price, upper=upper)
            for each, chosen in zip(self.claims, choice.choices, strict=True)
        ]
        return _take_best(ends, upper=upper)


@dataclass(frozen=True, eq=False)
class SupposedChoice:
    """What was chosen at some supposed variances, on an axis before those of the table."""

    choice: PilotChoice

    @property
    def predicted(self) -> Floats:
        """The ends to expect at the middle one."""
        found: Floats = self.choice.predicted[len(self.choice.predicted) // 2]
        return found


@final
class SupposedSums:
    """Claims on one sum at some supposed variances, computed at once for all of them."""

    def __init__(
        self,
        pilot: PilotNumbers,
        rest: RestNumbers,
        variances: Sequence[float],
        centre: Floats | None = None,
    ) -> None:
        guess, found = pilot.last, rest.last
        assert isinstance(guess, NumericPilot)
        assert isinstance(found, NumericRest)
        n_axes = len(pilot.arrays.layout.cells[-1].axes)
        supposed = np.array(variances).reshape((-1,) + (1,) * n_axes)
        parts = found.rows, found.sums, found.squares, found.running
        n = len(variances)
        self._claims = SumClaims(
            PilotNumbers(
                pilot.arrays.add_axis(_AXIS, n), NumericPilot(guess.rows[None], supposed)
            ),
            RestNumbers(
                rest.arrays.add_axis(_AXIS, n), NumericRest(*(part[None] for part in parts))
            ),
            centre=None if centre is None else centre[None],
        )

    def choose(self, log_error: Floats, *, upper: bool) -> SupposedChoice:
        """Choose scales at all variances; called by ``NumericClaims.choose``."""
        return SupposedChoice(self._claims.choose(log_error[None], upper=upper))

    def bound(self, choice: SupposedChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows by the best; called by ``NumericClaims.bound``."""
        ends = self._claims.bound(choice.choice, log_error[None], upper=upper)
        return _take_best(ends, upper=upper)


def suppose_variances(
    pilot: PilotNumbers, rest: RestNumbers, centre: Floats | None = None
) -> NumericClaims:
    """Make claims on a sum of a numeric reward: for all variances at once, or one by one.

    ``centre`` is as in ``SumClaims``.
    """
    sizes = rest.arrays.settings.sizes
    cells = prod(sizes[name] for name in rest.arrays.layout.cells[-1].axes)
    parts = [VARIANCES] if cells <= MOST_CELLS else [(variance,) for variance in VARIANCES]
    return NumericClaims([SupposedSums(pilot, rest, each, centre) for each in parts])


def _take_best(ends: Sequence[Floats] | Floats, *, upper: bool) -> Floats:
    """Take the narrowest of several ends of all rows."""
    found: Floats = (np.minimum if upper else np.maximum).reduce(ends)
    return found
