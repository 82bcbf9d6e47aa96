"""An interval that a number is known to lie in; its ends never travel apart."""

from dataclasses import dataclass

from boundit.core.errors import BounditError


class EmptyInterval(BounditError):
    """Ends that cross, or that are no numbers."""

    def __init__(self, lower: float, upper: float) -> None:
        self.lower, self.upper = lower, upper
        super().__init__(f"[{lower}, {upper}] is no interval; the lower end comes first")


@dataclass(frozen=True, slots=True)
class Interval:
    """Everything from ``lower`` to ``upper``, both included.

    >>> Interval(0.2, 0.6) & Interval(0.4, 0.9)
    Interval(lower=0.4, upper=0.6)
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

    def __str__(self) -> str:
        return f"[{self.lower:.4g}, {self.upper:.4g}]"
