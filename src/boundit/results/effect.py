"""Treatment effects: the difference of two arms in every context, as intervals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from boundit.core.errors import BounditError
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.message import Option
from boundit.core.public_names import find_forwarded
from boundit.core.rounding import ROUNDING, choose_decimals
from boundit.results.bound import Arm, Context
from boundit.results.text import write_arm, write_effect, write_effects, write_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boundit.results.bound_table import BoundTable

Direction: TypeAlias = Literal["increase", "decrease", "inconclusive"]
Shares: TypeAlias = Mapping[Context, float] | Literal["any"]
_MOST_SHOWN = 4


class InvalidShares(BounditError):
    """Shares of contexts that are not a distribution."""

    def __init__(self, total: float) -> None:
        super().__init__(
            Option("shares"),
            f" add up to {total:g}. Give numbers from 0 to 1 that add up to 1.",
        )


@dataclass(frozen=True, repr=False, eq=False)
class Effect(Mapping[object, Interval]):
    """Bounds on the mean outcome under an arm minus that under the baseline, by context.

    A mapping from contexts to intervals in units of the outcome; with one context variable its
    values are the keys, and without any the key is ``()``. ``lower`` and ``upper`` bound the
    average over contexts with the stated ``shares``, or with any.

    Attributes
    ----------
    bounds : BoundTable
        The table that the effect was computed from.
    arm, baseline : tuple
        Values of the treatments.
    shares : mapping or "any"
        Share of each context in the average.
    """

    bounds: "BoundTable"
    arm: Arm
    baseline: Arm
    shares: Shares = "any"

    @cached_property
    def intervals(self) -> dict[Context, Interval]:
        """The interval of every context, by tuples of context values."""
        stated = () if self.shares == "any" else self.shares
        find = self.bounds.find_largest_difference
        found = {}
        for where in dict.fromkeys((*self.bounds.contexts, *stated)):
            most = find(self.arm, self.baseline, where)
            found[where] = Interval(min(-find(self.baseline, self.arm, where), most), most)
        return found

    def __getitem__(self, context: object) -> Interval:
        return self.intervals[context if isinstance(context, tuple) else (context,)]

    def __iter__(self) -> Iterator[object]:
        return iter(where[0] if len(where) == 1 else where for where in self.intervals)

    def __len__(self) -> int:
        return len(self.intervals)

    @property
    def lower(self) -> float:
        """The least average effect: over the stated shares, or over any mix of contexts."""
        if self.shares == "any":
            return min(interval.lower for interval in self.intervals.values())
        return fsum(w * self.intervals[where].lower for where, w in self.shares.items())

    @property
    def upper(self) -> float:
        """The greatest average effect: over the stated shares, or over any mix of contexts."""
        if self.shares == "any":
            return max(interval.upper for interval in self.intervals.values())
        return fsum(w * self.intervals[where].upper for where, w in self.shares.items())

    @property
    def baseline_name(self) -> str:
        """The baseline in words, as ``letter`` or ``X=0``."""
        return write_arm(self.bounds.treatments, self.baseline)

    @property
    def direction(self) -> dict[object, Direction]:
        """For each context whether the arm increases or decreases the mean, or neither is sure."""
        return dict(zip(self, map(self.find_direction, self.intervals), strict=True))

    def find_direction(self, where: Context) -> Direction:
        """Tell whether the arm increases or decreases the mean in a context, or neither is sure."""
        interval = self.intervals[where]
        if interval.lower > 0:
            return "increase"
        return "decrease" if interval.upper < 0 else "inconclusive"

    def unadjusted(self, where: Context) -> float | None:
        """Subtract the means of logged rows in a context; None where there are none."""
        rows = [self.bounds.bounds.get((arm, where)) for arm in (self.arm, self.baseline)]
        means = [
            row.unadjusted for row in rows if row is not None and row.unadjusted is not None
        ]
        return means[0] - means[1] if len(means) == 2 else None

    def estimate(self, where: Context) -> Interval:
        """Bound the effect in a context on the estimates, without sampling error."""
        found = self.intervals[where]
        if self.bounds.confidence is None:
            return found
        find = self.bounds.find_estimated_difference
        high = find(self.arm, self.baseline, where)
        low = -find(self.baseline, self.arm, where)
        low, high = (min(max(end, found.lower), found.upper) for end in (low, high))
        return Interval(min(low, high), max(low, high))

    def explain(self, context: object = ()) -> str:
        """Say in text where the effect in a context comes from, then the bounds of both arms."""
        where = self.bounds.read_context(context)
        arms = (self.arm, self.baseline)
        parts = [self.explain_difference(where)]
        return "\n\n".join([*parts, *(str(self.bounds.explain(arm, where)) for arm in arms)])

    def explain_difference(self, where: Context) -> str:
        """Say in text why the effect in a context lies where it does."""
        table, found, inner = self.bounds, self.intervals[where], self.estimate(where)
        decimals = choose_decimals(*table.outcome_range)
        one, other = (table.find_compared(arm, where) for arm in (self.arm, self.baseline))
        apart = Interval(one.lower - other.upper, one.upper - other.lower)
        place = write_levels(table.context, where)
        name = write_arm(table.treatments, self.arm)
        title = f"Effect of {name} compared with {self.baseline_name} on mean {table.outcome}"
        title += f", {place}" if place else ""
        rules = dict.fromkeys(
            rule
            for arm in (self.arm, self.baseline)
            if (row := table.bounds.get((arm, where))) is not None
            for rule in (row.lower_rule, row.upper_rule)
        )
        how = "difference of the bounds of both arms"
        if found.width < apart.width * (1 - ROUNDING):
            how = (
                "difference under unknowns that both arms share; subtracting their intervals "
                f"would give [{apart.write(decimals, signed=True)}]"
            )
        lines = [
            f"{title} lies in [{found.write(decimals, signed=True)}]",
            f"  how         {how}",
            f"  rules       {'; '.join(rules)}",
        ]
        width = f"{found.width:,.{decimals}f}"
        if table.confidence is not None:
            width += (
                f": without sampling error [{inner.write(decimals, signed=True)}] "
                f"{inner.width:,.{decimals}f}, sampling error "
                f"{found.width - inner.width:,.{decimals}f}"
            )
        return "\n".join([*lines, f"  width       {width}"])

    def rows(self) -> list[dict[str, object]]:
        """Write the effect as a list of mappings, one for each context."""
        return [
            {
                **dict(zip(self.bounds.treatments, self.arm, strict=True)),
                **dict(zip(self.bounds.context, where, strict=True)),
                "lower": interval.lower,
                "upper": interval.upper,
                "lower_estimate": self.estimate(where).lower,
                "upper_estimate": self.estimate(where).upper,
                "unadjusted": self.unadjusted(where),
                "direction": self.find_direction(where),
            }
            for where, interval in self.intervals.items()
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, of ``"polars"``, or as an ``"arrow"`` table."""
        names = list(self.rows()[0]) if self.intervals else []
        return find_forwarded("make_frame")(self.rows(), to, columns=names)

    def summary(self) -> str:
        """Say in a sentence how much the arm changes the mean outcome on average."""
        return write_effect(self)

    def plot(self, path: str | PathLike[str] | None = None) -> "tuple[Axes, ...]":
        """Draw the effect around a line of no effect; give the axes.

        A notebook shows the figure, pyplot's ``show`` elsewhere; with a ``path`` it is saved as
        PNG or SVG instead.
        """
        drawn: tuple[Axes, ...] = find_forwarded("plot_effects")([self], path)
        return drawn

    def _repr_html_(self) -> str:
        shown: str = find_forwarded("show_effect")(self)
        return shown

    def __str__(self) -> str:
        return write_effects([self])

    def __repr__(self) -> str:
        table = self.bounds
        decimals = choose_decimals(*table.outcome_range)
        names = ", ".join(table.treatments)
        one, other = (", ".join(map(str, arm)) for arm in (self.arm, self.baseline))
        shown = [
            f"{', '.join(map(str, where))} [{i.write(decimals, signed=True)}]".lstrip()
            for where, i in list(self.intervals.items())[:_MOST_SHOWN]
        ]
        left = len(self) - len(shown)
        sure = "estimates"
        if table.confidence is not None:
            sure = f"{100 * table.confidence:.10g}% confidence"
        return (
            f"<Effect of {names}={one} vs {other} on {table.outcome}: {', '.join(shown)}"
            f"{f', and {left:,} more' if left else ''}; {sure}>"
        )
