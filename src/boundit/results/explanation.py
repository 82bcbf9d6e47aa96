"""Why an interval is what it is: rules, data, derivation and what its width is made of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from boundit.core.formula import Line, Sentence, StepRecord
from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING, choose_decimals, write_lower
from boundit.results.bound import Arm, Bound, RuleRecord

RANGE = "whole range"
"""What a bound is called that no rule gave."""
EMPTY = "cells that were never logged count as the whole range here; rows there may narrow it"
"""Marks a row whose bounds rest on such cells."""
NEVER_LOGGED = "this arm was never logged in this context"
"""Marks a row without rows."""
_MOST_CELLS = 16
_WIDE = 108

Which = Literal["lower", "upper", "both"]


@dataclass(frozen=True, slots=True)
class Reason:
    """The rule that gave one bound, or both, and the data that it was computed from."""

    which: Which
    rule: RuleRecord
    data: tuple[Line, ...]

    @property
    def title(self) -> str:
        """The rule and the bounds that it gave, ``worst case over Z (both bounds)``."""
        bounds = "both bounds" if self.which == "both" else f"{self.which} bound"
        return f"{self.rule.name} ({bounds})"

    @property
    def shown(self) -> tuple[Line, ...]:
        """The first lines of data, and how many more there are."""
        left = len(self.data) - _MOST_CELLS
        return (*self.data[:_MOST_CELLS], f"{left:,} more") if left > 0 else self.data


@dataclass(frozen=True, slots=True)
class Domination:
    """An arm that is better in every possible case, and by how much at least."""

    arm: Arm
    lead: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one interval came about; ``str`` writes it as text.

    ``complete`` tells whether the part of the width that is not sampling error is proved to
    remain with more rows. ``ruled_out`` says in words which arm is better in every case.
    """

    question: Sentence
    row: Bound
    reasons: tuple[Reason, ...]
    outcome_range: tuple[float, float]
    confidence: float | None
    complete: bool
    critical: tuple[str, ...] = ()
    ruled_out: str = ""

    @property
    def decimals(self) -> int:
        """How many decimals numbers are written with."""
        return choose_decimals(*self.outcome_range)

    @property
    def title(self) -> Sentence:
        """The question and the interval that answers it."""
        return Sentence.of(
            self.question, f" lies in [{self.row.interval.write(self.decimals)}]"
        )

    @property
    def identified(self) -> Interval:
        """The bounds without sampling error, within the interval."""
        low, high = sorted((self.row.lower_estimate, self.row.upper_estimate))
        low = min(max(low, self.row.lower), self.row.upper)
        return Interval(low, max(min(high, self.row.upper), low))

    @property
    def width(self) -> str:
        """How much of the width more rows would take away."""
        whole, found = self.row.upper - self.row.lower, self.identified
        total = f"{whole:,.{self.decimals}f}"
        if self.confidence is None:
            return total
        low, high = (f"{end:,.{self.decimals}f}" for end in (found.lower, found.upper))
        if found.width < ROUNDING * (self.outcome_range[1] - self.outcome_range[0]):
            return f"{total}, all of it sampling error; the estimate is {low}"
        left = "identified set" if self.complete else "the rules tried leave"
        return (
            f"{total}: {left} [{low}, {high}] {found.width:,.{self.decimals}f}, "
            f"sampling error {whole - found.width:,.{self.decimals}f}"
        )

    def list_parts(self) -> Iterator[tuple[str, tuple[Line | StepRecord, ...]]]:
        """Yield each part of the explanation: its name and its lines."""
        titles = tuple(reason.title for reason in self.reasons)
        if len({reason.rule.name for reason in self.reasons}) == 1:
            titles = (f"{self.reasons[0].rule.name} (both bounds)",)
        yield "rule", titles
        yield (
            "formula",
            tuple(
                dict.fromkeys(reason.rule.claim for reason in self.reasons if reason.rule.claim)
            ),
        )
        for reason in self.reasons:
            yield "data" if len(self.reasons) == 1 else f"data, {reason.which}", reason.shown
        yield (
            "derivation",
            tuple(dict.fromkeys(step for reason in self.reasons for step in reason.rule.steps)),
        )
        yield "width", (self.width,)
        yield "note", (*self.critical, *self.row.marks)
        yield "ruled out", (self.ruled_out,) if self.ruled_out else ()

    def record(self) -> dict[str, object]:
        """Write the explanation as an object for JSON."""
        row, parts = self.row, dict(self.list_parts())
        return {
            "question": str(self.question),
            "lower": row.lower,
            "upper": row.upper,
            "lower_estimate": row.lower_estimate,
            "upper_estimate": row.upper_estimate,
            "unadjusted": row.unadjusted,
            "rows": row.n,
            **{name: list(map(str, lines)) for name, lines in parts.items() if lines},
        }

    def __str__(self) -> str:
        lines = [str(self.title)]
        parts = [(name, lines) for name, lines in self.list_parts() if lines]
        indent = max(len(name) for name, _ in parts) + 4
        for name, said in parts:
            text = "; ".join(map(str, said))
            if name.startswith("data"):
                text = _join_data(tuple(map(str, said)))
            elif name == "derivation":
                text = f"{'. '.join(str(line).rstrip('.') for line in said)}."
            found = wrap(text, _WIDE - indent, break_long_words=False, break_on_hyphens=False)
            lines.append(f"  {name:<{indent - 2}}{found[0]}")
            lines += (" " * indent + line for line in found[1:])
        return "\n".join(lines)

    __repr__ = __str__


def find_reasons(row: Bound, rules: Mapping[str, RuleRecord]) -> tuple[Reason, ...]:
    """Find the rules behind the bounds of a row, one reason where both bounds share it."""
    lower = Reason("lower", _find_rule(row.lower_rule, rules), row.lower_cells)
    upper = Reason("upper", _find_rule(row.upper_rule, rules), row.upper_cells)
    if (lower.rule, lower.data) == (upper.rule, upper.data):
        return (Reason("both", lower.rule, lower.data),)
    return lower, upper


def is_proved(row: Bound) -> bool:
    """Return True if every cell behind a row was seen, so that rows fill none that was empty."""
    return not {EMPTY, NEVER_LOGGED}.intersection(row.marks)


def describe_domination(name: str, lead: float, goal: str, decimals: int) -> str:
    """Say by which arm another is ruled out, and by how much at least."""
    way = "higher" if goal == "max" else "lower"
    return f"by {name}, whose mean is at least {write_lower(lead, decimals)} {way}"


def _find_rule(name: str, rules: Mapping[str, RuleRecord]) -> RuleRecord:
    return rules.get(name) or RuleRecord(name, "")


def _join_data(lines: tuple[str, ...]) -> str:
    """Join lines of data; how they all begin is said once.

    >>> _join_data(("mean Y with Z=0 0.5 (2 rows)", "mean Y with Z=1 0.6 (3 rows)"))
    'mean Y with Z=0 0.5 (2 rows), with Z=1 0.6 (3 rows)'
    """
    first = lines[0]
    start = first[: first.index(" with ") + 1] if " with " in first else ""
    same = start and all(line.startswith(f"{start}with ") for line in lines)
    rest = [line.removeprefix(start) if same else line for line in lines[1:]]
    return f"{', ' if same else '; '}".join([first, *rest])
