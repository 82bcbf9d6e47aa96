r"""Log e-values: what an exact confidence bound subtracts so that its exponent has mean one.

For independent rows with values U of mean m in [0, 1] and a scale s fixed before they are seen,
:math:`E \exp(\sum_i s (U_i - m) - \Psi) \le 1` holds for each of these :math:`\Psi`:

- *betting* (Waudby-Smith and Ramdas 2024): ``h(s (U_i - y_i))``, ``h(u) = u - log(1 + u)``, where
  the guess y_i was made before U_i was seen and ``s y_i < 1``;
- *Hoeffding*: ``s^2 / 8`` for each row;
- *empirical Bernstein* (Fan, Grama and Liu 2015): ``s^2 kappa(s r) Q`` with s < 1, Q the sum of
  ``(U_i - running mean)^2``, averaged over all orders of the rows, r their range and
  ``kappa(c) = (-log(1 - c) - c) / c^2``, as ``log(1 + u) >= u - kappa(c) u^2`` for u >= -c.

A geometric mean of e-values is one: a cell that several branches read is shared out among them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.random import Generator

from boundit.bounds.inference.cells import (
    CAP,
    WHOLE,
    bound_mean,
    clopper_pearson,
    find_two_values,
)
from boundit.counts.formula import Pair
from boundit.counts.named_array import Floats

GUESS_ROWS = 4.0  # how many rows the pilot's guess is worth
MAX_DRAWN = 10**9
_NEAR = 0.8
_EULER = 0.5772156649015329


def betting(u: Floats) -> Floats:
    """What a bet pays less than its expectation."""
    return u - np.log1p(u)


def psi(s: Floats) -> Floats:
    """The price of empirical Bernstein at a scale below 1; infinite from there on."""
    with np.errstate(divide="ignore"):
        return np.where(s < 1, -np.log1p(-np.minimum(s, 1.0)) - s, np.inf)


def hoeffding(rows: Floats, scale: Floats) -> Floats:
    """The log e-value of outcomes in [0, 1] of which nothing is known."""
    return rows * scale**2 / 8


def draw_blocks(counts: Floats, rng: Generator) -> list[Floats]:
    """Reveal the rows of every cell in a random order, in blocks of 1, 2, 4 and so on.

    ``counts`` are rows by cell and, on the last axis, by value.
    """
    left = np.rint(counts).astype(np.int64)
    total, few = left.sum(axis=-1), counts.sum(axis=-1) < MAX_DRAWN
    blocks, size = list[Floats](), 1
    while (total > 0).any():
        wanted = np.where(few, np.minimum(total, size), total)
        block, missing, others = np.zeros_like(left), wanted.copy(), total.copy()
        for value in range(left.shape[-1] - 1):  # hypergeometric, value by value
            have = left[..., value]
            others = others - have
            some = missing < have + others
            drawn = have
            if some.any():
                of = some.astype(np.int64)
                drawn = np.where(
                    some, rng.hypergeometric(of * have, of * others, of * missing), have
                )
            block[..., value] = drawn
            missing = missing - drawn
        block[..., -1] = missing
        blocks.append(block.astype(np.float64))
        left, total, size = left - block, total - wanted, size * 2
    return blocks


def kappa(c: Floats) -> Floats:
    """The least k with ``log(1 + u) >= u - k u^2`` for all u >= -c, rounded up."""
    small = c < 1e-3
    c = np.where(small, 0.5, np.minimum(c, 1 - 1e-15))
    return np.where(small, 0.501, (-np.log1p(-c) - c) / c**2)


def running_squares(rows: Floats, sums: Floats, squares: Floats, guess: Floats | None) -> Pair:
    """The sum of ``(Y - running mean)^2`` of every cell, averaged over all orders of its rows.

    A closed form of the number of rows, their sum and sum of squares. Without a guess, the first
    in a cell is the mean of all cells before it; it comes back too.
    """
    shape = rows.shape
    n, one, two = (np.asarray(a, dtype=np.float64).ravel() for a in (rows, sums, squares))
    if guess is None:
        first = (np.cumsum(one) - one + 0.5) / (np.cumsum(n) - n + 1.0)
    else:
        first = np.broadcast_to(guess, shape).ravel()
    h1, h2 = _harmonic(n)
    m = np.maximum(n, 1.0)
    mean, mean_square = one / m, two / m
    pairs = np.where(n > 1, (one**2 - two) / (m * np.maximum(n - 1, 1)), 0.0)
    crossed = first * mean * h1 + pairs * (n - h1)
    running = first**2 * h2 + (2 * first * mean + mean_square) * (h1 - h2)
    running = running + pairs * (n - 3 * h1 + 2 * h2)
    found = n * mean_square - 2 * crossed + running
    found = np.where(n > 0, np.maximum(found, 0.0), 0.0)
    return found.reshape(shape), first.reshape(shape)


def _harmonic(n: Floats) -> Pair:
    """Sums of 1/t and 1/t^2 up to n."""
    t = np.arange(1, 65)
    first, second = (np.concatenate([[0.0], np.cumsum(1 / t**k)]) for k in (1, 2))
    few, big = np.minimum(n, 64).astype(np.int64), np.maximum(n, 1.0)
    h1 = np.log(big) + _EULER + 1 / (2 * big) - 1 / (12 * big**2)
    h2 = np.pi**2 / 6 - 1 / big + 1 / (2 * big**2) - 1 / (6 * big**3)
    return np.where(n <= 64, first[few], h1), np.where(n <= 64, second[few], h2)


@dataclass(frozen=True, eq=False)
class PilotValues:
    """What the pilot expects of the last factor's cells: rows, probabilities of a few values.

    Of a numeric outcome it has no values, and supposes a ``variance``; ``near_zero``: outcomes are
    supposed to be 0 but for a few, so that 0 is guessed (of an upper endpoint: 1 but for a few).
    """

    rows: Floats
    probabilities: tuple[Floats, ...] = ()
    values: tuple[Floats, ...] = ()
    supposed: Floats | None = None
    near_zero: bool = False

    @cached_property
    def mean(self) -> Floats:
        """The mean of every cell."""
        if not self.values:
            return np.full((), 0.5)
        return _add(p * v for p, v in zip(self.probabilities, self.values, strict=True))

    @cached_property
    def variance(self) -> Floats:
        """The variance of every cell."""
        if self.supposed is not None:
            return self.supposed
        own = zip(self.probabilities, self.values, strict=True)
        return _add(p * (v - self.mean) ** 2 for p, v in own)

    def predict(self, rows: Floats, scale: Floats) -> Floats:
        """The log e-value to expect of betting, or of empirical Bernstein."""
        if self.near_zero:
            return rows * scale**2 * self.variance / 2
        if self.supposed is not None:
            learned = self.variance * (rows + np.log1p(rows)) + 0.05
            with np.errstate(invalid="ignore"):
                return np.where(rows > 0, psi(np.abs(scale)) * learned, 0.0)
        safe = np.where(scale < 0, scale * (1 - self.mean), -scale * self.mean) > -_NEAR
        s = np.where(safe, scale, 0.0)
        own = zip(self.probabilities, self.values, strict=True)
        each = _add(p * betting(s * (v - self.mean)) for p, v in own)
        learning = 0.3 * s**2 * self.variance / np.maximum(rows, 2.0)
        return np.where(safe, rows * (each + learning), np.inf)


class LastCells(Protocol):
    """The last factor's cells as they were logged."""

    @property
    def exact(self) -> bool:
        """Whether the cells are those of an exact distribution."""

    @property
    def rows(self) -> Floats:
        """The rows of every cell."""

    @property
    def mean(self) -> Floats:
        """The mean of every cell."""

    @property
    def variance(self) -> Floats:
        """An unbiased estimate for every cell; 0 for cells of one row."""

    def log_evalue(self, scale: Floats, pilot: PilotValues) -> Floats:
        """Psi of every cell, by the inequality that the pilot predicts to be the smaller one."""

    def intervals(self, alpha: float | Floats) -> Pair:
        """An interval of every cell's mean."""


@dataclass(frozen=True, eq=False)
class Values:
    """Cells of a few values: rows by value, revealed in blocks."""

    counts: tuple[Floats, ...]
    values: tuple[Floats, ...]
    blocks: Callable[[], Sequence[Sequence[Floats]]] = field(repr=False, default=tuple)
    exact: bool = False

    @cached_property
    def rows(self) -> Floats:
        """The rows of every cell."""
        return _add(self.counts)

    @cached_property
    def mean(self) -> Floats:
        """The mean of every cell."""
        total = _add(k * v for k, v in zip(self.counts, self.values, strict=True))
        rows = np.broadcast_to(self.rows, total.shape)
        return np.divide(total, rows, out=np.zeros(total.shape), where=rows > 0)

    @cached_property
    def _squares(self) -> Floats:
        return _add(k * v**2 for k, v in zip(self.counts, self.values, strict=True))

    @cached_property
    def variance(self) -> Floats:
        """The variance of every cell."""
        return _find_variance(self.rows, self.mean, self._squares)

    def log_evalue(self, scale: Floats, pilot: PilotValues) -> Floats:
        """Psi of every cell, by the inequality that the pilot predicts to be the smaller one."""
        if self.exact:
            return np.zeros(())
        plain = hoeffding(self.rows, scale)
        chosen = pilot.predict(self.rows, scale) < plain
        return np.where(chosen, self._bet(np.where(chosen, scale, 0.0), pilot.mean), plain)

    def _bet(self, scale: Floats, guess: Floats) -> Floats:
        """Betting with the pilot's guess first, then the running mean."""
        most, down = CAP / np.maximum(np.abs(scale), 1e-300), scale < 0
        paid = np.zeros(np.broadcast_shapes(scale.shape, guess.shape))
        seen, earned = np.zeros(()), np.zeros(())
        for block in self._blocks:
            mean = (GUESS_ROWS * guess + earned) / (GUESS_ROWS + seen)
            y = np.where(down, np.maximum(mean, 1 - most), np.minimum(mean, most))
            for rows, value in zip(block, self.values, strict=True):
                paid = paid + rows * betting(scale * (value - y))
                seen, earned = seen + rows, earned + rows * value
        return paid

    @cached_property
    def _blocks(self) -> Sequence[Sequence[Floats]]:
        return self.blocks()

    def intervals(self, alpha: float | Floats) -> Pair:
        """An interval of every cell's mean."""
        if self.exact:
            return self.mean, self.mean
        rows = np.broadcast_to(self.rows, self.mean.shape)
        sums = self.mean * rows
        if [v.tolist() for v in self.values] == [0.0, 1.0]:
            return clopper_pearson(sums, rows, alpha)
        return bound_mean(rows, sums, np.broadcast_to(self._squares, rows.shape), alpha)


@dataclass(frozen=True, eq=False)
class Totals:
    """Cells of a numeric outcome, of which the log keeps sums, squares and the values' range.

    ``guess`` starts the running mean; without one, that of the cells before is taken. ``alone``:
    no two cells have rows in common.
    """

    rows: Floats
    sums: Floats
    squares: Floats
    reach: Pair = WHOLE
    guess: Floats | None = None
    alone: bool = False
    exact: bool = False

    @cached_property
    def mean(self) -> Floats:
        """The mean of every cell."""
        rows = np.broadcast_to(self.rows, self.sums.shape)
        return np.divide(self.sums, rows, out=np.zeros(rows.shape), where=rows > 0)

    @cached_property
    def variance(self) -> Floats:
        """The variance of every cell."""
        return _find_variance(self.rows, self.mean, self.squares)

    @cached_property
    def _running(self) -> Pair:
        rows = np.broadcast_to(self.rows, self.sums.shape)
        return running_squares(rows, self.sums, self.squares, self.guess)

    def log_evalue(self, scale: Floats, pilot: PilotValues) -> Floats:
        """Psi of every cell, by the inequality that the pilot predicts to be the smaller one."""
        if self.exact:
            return np.zeros(())
        plain = hoeffding(self.rows, scale)
        chosen = pilot.predict(self.rows, scale) < plain
        s, down = np.where(chosen, np.abs(scale), 0.0), scale < 0
        if pilot.near_zero:
            sharp = np.where(down, self._bet_on_zero(s, upper=True), self._bet_on_zero(s))
        else:
            squares, first = self._running
            low, high = self.reach
            range_ = np.where(
                down, high - np.minimum(low, first), np.maximum(high, first) - low
            ).clip(0, 1)
            sharp = s**2 * kappa(s * range_) * squares
        return np.where(chosen, np.where(self.rows > 0, sharp, 0.0), plain)

    def _bet_on_zero(self, s: Floats, *, upper: bool = False) -> Floats:
        """``sum s Y - log(1 + s Y)`` is greatest with two values."""
        n = np.maximum(self.rows, 1.0)
        mean, second, least = self.mean, self.squares / n, self.reach[0]
        if upper:
            mean, second, least = 1 - mean, 1 - 2 * mean + second, 1 - self.reach[1]
        least, value, part = find_two_values(mean, second, least)
        earned = (1 - part) * np.log1p(s * least) + part * np.log1p(s * value)
        return n * np.maximum(s * mean - earned, 0.0)

    def intervals(self, alpha: float | Floats) -> Pair:
        """An interval of every cell's mean."""
        if self.exact:
            return self.mean, self.mean
        rows = np.broadcast_to(self.rows, self.sums.shape)
        return bound_mean(rows, self.sums, self.squares, alpha, self.reach)


def _find_variance(rows: Floats, mean: Floats, squares: Floats) -> Floats:
    about = np.maximum(squares - rows * mean**2, 0.0)
    return np.where(rows > 1, about / np.maximum(rows - 1, 1.0), 0.0)


def _add(parts: Iterable[Floats]) -> Floats:
    total: Floats = np.zeros(())
    for part in parts:
        total = total + part
    return total
