"""What a search for the limit of a claim found, in finished words and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boundit.core.codec import encode
from boundit.core.errors import shorten
from boundit.core.public_names import find_forwarded
from boundit.report.notebook.answer import show_answer
from boundit.results.bound import Arm, Context
from boundit.results.choice import write_at_least, write_at_most


@dataclass(frozen=True, slots=True)
class ChoiceChange:
    """The first limit seen at which another arm is chosen in a context.

    Up to ``before`` the arm is chosen as today, at ``at`` another one.
    """

    context: Context
    today: Arm
    then: Arm
    before: float
    at: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A number at a limit, such as the lead of an arm or the regret of today's choice."""

    limit: float
    number: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """From which limit on a claim is not proved any more, or the choice is another one.

    ``of`` is the edge that the limit is on, or "selection". The claim is proved up to the limit
    ``holds_to`` and was seen to fall at ``falls_at``, which is at most ``precision`` larger for
    its size; ``holds_to`` is infinite where it holds whatever is hidden, and None where it does
    not hold at the smallest limit either. ``falls_at`` is None where it never was seen to fall;
    the search went up to ``most``. ``curve`` has what ``measured`` names, by limits. Limits in
    ``refuted`` the log itself contradicts. For a choice, ``changes`` has the first change in
    each context; between limits that were looked at, ``step`` times as large each, it may have
    changed and come back.

    >>> found = Breakdown("X <-> Y", "B has the highest mean", 1.9, 1.91, 100.0, 0.01, "lead")
    >>> print(found)
    B has the highest mean: proved up to a limit of 1.9 on X <-> Y, no more at 1.91
    """

    of: str
    claim: str
    holds_to: float | None
    falls_at: float | None
    most: float
    precision: float
    measured: str
    curve: tuple[CurvePoint, ...] = ()
    confidence: float | None = None
    refuted: tuple[float, ...] = ()
    changes: tuple[ChoiceChange, ...] = ()
    step: float | None = None
    caveats: tuple[str, ...] = ()

    @property
    def survives(self) -> bool:
        """Whether the claim was not seen to fall at any limit that was looked at."""
        return self.falls_at is None

    def record(self) -> dict[str, Any]:
        """Write everything as an object that JSON keeps. For users, and for --json."""
        found: dict[str, Any] = encode(self)
        return found | {"says": str(self)}

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words, a line each, without the caveats."""
        if self.changes or self.step is not None:
            lines = [self._describe_choice(), *map(self._describe_change, self.changes)]
        else:
            lines = [f"{self.claim}: {self._describe_fall()}"]
        if self.refuted:
            shown = ", ".join(f"{limit:g}" for limit in self.refuted)
            lines.append(f"the log contradicts the limits {shown}")
        if self.confidence is not None:
            lines.append(f"confidence {self.confidence:g}, if the limit is true")
        return tuple(lines)

    def __repr__(self) -> str:
        return f"<Breakdown {shorten(' '.join(map(str.strip, self.sentences)), 200)}>"

    def _repr_html_(self) -> str:
        """Show from which limit on it falls in a notebook."""
        return show_answer(find_forwarded("make_breakdown_page")(self))

    def __str__(self) -> str:
        return "\n".join((*self.sentences, *(f"caveat: {caveat}" for caveat in self.caveats)))

    def _describe_fall(self) -> str:
        """Say where a claim falls."""
        match self.holds_to, self.falls_at:
            case None, float(at):
                return f"not proved even at a limit of {at:.4g} on {self.of}"
            case float(to), float(at):
                return (
                    f"proved up to a limit of {write_at_least(to)} on {self.of}, no more at "
                    f"{write_at_most(at)}"
                )
            case float(to), None if to == float("inf"):
                return f"proved whatever is hidden by {self.of}"
            case _:
                return (
                    f"proved up to a limit of {self.most:.4g} on {self.of}, the largest tried"
                )

    def _describe_choice(self) -> str:
        """Say how far today's choice stays."""
        if not self.changes:
            return (
                f"{self.claim} at every limit on {self.of} that was looked at, up to "
                f"{self.most:.4g} in steps of a factor {self.step:.3g}"
            )
        return f"the choice changes with the limit on {self.of}:"

    def _describe_change(self, change: ChoiceChange) -> str:
        """Say where the choice of one context changes."""
        where = f" in context {_join(change.context)}" if change.context else ""
        return (
            f"  from {_join(change.today)} to {_join(change.then)} at a limit of "
            f"{change.at:.4g}{where}"
        )


def _join(values: Sequence[object]) -> str:
    """Write the values of an arm or context."""
    return ", ".join(map(str, values))
