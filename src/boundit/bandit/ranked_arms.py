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
    """Entrants, the highest cap first and among equals in order.

    ``beaten`` are arms of the call that do not enter: another that may be played is better.

    >>> [e.arm for e in RankedArms.of([RankedArm("A", 0, 0.4, 0), RankedArm("B", 0, 0.9, 1)])]
    ['B', 'A']
    """

    beaten: tuple[RankedArm, ...] = ()

    @classmethod
    def of(cls, entrants: Iterable[RankedArm], beaten: Iterable[RankedArm] = ()) -> Self:
        """Put entrants in order."""
        found = cls(sorted(entrants, key=lambda entrant: (-entrant.upper, entrant.place)))
        found.beaten = tuple(beaten)
        return found

    @cached_property
    def blank_table(self) -> Floats:
        """The sheet of these arms with their ends and places; to be copied, not written on."""
        sheet = np.zeros((len(self), COLUMNS))
        sheet[:, [LOWER, UPPER, POSITION]] = [entrant[1:] for entrant in self]
        return sheet

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms alone."""
        return tuple(entrant.arm for entrant in self)

    @cached_property
    def in_call_order(self) -> tuple[tuple[int, Arm], ...]:
        """Positions and arms, in the order of the call."""
        return tuple(
            (i, self[i].arm) for i in sorted(range(len(self)), key=lambda i: self[i].place)
        )
