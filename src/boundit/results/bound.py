"""One row of a bound table, and the rule behind an end of it: finished words and numbers."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from boundit.core.errors import OptionError
from boundit.core.formula import Line, StepRecord
from boundit.core.interval import EmptyInterval, Interval
from boundit.core.message import Option
from boundit.results.sampling import RowSampling

Value: TypeAlias = object
"""One level of a variable, with the type it has in the log."""
Arm: TypeAlias = tuple[Value, ...]
Context: TypeAlias = tuple[Value, ...]
Key: TypeAlias = tuple[Arm, Context]
Goal: TypeAlias = Literal["max", "min"]
"""Whether a greater or a smaller outcome is better; numbers never change sign."""

MEASURES = (
    "lower",
    "upper",
    "lower_estimate",
    "upper_estimate",
    "unadjusted",
    "n",
    "lower_rule",
    "upper_rule",
)


def read_goal(given: object) -> Goal:
    """Read whether a greater or a smaller outcome is better."""
    for goal in get_args(Goal):
        if given == goal:
            found: Goal = goal
            return found
    raise OptionError(
        Option("goal"), f" must be 'max' or 'min', found {given!r}. It says which is better."
    )


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """Why a kind of bound holds: its name, the claim with its formula, and the steps to it."""

    name: str
    claim: Line
    steps: tuple[StepRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """One row: the interval, its ends without sampling error, and what gave each end.

    ``lower_cells`` and ``upper_cells`` are the numbers that went in, one line each. ``marks``
    say what a reader must know of this row alone. ``sampling`` is why sampling error widens it
    as it does, in tables small enough to be explained so. ``unadjusted`` is the mean of the
    logged rows of the arm in the context.
    """

    lower: float
    upper: float
    lower_estimate: float
    upper_estimate: float
    n: float
    lower_rule: str
    upper_rule: str
    lower_cells: tuple[Line, ...] = field(default=(), repr=False)
    upper_cells: tuple[Line, ...] = field(default=(), repr=False)
    marks: tuple[str, ...] = ()
    sampling: RowSampling | None = field(default=None, repr=False)
    unadjusted: float | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise EmptyInterval(self.lower, self.upper)

    @property
    def interval(self) -> Interval:
        """Both ends of the row as an ``Interval``."""
        return Interval(self.lower, self.upper)
