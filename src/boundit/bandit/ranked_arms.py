"""The arms of one decision, by decreasing cap: as Python lists them and kernels read them."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple, Self, final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import COLUMNS, LOWER, POSITION, UPPER
from boundit.terms.bound import Arm


class RankedArm(NamedTuple):
    """An arm with its ends in one context, and its place among the arms of the call."""

    arm: Arm
    lower: float
    upper: float
    place: int


@final
class RankedArms(tuple[RankedArm, ...]):  # noqa: SLOT001, what is worked out of it is kept
    """Arms of one call, the highest cap first and among equals in order.

    ``beaten`` are arms of the call that are left out: another that may be played is better.

    >>> a, b = RankedArm("A", 0, 0.4, 0), RankedArm("B", 0, 0.9, 1)
    >>> [ranked.arm for ranked in RankedArms.of([a, b])]
    ['B', 'A']
    """

    beaten: tuple[RankedArm, ...] = ()

    @classmethod
    def of(cls, arms: Iterable[RankedArm], beaten: Iterable[RankedArm] = ()) -> Self:
        """Sort the arms of one decision by decreasing upper end.

        ``beaten`` are arms left out.
        """
        found = cls(sorted(arms, key=lambda ranked: (-ranked.upper, ranked.place)))
        found.beaten = tuple(beaten)
        return found

    @cached_property
    def blank_table(self) -> Floats:
        """The score table of these arms before anything is scored: their ends and places.

        Kernels fill in copies of it.
        """
        score_table = np.zeros((len(self), COLUMNS))
        score_table[:, [LOWER, UPPER, POSITION]] = [ranked[1:] for ranked in self]
        return score_table

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms alone, without their ends; read by ``FeatureCache.encode``."""
        return tuple(ranked.arm for ranked in self)

    @cached_property
    def in_call_order(self) -> tuple[tuple[int, Arm], ...]:
        """The row and the name of every arm, in the order that the arms were passed in."""
        return tuple(
            (i, self[i].arm) for i in sorted(range(len(self)), key=lambda i: self[i].place)
        )
