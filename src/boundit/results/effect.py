"""Treatment effects: the difference of two arms in every context, as intervals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from boundit.core.errors import BounditError
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.message import Option
from boundit.core.public_names import find_forwarded
from boundit.results.bound import Arm, Context
from boundit.results.bound_text import align_columns

Direction: TypeAlias = Literal["increase", "decrease", "inconclusive"]


class InvalidShares(BounditError):
    """Shares of contexts that are not a distribution."""

    def __init__(self, total: float) -> None:
        super().__init__(
            Option("shares"),
            f" must be numbers from 0 that add up to 1; these add up to {total:g}",
        )


@dataclass(frozen=True, repr=False)
class Effect(Mapping[object, Interval]):
    """Bounds on the mean outcome under an arm minus that under the baseline, by context.

    A mapping from contexts to intervals in units of the outcome; with one context variable its
    values are the keys, and without any the key is ``()``. ``lower`` and ``upper`` bound the
    average over contexts with the stated ``shares``, or with any.

    >>> found = Effect("Y", ("X",), ("Z",), (1,), (0,), {("a",): Interval(0.1, 0.3)}, 0.95)
    >>> found["a"].lower, found.direction["a"], found.upper
    (0.1, 'increase', 0.3)
    >>> found
    <Effect of X=1 vs 0 on Y: a [+0.100, +0.300]; 95% confidence>
    """

    outcome: str
    treatments: tuple[str, ...]
    context: tuple[str, ...]
    arm: Arm
    baseline: Arm
    intervals: Mapping[Context, Interval] = field(default_factory=dict)
    confidence: float | None = None
    shares: Mapping[Context, float] | Literal["any"] = "any"

    def __getitem__(self, context: object) -> Interval:
        return self.intervals[context if isinstance(context, tuple) else (context,)]

    def __iter__(self) -> Iterator[object]:
        return iter(where[0] if len(where) == 1 else where for where in self.intervals)

    def __len__(self) -> int:
        return len(self.intervals)

    @property
    def lower(self) -> float:
        """The least average effect: over the stated shares, or over any mix of contexts."""
        return self._average([interval.lower for interval in self.intervals.values()], min)

    @property
    def upper(self) -> float:
        """The greatest average effect: over the stated shares, or over any mix of contexts."""
        return self._average([interval.upper for interval in self.intervals.values()], max)

    def _average(self, ends: list[float], worst: Any) -> float:
        if self.shares == "any":
            return float(worst(ends))
        weights = (self.shares.get(where, 0.0) for where in self.intervals)
        return float(sum(w * end for w, end in zip(weights, ends, strict=True)))

    @property
    def direction(self) -> dict[object, Direction]:
        """For each context whether the arm increases or decreases the mean, or neither is sure."""
        return {where: _find_direction(interval) for where, interval in self.items()}

    def rows(self) -> list[dict[str, object]]:
        """Write the effect as a list of mappings, one for each context."""
        return [
            {
                **dict(zip(self.treatments, self.arm, strict=True)),
                **dict(zip(self.context, where, strict=True)),
                "lower": interval.lower,
                "upper": interval.upper,
                "direction": _find_direction(interval),
            }
            for where, interval in self.intervals.items()
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, of ``"polars"``, or as an ``"arrow"`` table."""
        names = [*self.treatments, *self.context, "lower", "upper", "direction"]
        return find_forwarded("make_frame")(self.rows(), to, columns=names)

    def __str__(self) -> str:
        head = [*self.treatments, *self.context, "lower", "upper", "direction"]
        rows = [
            [
                *map(str, (*self.arm, *where)),
                f"{interval.lower:+.3f}",
                f"{interval.upper:+.3f}",
                _find_direction(interval),
            ]
            for where, interval in self.intervals.items()
        ]
        columns = [list(column) for column in zip(*rows, strict=True)]
        return f"{align_columns(head, columns or [[] for _ in head])}\n\n{self.summary()}"

    def summary(self) -> str:
        """Say in a sentence how much the arm changes the mean outcome on average."""
        one, other = (", ".join(map(str, arm)) for arm in (self.arm, self.baseline))
        mix = ""
        if self.context and self.shares == "any":
            mix = f", for any mix of {' and '.join(self.context)}"
        start = f"Compared with {other}, {one}"
        low, high = self.lower, self.upper
        if low > 0:
            return f"{start} increases mean {self.outcome} by {low:.3f} to {high:.3f}{mix}."
        if high < 0:
            return f"{start} decreases mean {self.outcome} by {-high:.3f} to {-low:.3f}{mix}."
        return f"{start} changes mean {self.outcome} by {low:+.3f} to {high:+.3f}{mix}."

    def __repr__(self) -> str:
        names = ", ".join(self.treatments)
        one, other = (", ".join(map(str, arm)) for arm in (self.arm, self.baseline))
        shown = [
            f"{', '.join(map(str, where))} [{i.lower:+.3f}, {i.upper:+.3f}]".lstrip()
            for where, i in self.intervals.items()
        ]
        more = f", and {len(shown) - 4} more" if len(shown) > 4 else ""
        sure = "estimates"
        if self.confidence is not None:
            sure = f"{100 * self.confidence:.10g}% confidence"
        return (
            f"<Effect of {names}={one} vs {other} on {self.outcome}: "
            f"{', '.join(shown[:4])}{more}; {sure}>"
        )


def _find_direction(interval: Interval) -> Direction:
    if interval.lower > 0:
        return "increase"
    return "decrease" if interval.upper < 0 else "inconclusive"
