"""Counts with the reward as a 0/1 variable: a success as often as the reward is high.

A reward in [low, high] earns on average what a success or failure does that succeeds with
chance ``(reward - low) / (high - low)``. A 0/1 reward is its own success. So every rule can
speak of ``P(y = 1 | ...)``, and only sums of rewards need to be counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from boundit.counts.named_array import NamedArray
from boundit.counts.seen import SeenCells
from boundit.counts.table import CountTable
from boundit.terms.names import Nodes

SUCCESS = 1
_EPS = float(np.finfo(np.float64).eps)


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
        """The variables of the count table, the outcome among them."""
        own = self.table.names
        return own | {self.outcome} if self.outcome else own

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each variable of the count table has; the outcome has two."""
        own = self.table.n_levels
        return {**own, self.outcome: 2} if self.outcome else own

    @property
    def is_variable(self) -> bool:
        """Whether the success is the reward itself, so that other laws may be given it.

        Of another range than 0 to 1 the log may have hidden values between, and the success is
        then a chance event that only follows the reward.
        """
        return self.binary and (self.low, self.high) == (0, 1)

    @property
    def reach(self) -> tuple[float, float]:
        """The least and the greatest reward that was logged, scaled to [0, 1].

        Others of the range may be there, and were not seen.
        """
        lowest, highest, width = self.table.lowest, self.table.highest, self.high - self.low
        if lowest is None or highest is None or not len(lowest):
            return 0.0, 1.0
        return (
            float((lowest.min() - self.low) / width),
            float((highest.max() - self.low) / width),
        )

    def marginalize(self, names: Nodes) -> NamedArray:
        """Count rows by some of the variables; by the outcome, failures and successes."""
        if self.outcome is None or self.outcome not in names:
            return self.table.marginalize(names)
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest), self.table.sum_rewards(rest)
        successes = (sums.values - self.low * n.values) / (self.high - self.low)
        successes = np.clip(successes, 0, n.values)
        outcomes = np.stack([self._failed.marginalize(rest).values, successes], axis=-1)
        return NamedArray((*n.axes, self.outcome), outcomes)

    def find_rounding(self, names: Nodes) -> NamedArray:
        """Find how far the chances of an exact law by some of the variables may be off.

        Failures are what successes leave of all, and both were rounded: of few among many
        successes not much is known. Rows are whole numbers, of which nothing is lost.
        """
        rest = names - {self.outcome}
        n = self._mixed.marginalize(rest)
        if self.outcome is None or self.outcome not in names:
            return NamedArray(n.axes, np.zeros_like(n.values))
        off = 4 * _EPS * n.values
        off = np.stack([off, off * (self.low != 0)], axis=-1)
        return NamedArray((*n.axes, self.outcome), off)

    @cached_property
    def _failed(self) -> CountTable:
        """The table with failures for rows; few are lost among successes line by line."""
        table = self.table
        sums = table.n if table.sums is None else table.sums
        successes = (sums - self.low * table.n) / (self.high - self.low)
        return replace(table, n=table.n - np.clip(successes, 0, table.n))

    @cached_property
    def _mixed(self) -> CountTable:
        """The table with those rows alone whose rewards were added up and not all the same."""
        table = self.table
        if not table.exact or table.lowest is None or table.highest is None:
            return replace(table, n=np.zeros_like(table.n))
        return replace(table, n=np.where(table.lowest < table.highest, table.n, 0.0))

    def list_seen(self, names: Nodes) -> SeenCells:
        """List the cells of some variables that were seen; by the outcome, both of its levels."""
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
        """Sum the squared chances of failure and of success by some of the variables."""
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest).values, self.table.sum_rewards(rest).values
        squares = self.table.sum_squares(rest)
        low, width = self.low, self.high - self.low
        successes = (squares.values - 2 * low * sums + low**2 * n) / width**2
        failures = n - 2 * (sums - low * n) / width + successes
        return NamedArray(
            (*squares.axes, str(self.outcome)), np.stack([failures, successes], axis=-1)
        )
