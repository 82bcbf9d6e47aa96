"""What a comparison of two policies found: an interval, a verdict, and the reasons in words."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from boundit.core.codec import encode
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.public_names import find_forwarded
from boundit.core.rounding import ROUNDING
from boundit.decisions.compare.policies import write_values
from boundit.report.frame import make_frame
from boundit.report.notebook.answer import show_answer
from boundit.results.bound import Context, Goal
from boundit.results.choice import write_at_least, write_at_most

Finding: TypeAlias = Literal["surely better", "surely worse", "not told"]
"""What a comparison says of the new policy beside the old one."""
MOST_SHOWN = 12
"""How many contexts text shows; ``rows`` has all."""


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """How much more the new policy earns in one context, and how often that context comes.

    ``shared`` says that both policies were compared under one unknown there: arms that both
    choose cancel, and differences of arms that the table knows were used.
    """

    context: Context
    share: Interval
    difference: Interval
    shared: bool
    mark: str | None = None


@dataclass(frozen=True)
class Comparison:
    """An interval for how much more the new policy earns than the old one, a visitor.

    It is true when the new policy is surely better. ``verdict`` and ``by`` say so: by how much
    at least, 0 where it is not told. ``deciding`` are the contexts that the answer hangs on
    most, ``reasons`` say what was assumed and what could only be subtracted. ``confidence`` is
    the chance that the interval holds, None where nothing was allowed for chance.
    """

    new: str
    old: str
    interval: Interval
    context: tuple[str, ...]
    differences: tuple[ContextDifference, ...]
    deciding: tuple[Context, ...]
    reasons: tuple[str, ...]
    confidence: float | None = None
    goal: Goal = "max"

    def __bool__(self) -> bool:
        return self.verdict == "surely better"

    @property
    def verdict(self) -> Finding:
        """Whether the new policy earns surely more, surely less, or neither is told."""
        low, high = self.interval.lower, self.interval.upper
        room = ROUNDING * max(1.0, abs(low), abs(high))  # alike up to rounding is not better
        if low > room:
            return "surely better" if self.goal == "max" else "surely worse"
        if high < -room:
            return "surely worse" if self.goal == "max" else "surely better"
        return "not told"

    @property
    def by(self) -> float:
        """How much better or worse the new policy surely is at least; 0 where not told."""
        if self.verdict == "not told":
            return 0.0
        return max(self.interval.lower, -self.interval.upper)

    def answer(self) -> str:
        """Say in a sentence which policy earns more, and by how much."""
        low, high = self.interval.lower, self.interval.upper
        if self.verdict == "not told":
            less, more = max(0.0, -low), max(0.0, high)
            return (
                f"Not told: the mean of {self.new} may be from {write_at_most(less)} lower to "
                f"{write_at_most(more)} higher than that of {self.old}."
            )
        most = max(abs(low), abs(high))
        word = "higher" if low > 0 else "lower"
        return (
            f"Surely {word}: the mean of {self.new} is at least {write_at_least(self.by)} "
            f"{word} than that of {self.old}, and at most {write_at_most(most)}."
        )

    def rows(self) -> list[dict[str, object]]:
        """Write what each context adds as a list of flat mappings, for a data frame."""
        return [
            {
                **dict(zip(self.context, found.context, strict=True)),
                "share_lower": found.share.lower,
                "share_upper": found.share.upper,
                "lower": found.difference.lower,
                "upper": found.difference.upper,
                "shared": found.shared,
            }
            for found in self.differences
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the whole comparison as an object for JSON, with its verdict in words."""
        head: dict[str, object] = {
            "verdict": self.verdict,
            "by": self.by,
            "answer": self.answer(),
        }
        found: dict[str, object] = encode(self)
        return head | found

    def __repr__(self) -> str:
        return f"<Comparison {self.answer()}>"

    def _repr_html_(self) -> str:
        """Show the verdict and every context in a notebook."""
        return show_answer(find_forwarded("make_comparison_page")(self))

    def __str__(self) -> str:
        lines = [self.answer(), *self.reasons]
        if len(self.differences) > 1:
            lines.append(self._write_contexts())
        if self.confidence is not None:
            lines.append(f"confidence {self.confidence:g} for all of it at once")
        return "\n".join(lines)

    def sort_differences(self) -> tuple[ContextDifference, ...]:
        """Sort what was found in each context: those that decide first, then as they come."""
        first = {where: place for place, where in enumerate(self.deciding)}
        return tuple(
            sorted(self.differences, key=lambda one: first.get(one.context, len(first)))
        )

    def _write_contexts(self) -> str:
        """Write the contexts that decide, and the differences of the first few of them."""
        shown = self.sort_differences()[:MOST_SHOWN]
        lines = ["By context, those that decide first:"]
        for found in shown:
            where = write_values(self.context, found.context)
            lines.append(f"  {where}: {found.difference}, share {write_share(found.share)}")
        if left := len(self.differences) - len(shown):
            lines.append(f"  and {left:,} more")
        return "\n".join(lines)


def write_share(share: Interval) -> str:
    """Write how often a context comes: one number, a range, or that anything goes."""
    if (share.lower, share.upper) == (0, 1):
        return "any"
    return f"{share.lower:.3g}" if not share.width else str(share)
