"""What counts say of formulas, and the ends that rules make of it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.proof import EndProof, ModelProof, Place, TiltedProof, WorstPopulation
from boundit.counts.errors import TooLarge
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray, divide
from boundit.estimand.language.expression import Expression, P
from boundit.terms.message import Message, Note, Option
from boundit.terms.rounding import EXACT_ROUNDING
from boundit.terms.sampling import EndSampling

UNFINISHED = Message(
    Option("time_limit"), " ended some programs early; their ends hold, and could be narrower"
)
LEFT_OUT = "some programs have too many response types and were left out"


AnyProof = EndProof | WorstPopulation | TiltedProof | ModelProof


@dataclass(frozen=True, eq=False)
class Ends:
    """A lower and an upper end for every arm and context, axes in the query's order.

    ``empty`` says where no model of the graph fits the numbers. ``proof`` says how the lower
    end at a place comes about, or, if True, the upper one. ``sampling`` says in the same way
    how far chance moves it. ``notes`` are for the whole table.
    """

    lower: Floats
    upper: Floats
    empty: NDArray[np.bool_] | None = None
    proof: Callable[[Place, bool], AnyProof | None] | None = None
    notes: tuple[Note, ...] = ()
    sampling: Callable[[Place, bool], EndSampling | None] | None = None


class Numbers(Protocol):
    """What the counts say of formulas: an estimate, or an interval that allows for chance."""

    @property
    def levels(self) -> Mapping[str, int]:
        """How many levels each variable has."""

    @property
    def workspace(self) -> Workspace:
        """How much memory and time reading numbers may take."""

    def read_ends(self, expression: Expression, wanted: Sequence[str]) -> tuple[Floats, Floats]:
        """Read off counts a formula's lower and upper end at every level of ``wanted``.

        Both are arrays with these variables as axes; 0 and 1 where nothing is known.
        """

    def find_error(self, term: P) -> float | None:
        """Find with which chance a cell of a term may miss, where its law is read as a whole.

        None where nothing allows for chance.
        """


@final
class PlugInNumbers:
    """Formulas taken at their estimates, as if the counts were the law itself."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.levels = evaluator, evaluator.levels
        self.workspace = evaluator.workspace

    def read_ends(self, expression: Expression, wanted: Sequence[str]) -> tuple[Floats, Floats]:
        """Read a formula's estimate as both ends; 0 and 1 where nothing was logged.

        Where some of what a formula sums was never logged, and where it does not fit into
        memory, it is summed over the cells that were seen: the others count as 0 and as 1, with
        their weight.
        """
        try:
            found = evaluate_formula(expression, self.evaluator, wanted).align(wanted)
        except TooLarge:
            ends = self._read_seen(expression, wanted)
            if ends is None:
                raise
            return ends
        low, high = np.nan_to_num(found, nan=0.0), np.nan_to_num(found, nan=1.0)
        if isinstance(expression, P):
            low, high = self._allow_for_rounding(expression, wanted, low, high)
        unknown = np.isnan(found)
        if unknown.any():
            with suppress(TooLarge):
                least, most = self._read_seen(expression, wanted) or (low, high)
                return np.where(unknown, least, low), np.where(unknown, most, high)
        return low, high

    def _allow_for_rounding(
        self, term: P, wanted: Sequence[str], low: Floats, high: Floats
    ) -> tuple[Floats, Floats]:
        """Widen what is read off an exact law, where it was rounded beyond what is neglected."""
        source = self.evaluator.find_source(term, term.free)
        if not isinstance(source, BinaryReward) or not source.table.exact:
            return low, high
        joint, off = source.marginalize(term.free), source.find_rounding(term.free)
        below, off_below = (
            read(term.given).align(joint.axes)
            for read in (source.marginalize, source.find_rounding)
        )
        loose = off.values > EXACT_ROUNDING * joint.values
        loose = loose | (off_below > EXACT_ROUNDING * below)
        least = divide(np.maximum(joint.values - off.values, 0.0), below + off_below)
        most = divide(joint.values + off.values, np.maximum(below - off_below, 0.0))
        most = np.nan_to_num(most, nan=1.0).clip(0, 1)
        parts = (np.where(loose, end, np.nan) for end in (least, most))
        one, other = (average_idle(NamedArray(joint.axes, part), wanted) for part in parts)
        return np.fmin(low, one.align(wanted)), np.fmax(high, other.align(wanted))

    def _read_seen(
        self, expression: Expression, wanted: Sequence[str]
    ) -> tuple[Floats, Floats] | None:
        """Read both ends of a formula off the cells that were seen, if it can be so read."""
        ends = self.evaluator.find_ends_over_seen(expression)
        if ends is None:
            return None
        low, high = (average_idle(end, wanted).align(wanted) for end in ends)
        return low, high

    def find_error(self, term: P) -> None:
        """Give None: estimates neglect chance."""
        del term


def evaluate_formula(
    expression: Expression, evaluator: Evaluator, wanted: Sequence[str]
) -> NamedArray:
    """Estimate a formula from counts; over variables not ``wanted``, take the mean.

    The level of such a variable does not matter to the true number.
    """
    return average_idle(evaluator(expression), wanted)


def average_idle(found: NamedArray, wanted: Sequence[str]) -> NamedArray:
    """Take the mean over variables that are not ``wanted``, leaving out what is undefined."""
    idle = tuple(i for i, axis in enumerate(found.axes) if axis not in wanted)
    if not idle:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing is nan, rightly
        mean = np.nanmean(found.values, axis=idle)
    return NamedArray(tuple(a for a in found.axes if a in wanted), mean)
