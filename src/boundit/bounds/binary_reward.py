"""Counts with the reward as a coin: heads as often as the reward is high.

A reward in [low, high] earns on average what a coin does that shows 1 with chance
``(reward - low) / (high - low)``. Of a 0/1 reward the coin is the reward itself. So every rule
can speak of ``P(y = 1 | ...)``, and only sums of rewards need to be counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boundit.counts.named_array import NamedArray
from boundit.counts.table import CountTable
from boundit.terms.names import Nodes

SUCCESS = 1


@dataclass(frozen=True, eq=False)
class BinaryReward:
    """A count table seen as one with the outcome as a variable of two levels.

    ``outcome`` is None for a table that does not hold it.
    """

    table: CountTable
    outcome: str | None
    low: float
    high: float
    binary: bool = True

    @property
    def names(self) -> Nodes:
        """The variables, the outcome among them."""
        own = frozenset(self.table.variables)
        return own | {self.outcome} if self.outcome else own

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each has."""
        own = {name: len(levels) for name, levels in self.table.levels.items()}
        return own | {self.outcome: 2} if self.outcome else own

    def marginalize(self, names: Nodes) -> NamedArray:
        """The numbers by some of the variables."""
        if self.outcome is None or self.outcome not in names:
            return self.table.marginalize(names)
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest), self.table.sum_rewards(rest)
        heads = (sums.values - self.low * n.values) / (self.high - self.low)
        heads = np.clip(heads, 0, n.values)
        tossed = np.stack([n.values - heads, heads], axis=-1)
        return NamedArray((*n.axes, self.outcome), tossed)

    def sum_squares(self, names: Nodes) -> NamedArray:
        """Sums of squared chances, of tails and of heads, by some of the variables."""
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest).values, self.table.sum_rewards(rest).values
        squares = self.table.sum_squares(rest)
        low, width = self.low, self.high - self.low
        heads = (squares.values - 2 * low * sums + low**2 * n) / width**2
        tails = n - 2 * (sums - low * n) / width + heads
        return NamedArray((*squares.axes, str(self.outcome)), np.stack([tails, heads], axis=-1))
