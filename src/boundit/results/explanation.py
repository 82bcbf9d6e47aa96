"""Why an interval is what it is, as a record; ``str`` says it as a colleague would.

The record holds facts: the question, each end with its rule and numbers, what of the width is
sampling error, how many rows were logged, what to heed. Plain text is one rendering of it, the
blocks of a page (``boundit.report.text.explanation``) are another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from boundit.core.formula import Line, Sentence, StepRecord
from boundit.core.interval import Interval
from boundit.core.message import format_count
from boundit.core.rounding import ROUNDING
from boundit.results.bound import Arm, Bound, Goal, RuleRecord
from boundit.results.sampling import Inference, describe_sampling

RANGE = "whole range"
"""What an end is called that no rule gave."""
_MOST_CELLS = 16
UNPROVED = "That it would last is not proved: caveats name the limits that were met."
EMPTY = "cells that were never logged count as the whole range here; rows there may narrow it"
"""Marks a row whose ends rest on such cells."""
NEVER_LOGGED = "this arm was never logged in this context"
"""Marks a row without rows."""

End = Literal["lower", "upper", "both"]


@dataclass(frozen=True, slots=True)
class EndNumbers:
    """The numbers that one end, or both, were made from, a line each."""

    end: End
    value: float
    cells: tuple[Line, ...]
    n_more: int = 0

    @classmethod
    def of(cls, end: End, value: float, cells: Sequence[Line]) -> "EndNumbers":
        """Keep the first few of the numbers behind an end, and how many more there are."""
        return cls(end, value, tuple(cells[:_MOST_CELLS]), max(len(cells) - _MOST_CELLS, 0))

    @property
    def title(self) -> str:
        """Which end of the interval the numbers are of, and its value: ``Lower end 0.2``."""
        return f"{self.end.capitalize()} end {self.value:.4g}"

    @property
    def lines(self) -> tuple[Line, ...]:
        """The numbers behind an end, a line each, and how many are left out."""
        return (*self.cells, f"and {self.n_more} more") if self.n_more else self.cells


@dataclass(frozen=True, slots=True)
class EndExplanation:
    """One end, or both where one rule gave them: the rule, what it claims, numbers, steps."""

    end: End
    value: float
    rule: str
    claim: Line | None
    numbers: tuple[EndNumbers, ...]
    steps: tuple[StepRecord, ...]

    @property
    def title(self) -> str:
        """The heading over what explains an end: which end, its value, the rule that gave it."""
        which = "Both ends" if self.end == "both" else f"{self.end.capitalize()} end"
        value = "" if self.end == "both" else f" {self.value:.4g}"
        by = self.rule if self.rule != RANGE else "the reward's range, no rule says more"
        return f"{which}{value}: {by}."


@dataclass(frozen=True, slots=True)
class Domination:
    """An arm that is better in every possible case, and by how much at least."""

    arm: Arm
    lead: float
    goal: Goal = "max"

    def __str__(self) -> str:
        way = "higher" if self.goal == "max" else "lower"
        return (
            f"Ruled out by arm {self.arm}: whatever the shared unknown, the mean of that "
            f"arm is at least {self.lead:.4g} {way} here."
        )


WidthKind = Literal["point", "chance", "open", "mixed"]


@dataclass(frozen=True, slots=True)
class WidthSplit:
    """How much of an interval's width more rows would take away, and how much they never can.

    ``lasting`` is what the graph leaves open, ``chance`` the sampling error; ``low`` and
    ``high`` are the ends that the best rules give on the estimates. Only where the search for
    rules was ``complete`` is it said that what lasts would stay however many rows there were.

    >>> print(WidthSplit.of(0.1, 0.5, 0.3, 0.3))
    All of the width 0.4 is sampling error: with ever more rows it would shrink to 0, for ...
    """

    kind: WidthKind
    whole: float
    lasting: float
    chance: float
    low: float
    high: float
    complete: bool = False

    @classmethod
    def of(
        cls, lower: float, upper: float, low: float, high: float, *, complete: bool = False
    ) -> "WidthSplit":
        """Split the width of an interval, by its ends and those on the estimates."""
        whole = upper - lower
        # Programs leave points a width of rounding.
        lasting = round(min(high - low, whole), 9)
        kind: WidthKind = "mixed"
        if whole < ROUNDING:
            kind = "point"
        elif lasting < ROUNDING:
            kind = "chance"
        elif whole - lasting < ROUNDING:
            kind = "open"
        return cls(kind, whole, lasting, whole - lasting, low, high, complete)

    def __str__(self) -> str:
        match self.kind:
            case "point":
                return (
                    "The width is 0: the interval is one number, and more rows would not "
                    "change it."
                )
            case "chance":
                return (
                    f"All of the width {self.whole:.3g} is sampling error: with ever more rows "
                    "it would shrink to 0, for the graph leaves nothing open."
                )
            case "open":
                left = "the graph leaves open: however many rows, it would stay."
                if not self.complete:
                    left = f"the rules tried leave open. {UNPROVED}"
                return f"All of the width {self.whole:.3g} is what {left}"
            case "mixed":
                left = "graph leaves open, however many rows"
                if not self.complete:
                    left = "rules tried leave open"
                return (
                    f"Of the width {self.whole:.3g}, about {self.lasting:.3g} is what the "
                    f"{left} (the best rules on the estimates "
                    f"give [{self.low:.4g}, {self.high:.4g}]); {self.chance:.3g} is sampling "
                    "error, which more rows make smaller."
                ) + (f" {UNPROVED}" if not self.complete else "")


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one interval came about.

    ``estimate`` are the ends that the best rules give on the estimates, without sampling error,
    ``split`` how much of the width that error is, where there is a confidence; ``promise`` says
    how often such tables hold, and ``sampling`` in sentences why chance widens this row so.
    """

    question: Sentence
    interval: Interval
    estimate: tuple[float, float]
    confidence: float | None
    split: WidthSplit | None
    ends: tuple[EndExplanation, ...]
    n: float
    caveats: tuple[str, ...] = ()
    dominated: Domination | None = None
    promise: str = ""
    sampling: tuple[str, ...] = ()

    @property
    def opening(self) -> Sentence:
        """The first sentence: the question, the interval that answers it, and how surely."""
        sure = (
            f"With confidence {self.confidence:g}, for all rows of the table at once, "
            if self.confidence
            else ""
        )
        return Sentence.of(sure, self.question, f" lies in {self.interval}.")

    @property
    def widths(self) -> str:
        """How much of the interval's width more logged rows would take away, in words.

        Empty without a confidence.
        """
        return str(self.split) if self.split else ""

    @property
    def logged(self) -> str:
        """How many rows were logged for the arm and context, in a sentence."""
        return f"Logged for this arm and context: {format_count(self.n)}."

    def __str__(self) -> str:
        return "\n".join(_write_lines(self))


def explain_bound(
    question: Sentence,
    bound: Bound,
    rules: Mapping[str, RuleRecord],
    *,
    confidence: float | None,
    inference: Inference | None,
    promise: str,
    caveats: Sequence[str],
    dominated: Domination | None = None,
    complete: bool = False,
) -> Explanation:
    """Make the explanation of one row of bounds: its ends, their rules, numbers and caveats.

    ``complete`` says that no limit cut the search for rules.
    """
    low, high = bound.lower_estimate, bound.upper_estimate
    lines = describe_sampling(bound.sampling, inference) if inference else ()
    return Explanation(
        question,
        bound.interval,
        (low, high),
        confidence,
        WidthSplit.of(
            bound.lower, bound.upper, low, high, complete=complete and is_proved(bound)
        )
        if confidence
        else None,
        explain_ends(bound, rules),
        bound.n,
        (*bound.marks, *caveats),
        dominated,
        promise,
        tuple(lines),
    )


def is_proved(bound: Bound) -> bool:
    """Tell whether every cell behind a row was seen, so that rows fill none that was empty."""
    return not {EMPTY, NEVER_LOGGED}.intersection(bound.marks)


def explain_ends(bound: Bound, rules: Mapping[str, RuleRecord]) -> tuple[EndExplanation, ...]:
    """Say for each end of a row which rule gave it, and from which numbers.

    Ends of one rule are explained together; equal numbers are said once.
    """
    low = EndNumbers.of("lower", bound.lower, bound.lower_cells)
    high = EndNumbers.of("upper", bound.upper, bound.upper_cells)
    if bound.lower_rule != bound.upper_rule:
        return (
            _explain_end("lower", bound.lower, bound.lower_rule, (low,), rules),
            _explain_end("upper", bound.upper, bound.upper_rule, (high,), rules),
        )
    same = (low.cells, low.n_more) == (high.cells, high.n_more)
    numbers = (EndNumbers.of("both", bound.lower, bound.lower_cells),) if same else (low, high)
    return (_explain_end("both", bound.lower, bound.lower_rule, numbers, rules),)


def _explain_end(
    end: End,
    value: float,
    name: str,
    numbers: tuple[EndNumbers, ...],
    rules: Mapping[str, RuleRecord],
) -> EndExplanation:
    """Make the explanation of one end from its rule's name, claim and steps, and its numbers."""
    rule = rules.get(name)
    claim, steps = (rule.claim, rule.steps) if rule else (None, ())
    return EndExplanation(end, value, name, claim, numbers, steps)


def _write_lines(found: Explanation) -> Iterator[str]:
    """Write the explanation of an interval as text, line by line."""
    yield str(found.opening)
    for end in found.ends:
        yield from _write_end_lines(end)
    if found.widths:
        yield from ("", found.widths)
    yield from (f"  - {line}" for line in found.sampling)
    if found.promise:
        yield from ("", found.promise)
    yield from ("", found.logged)
    if found.caveats:
        yield from ("", "Caveats:")
        yield from (f"  - {caveat}" for caveat in found.caveats)
    if found.dominated is not None:
        yield from ("", str(found.dominated))


def _write_end_lines(end: EndExplanation) -> Iterator[str]:
    """Write how one end came about as text, line by line: title, claim, numbers, steps."""
    yield from ("", end.title)
    if end.claim is not None:
        yield f"  {end.claim}"
    for numbers in end.numbers:
        if len(end.numbers) > 1:
            yield f"  {numbers.title}:"
        yield from (f"    {line}" for line in numbers.lines)
    if end.steps:
        yield "  Why it holds:"
        yield from (f"    - {step}" for step in end.steps)
