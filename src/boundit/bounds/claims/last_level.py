"""The level that holds the value: its rows' means, and what they pay for chance.

Values are between 0 and 1. The pilot knows them as shares, the rest as counts; a numeric reward
has sums and squares instead.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from boundit.bounds.claims.penalties import (
    pay_bets,
    pay_range,
    pay_squares,
    predict_bets,
    weigh_squares,
)
from boundit.bounds.confidence import bound_mean, bound_share
from boundit.counts.named_array import Floats


@dataclass(frozen=True, eq=False)
class ValuedPilot:
    """Values of a few kinds, with the pilot's shares of each."""

    rows: Floats
    shares: tuple[Floats, ...]
    values: tuple[Floats, ...]

    @cached_property
    def mean(self) -> Floats:
        """The pilot's mean of every cell."""
        return _add(
            share * value for share, value in zip(self.shares, self.values, strict=True)
        )

    @cached_property
    def variance(self) -> Floats:
        """The pilot's variance within every cell."""
        return _add(
            share * (value - self.mean) ** 2
            for share, value in zip(self.shares, self.values, strict=True)
        )

    def predict(self, rows: Floats, scale: Floats) -> Floats:
        """Predict what bets will cost."""
        return predict_bets(rows, self.shares, self.values, self.mean, self.variance, scale)


@dataclass(frozen=True, eq=False)
class ValuedRest:
    """Values of a few kinds: rows by value, drawn in blocks for bets."""

    blocks: Sequence[tuple[Floats, ...]]
    counts: tuple[Floats, ...]
    values: tuple[Floats, ...]

    @cached_property
    def rows(self) -> Floats:
        """The rows of every cell."""
        return _add(self.counts)

    @cached_property
    def mean(self) -> Floats:
        """The mean of every cell; 0 where it has no rows."""
        total = _add(k * value for k, value in zip(self.counts, self.values, strict=True))
        rows = np.broadcast_to(self.rows, total.shape)
        return np.divide(total, rows, out=np.zeros(total.shape), where=rows > 0)

    def pay(self, scale: Floats, pilot: "PilotLast") -> Floats:
        """Pay by bets where they are predicted to be cheaper than the range, cell by cell."""
        by_range = pay_range(self.rows, scale)
        bets = pilot.predict(self.rows, scale) < by_range
        safe = np.where(bets, scale, 0.0)
        return np.where(bets, pay_bets(self.blocks, self.values, safe, pilot.mean), by_range)

    def find_boxes(self, alpha: float) -> tuple[Floats, Floats]:
        """Find the interval of every cell's mean: exact for values 0 and 1."""
        mean, rows = self.mean, self.rows
        rows = np.broadcast_to(rows, mean.shape)
        if [value.tolist() for value in self.values] == [0.0, 1.0]:
            return bound_share(np.broadcast_to(self.counts[1], mean.shape), rows, alpha)
        squares = _add(k * v**2 for k, v in zip(self.counts, self.values, strict=True))
        return bound_mean(mean * rows, squares, rows, alpha)

    def estimate_spread(self) -> Floats:
        """Estimate each cell's variance without bias."""
        mean, rows = self.mean, self.rows
        squares = _add(k * v**2 for k, v in zip(self.counts, self.values, strict=True))
        about = np.maximum(squares - rows * mean**2, 0.0)
        return np.where(rows > 1, about / np.maximum(rows - 1, 1.0), 0.0)


def _add(parts: Iterable[Floats]) -> Floats:
    """Add up arrays."""
    total: Floats = np.zeros(())
    for part in parts:
        total = total + part
    return total


@dataclass(frozen=True, eq=False)
class NumericPilot:
    """A numeric reward, of which the pilot knows nothing but a supposed variance.

    For want of rewards the ``mean`` is in the middle of the range.
    """

    rows: Floats
    variance: float | Floats
    mean: Floats = field(default_factory=lambda: np.full((), 0.5))

    def predict(self, rows: Floats, scale: Floats) -> Floats:
        """Predict what squares will cost at the supposed variance."""
        learned = self.variance * (rows + np.log1p(rows)) + 0.05
        with np.errstate(invalid="ignore"):
            return np.where(rows > 0, weigh_squares(np.abs(scale)) * learned, 0.0)


@dataclass(frozen=True, eq=False)
class NumericRest:
    """A numeric reward: rows, sums and squares of every cell, and its running squares."""

    rows: Floats
    sums: Floats
    squares: Floats
    running: Floats

    @cached_property
    def mean(self) -> Floats:
        """The mean of every cell; 0 where it has no rows."""
        rows = np.broadcast_to(self.rows, self.sums.shape)
        return np.divide(self.sums, rows, out=np.zeros(rows.shape), where=rows > 0)

    def pay(self, scale: Floats, pilot: "PilotLast") -> Floats:
        """Pay by squares where they are supposed to be cheaper than the range."""
        by_range = pay_range(self.rows, scale)
        chosen = pilot.predict(self.rows, scale) < by_range
        safe = np.where(chosen, scale, 0.0)
        return np.where(chosen, pay_squares(self.running, safe), by_range)

    def find_boxes(self, alpha: float) -> tuple[Floats, Floats]:
        """Find an interval of every cell's mean."""
        rows = np.broadcast_to(self.rows, self.sums.shape)
        return bound_mean(self.sums, self.squares, rows, alpha)

    def estimate_spread(self) -> Floats:
        """Estimate each cell's variance without bias."""
        about = np.maximum(self.squares - self.rows * self.mean**2, 0.0)
        return np.where(self.rows > 1, about / np.maximum(self.rows - 1, 1.0), 0.0)


PilotLast: TypeAlias = ValuedPilot | NumericPilot
"""What the pilot knows of the value's cells."""
RestLast: TypeAlias = ValuedRest | NumericRest
"""What the rest knows of the value's cells, and pays for them."""


def predict_price(pilot: PilotLast, rows: Floats, scale: Floats) -> Floats:
    """Predict what cells pay at a scale by the cheaper of two penalties."""
    return np.minimum(pilot.predict(rows, scale), pay_range(rows, scale))
