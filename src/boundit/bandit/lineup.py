"""The arms of one decision, by decreasing cap: as Python lists them and kernels read them."""

from collections.abc import Iterable
from functools import cached_property
from math import inf
from typing import NamedTuple, Self, final

import numpy as np

from boundit.bandit.stage import Floats, Places
from boundit.terms.bound import Arm


class Entrant(NamedTuple):
    """An arm with its ends in one context, and its place among the arms of the call."""

    arm: Arm
    lower: float
    upper: float
    place: int


@final
class Lineup(tuple[Entrant, ...]):  # noqa: SLOT001, its arrays are kept
    """Entrants, the highest cap first and among equals in order; arrays are worked out once.

    ``beaten`` are arms of the call that do not enter: another that may be played is better.

    >>> Lineup.of([Entrant(("A",), 0, 0.4, 0), Entrant(("B",), 0, 0.9, 1)]).upper.tolist()
    [0.9, 0.4]
    """

    beaten: tuple[Entrant, ...] = ()

    @classmethod
    def of(cls, entrants: Iterable[Entrant], beaten: Iterable[Entrant] = ()) -> Self:
        """Put entrants in order."""
        found = cls(sorted(entrants, key=lambda entrant: (-entrant.upper, entrant.place)))
        found.beaten = tuple(beaten)
        return found

    @cached_property
    def lower(self) -> Floats:
        """The lower ends."""
        return np.array([entrant.lower for entrant in self], np.float64)

    @cached_property
    def upper(self) -> Floats:
        """The caps."""
        return np.array([entrant.upper for entrant in self], np.float64)

    @cached_property
    def place(self) -> Places:
        """The places of the arms in the call."""
        return np.array([entrant.place for entrant in self], np.int64)

    @cached_property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """Both ends of each, as Python has them."""
        return tuple((entrant.lower, entrant.upper) for entrant in self)

    @cached_property
    def bounded(self) -> bool:
        """Tell whether anything bounds anyone."""
        return any(upper < inf or lower > -inf for lower, upper in self.ends)

    @cached_property
    def shown(self) -> tuple[tuple[int, Arm], ...]:
        """Positions and arms, in the order of the call."""
        return tuple(
            (i, self[i].arm) for i in sorted(range(len(self)), key=lambda i: self[i].place)
        )

    def first(self, looked: int) -> tuple[tuple[int, Arm], ...]:
        """Positions and arms of the first so many, in the order of the call."""
        if looked == len(self):
            return self.shown
        return tuple(pair for pair in self.shown if pair[0] < looked)
