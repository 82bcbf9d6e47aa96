"""Closed intervals of numbers."""

import math
from dataclasses import dataclass

from boundit.core.errors import BounditError
from boundit.core.rounding import choose_decimals, write_lower, write_upper


class EmptyInterval(BounditError):
    """Endpoints that cross, or that are not numbers."""

    def __init__(self, lower: float, upper: float) -> None:
        self.lower, self.upper = lower, upper
        super().__init__(
            f"[{lower}, {upper}] is not an interval; the lower endpoint comes first"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """Everything from ``lower`` to ``upper``, both included.

    It is printed rounded outward, to a few digits more than its width has.

    >>> Interval(0.2, 0.6) & Interval(0.4, 0.9)
    Interval(0.400, 0.600)
    >>> 0.5 in Interval(0.2, 0.6), round(Interval(0.2, 0.6).width, 3)
    (True, 0.4)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise EmptyInterval(self.lower, self.upper)

    @property
    def width(self) -> float:
        """How far apart the ends are."""
        return self.upper - self.lower

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def __and__(self, other: "Interval") -> "Interval":
        return Interval(max(self.lower, other.lower), min(self.upper, other.upper))

    def write(self, decimals: int | None = None, *, signed: bool = False) -> str:
        """Write both ends, ``0.430, 0.655``: rounded outward, to so many decimals.

        >>> Interval(0.4301, 0.6549).write(), Interval(-0.1, 0.25).write(2, signed=True)
        ('0.430, 0.655', '-0.10, +0.25')
        """
        if decimals is None:
            size = 10 * (self.width or abs(self.upper))
            decimals = choose_decimals(0, size) if math.isfinite(size) else 3
        lower = write_lower(self.lower, decimals, signed=signed)
        return f"{lower}, {write_upper(self.upper, decimals, signed=signed)}"

    def __str__(self) -> str:
        return f"[{self.write()}]"

    def __repr__(self) -> str:
        return f"Interval({self.write()})"
