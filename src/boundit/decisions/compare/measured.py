"""What policies are compared with beside others: a measured value, or what the log did."""

import math
from dataclasses import dataclass
from typing import Final, final

from boundit.core.errors import BounditError, shorten
from boundit.core.interval import Interval
from boundit.core.message import Option


class BadMeasurement(BounditError):
    """A measured value whose value, error or confidence cannot be meant."""


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A mean reward that was measured apart from the log, and how far off it may be.

    It lies within ``error`` of ``value``, or within ``interval``, with the chance
    ``confidence``; surely if that is None. ``error`` is half of the interval's width, not a
    standard error.

    >>> Measured(0.5, error=0.125, confidence=0.95).ends
    Interval(lower=0.375, upper=0.625)
    >>> Measured(0.3, interval=(0.27, 0.31), confidence=0.95).ends
    Interval(lower=0.27, upper=0.31)
    """

    value: float
    error: float = 0.0
    interval: tuple[float, float] | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.value):
            raise BadMeasurement(f"the value of a measurement is {self.value!r}, no number")
        if not (_is_number(self.error) and self.error >= 0):
            raise BadMeasurement(
                f"the error of a measurement is {self.error!r}, no number from 0 on"
            )
        chance = self.confidence
        if chance is not None and not (_is_number(chance) and 0 < chance < 1):
            raise BadMeasurement(
                Option("confidence"),
                " of a measurement must be a chance such as 0.95, or None where it holds "
                f"surely, found {self.confidence!r}",
            )
        if self.interval is not None:
            self._require_interval(self.interval)

    def _require_interval(self, interval: object) -> None:
        """Refuse ends that are none, or that come beside an error."""
        if self.error:
            raise BadMeasurement(
                "a measurement has either ", Option("error"), " or ", Option("interval")
            )
        if not (
            isinstance(interval, tuple | list)
            and len(interval) == 2
            and all(map(_is_number, interval))
            and interval[0] <= self.value <= interval[1]
        ):
            raise BadMeasurement(
                Option("interval"),
                f" of a measurement must be (low, high) around its value {self.value:g}, "
                f"found {shorten(repr(interval), 60)}",
            )

    @property
    def ends(self) -> Interval:
        """The interval that the measured mean lies in."""
        if self.interval is not None:
            return Interval(float(self.interval[0]), float(self.interval[1]))
        low, high = self.value - self.error, self.value + self.error
        if not self.error:
            return Interval(self.value, self.value)
        return Interval(low, high)

    @property
    def chance(self) -> float:
        """With which chance the measurement misses, 0 where it holds surely."""
        return 0.0 if self.confidence is None else 1 - self.confidence

    def __str__(self) -> str:
        return f"the measured {self.value:g}"


@final
class Logged:
    """What the log did: every visitor gets what the log would have given it."""

    def __repr__(self) -> str:
        return "bd.LOGGED"

    def __str__(self) -> str:
        return "what the log did"

    def __reduce__(self) -> str:
        # A copy is the same: it is found by identity.
        return "LOGGED"


LOGGED: Final = Logged()
"""What the log did, as a policy to compare with."""


def _is_number(found: object) -> bool:
    """Tell whether something is a finite number."""
    return (
        isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    )
