"""Claims on sums with a numeric reward, whose variance no pilot tells.

Of a numeric reward counts hold only sums, so its pilot has no rewards to choose a scale by.
Instead a claim is tried at a few supposed variances, each with its part of the error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final, final

import numpy as np

from boundit.bounds.claims.pilot_choice import RowChoice, RowClaims
from boundit.counts.named_array import Floats

VARIANCES: Final = (0.16, 0.04, 0.01)
"""Variances that a reward between 0 and 1 is supposed to have."""


@dataclass(frozen=True, eq=False)
class NumericChoice:
    """What was chosen at each supposed variance, and the best end to expect of them."""

    choices: tuple[RowChoice, ...]
    predicted: Floats


@final
class NumericClaims:
    """Claims on one sum or ratio, at each of a few supposed variances of its reward."""

    def __init__(self, claims: Sequence[RowClaims]) -> None:
        self.claims = tuple(claims)
        self._price = log(len(self.claims))

    def choose(self, log_error: Floats, *, upper: bool) -> NumericChoice:
        """Choose scales at each supposed variance, knowing counts of covariates alone.

        Called by ``ClaimFinder._bound_side``.
        """
        found = tuple(each.choose(log_error + self._price, upper=upper) for each in self.claims)
        middle = found[len(found) // 2]
        return NumericChoice(found, middle.predicted)

    def bound(self, choice: NumericChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows by the best of its claims.

        Called by ``bound_shared``.
        """
        ends = [
            each.bound(chosen, log_error + self._price, upper=upper)
            for each, chosen in zip(self.claims, choice.choices, strict=True)
        ]
        best = np.minimum if upper else np.maximum
        found: Floats = best.reduce(ends)
        return found
