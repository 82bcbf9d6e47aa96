"""Counts with the reward as a 0/1 variable: a success as often as the reward is high.

A reward in [low, high] earns on average what a success or failure does that succeeds with
chance ``(reward - low) / (high - low)``. A 0/1 reward is its own success. So every rule can
speak of ``P(y = 1 | ...)``, and only sums of rewards need to be counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boundit.counts.named_array import NamedArray
from boundit.counts.seen import SeenCells
from boundit.counts.table import CountTable
from boundit.terms.names import Nodes

SUCCESS = 1


@dataclass(frozen=True, eq=False)
class BinaryReward:
    """A count table seen as one with the outcome as a variable of two levels.

    ``outcome`` is None for a table that does not hold it. ``binary`` says that every reward was
    ``low`` or ``high``, so that successes are rows.
    """

    table: CountTable
    outcome: str | None
    low: float
    high: float
    binary: bool = True

    @property
    def names(self) -> Nodes:
        """The variables of the count table, the outcome among them.

        Read by ``ConfidentNumbers._find_source``, which looks for a table with all variables of
        a term.
        """
        own = self.table.names
        return own | {self.outcome} if self.outcome else own

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each variable of the count table has; the outcome has two.

        Read by ``ConfidentNumbers.__init__``, which shares the error out over cells.
        """
        own = self.table.n_levels
        return {**own, self.outcome: 2} if self.outcome else own

    @property
    def is_variable(self) -> bool:
        """Whether the success is the reward itself, so that other laws may be given it.

        Of another range than 0 to 1 the log may have hidden values between, and the success is
        then a chance event that only follows the reward. Read by
        ``ConfidentNumbers._compute_interval`` and ``TermCounter._count``.
        """
        return self.binary and (self.low, self.high) == (0, 1)

    def marginalize(self, names: Nodes) -> NamedArray:
        """Count rows by some of the variables; by the outcome, failures and successes.

        Called by ``ConfidentNumbers._compute_interval`` and, through the evaluator, for every
        formula.
        """
        if self.outcome is None or self.outcome not in names:
            return self.table.marginalize(names)
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest), self.table.sum_rewards(rest)
        successes = (sums.values - self.low * n.values) / (self.high - self.low)
        successes = np.clip(successes, 0, n.values)
        outcomes = np.stack([n.values - successes, successes], axis=-1)
        return NamedArray((*n.axes, self.outcome), outcomes)

    def list_seen(self, names: Nodes) -> SeenCells:
        """List the cells of some variables that were seen; by the outcome, both of its levels.

        Called by ``Evaluator.find_ends_over_seen`` for formulas that would not fit densely.
        """
        if self.outcome is None or self.outcome not in names:
            return self.table.list_seen(names)
        rest = names - {self.outcome}
        seen, sums = self.table.list_seen(rest), self.table.list_rewards(rest).weights
        successes = (sums - self.low * seen.weights) / (self.high - self.low)
        successes = np.clip(successes, 0, seen.weights)
        n_lines = len(seen.weights)
        level = np.repeat([1 - SUCCESS, SUCCESS], n_lines)[:, None]
        return SeenCells(
            (*seen.variables, self.outcome),
            np.hstack([np.vstack([seen.codes, seen.codes]), level]),
            np.concatenate([seen.weights - successes, successes]),
        )

    def sum_squares(self, names: Nodes) -> NamedArray:
        """Sum the squared chances of failure and of success by some of the variables.

        Called by ``ConfidentNumbers._compute_interval`` for a reward that is no 0/1 variable.
        """
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest).values, self.table.sum_rewards(rest).values
        squares = self.table.sum_squares(rest)
        low, width = self.low, self.high - self.low
        successes = (squares.values - 2 * low * sums + low**2 * n) / width**2
        failures = n - 2 * (sums - low * n) / width + successes
        return NamedArray(
            (*squares.axes, str(self.outcome)), np.stack([failures, successes], axis=-1)
        )
