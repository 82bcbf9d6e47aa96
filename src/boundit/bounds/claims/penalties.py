r"""What a claim pays for chance: penalties of an exponent whose mean is at most one.

For independent rows with values ``U`` of mean ``m`` in a range of length ``r``, and a scale
``s > 0`` fixed before they are seen,

.. math:: E \exp\Big(\sum_i s (U_i - m) - \Psi\Big) \le 1

holds for each of these :math:`\Psi`:

- *bets* ``h(s (U_i - y_i))`` with ``h(u) = u - log(1 + u)``, where the guess ``y_i`` was made
  before ``U_i`` was seen and ``s (y_i - least value) < 1``;
- *range*, Hoeffding's ``s² r² / 8`` for each row;
- *squares* ``psi(s r) Q / r²`` with ``psi(s) = -log(1 - s) - s`` and ``s r < 1``, where ``Q``
  is the sum of ``(U_i - running mean)²``, averaged over all orders of the rows.

A geometric mean of such factors is one again, so a cell that several branches of a sum read may
be shared out: branch ``a`` pays ``q_a`` times the penalty at ``s_a / q_a``, where the shares
``q_a`` add up to one at most.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import final, overload

import numpy as np
from numpy.random import Generator

from boundit.counts.named_array import Floats

MOST_DRAWN = 10**9
"""How many rows of a cell can be drawn in blocks; of more the first guess must do."""
CAP = 0.9
"""How near a bet may come to losing everything."""
GUESS_ROWS = 4.0
"""How many rows the pilot's guess is worth."""
_NEAR = 0.8  # bets are planned to stay this far from losing everything
_FEW = 64  # up to so many terms a harmonic number is added up
_EULER = 0.5772156649015329


def bet(u: Floats) -> Floats:
    """Compute what a bet costs: ``u - log(1 + u)``, about half the square of ``u``."""
    return u - np.log1p(u)


def weigh_squares(s: Floats) -> Floats:
    """Compute the factor of squares, ``-log(1 - s) - s``; infinite from 1 on."""
    with np.errstate(divide="ignore"):
        return np.where(s < 1, -np.log1p(-np.minimum(s, 1.0)) - s, np.inf)


def draw_blocks(counts: Floats, rng: Generator) -> list[Floats]:
    """Draw the rows of every cell in a random order, in blocks that double: 1, 2, 4 and so on.

    ``counts`` are rows by cell and, on the last axis, by value. The order is drawn from
    ``rng``, which must know nothing of the rows.
    """
    left = np.rint(counts).astype(np.int64)
    total = left.sum(axis=-1)
    few = counts.sum(axis=-1) < MOST_DRAWN
    blocks, size = list[Floats](), 1
    while (total > 0).any():
        wanted = np.where(few, np.minimum(total, size), total)
        block = _draw_some(left, total, wanted, rng)
        blocks.append(block.astype(np.float64))
        left, total, size = left - block, total - wanted, size * 2
    return blocks


@final
class LateBlocks(Sequence[tuple[Floats, ...]]):
    """Blocks of rows that are drawn when first read: claims that make no bets need none."""

    def __init__(self, draw: Callable[[], Iterable[tuple[Floats, ...]]]) -> None:
        self._draw = draw

    @cached_property
    def _drawn(self) -> tuple[tuple[Floats, ...], ...]:
        """The blocks, each with the rows at each value."""
        return tuple(self._draw())

    def __len__(self) -> int:
        return len(self._drawn)

    @overload
    def __getitem__(self, index: int) -> tuple[Floats, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Floats, ...], ...]: ...

    def __getitem__(
        self, index: int | slice
    ) -> tuple[Floats, ...] | tuple[tuple[Floats, ...], ...]:
        return self._drawn[index]


def _draw_some(
    left: np.ndarray, total: np.ndarray, wanted: np.ndarray, rng: Generator
) -> np.ndarray:
    """Draw ``wanted`` of a cell's rows without replacement, value by value."""
    block = np.zeros_like(left)
    missing, others = wanted.copy(), total.copy()
    for value in range(left.shape[-1] - 1):
        have = left[..., value]
        others = others - have
        some = missing < have + others  # else all that is left is drawn
        drawn = have
        if some.any():
            of = some.astype(np.int64)
            by_chance = rng.hypergeometric(of * have, of * others, of * missing)
            drawn = np.where(some, by_chance, have)
        block[..., value] = drawn
        missing = missing - drawn
    block[..., -1] = missing
    return block


def pay_bets(
    blocks: Sequence[Sequence[Floats]],
    values: Sequence[Floats],
    scale: Floats,
    guess: Floats,
) -> Floats:
    """Pay for rows in [0, 1] by bets: the pilot's guess first, then the running mean.

    Each of the ``blocks`` has the rows at each of the ``values``. A negative ``scale`` is for
    deviations downwards.
    """
    room = CAP / np.maximum(np.abs(scale), 1e-300)
    down = scale < 0
    paid = np.zeros(np.broadcast_shapes(scale.shape, guess.shape))
    seen, earned = np.zeros(()), np.zeros(())
    for block in blocks:
        mean = (GUESS_ROWS * guess + earned) / (GUESS_ROWS + seen)
        y = np.where(down, np.maximum(mean, 1 - room), np.minimum(mean, room))
        for rows, value in zip(block, values, strict=True):
            paid = paid + rows * bet(scale * (value - y))
            seen, earned = seen + rows, earned + rows * value
    return paid


def predict_bets(
    rows: Floats,
    shares: Sequence[Floats],
    values: Sequence[Floats],
    mean: Floats,
    variance: Floats,
    scale: Floats,
) -> Floats:
    """Predict what bets on rows in [0, 1] will cost, from guessed shares of their values.

    ``mean`` and ``variance`` are those of the shares. Infinite where a bet could come too near
    to losing all.
    """
    safe = np.where(scale < 0, scale * (1 - mean), -scale * mean) > -_NEAR
    s = np.where(safe, scale, 0.0)
    each = np.zeros(())
    for share, value in zip(shares, values, strict=True):
        each = each + share * bet(s * (value - mean))
    learning = 0.3 * s**2 * variance / np.maximum(rows, 2.0)
    return np.where(safe, rows * (each + learning), np.inf)


def pay_range(rows: Floats, scale: Floats, length: float = 1.0) -> Floats:
    """Pay for rows by the range of their values alone, by Hoeffding's lemma."""
    return rows * (scale * length) ** 2 / 8


def pay_squares(squares: Floats, scale: Floats) -> Floats:
    """Pay for numeric rows in [0, 1] by their squares; infinite where the scale reaches 1.

    ``squares`` are what ``spread_squares`` found.
    """
    with np.errstate(invalid="ignore"):
        return np.where(squares > 0, weigh_squares(np.abs(scale)) * squares, 0.0)


def spread_squares(
    rows: Floats, sums: Floats, squares: Floats, guess: Floats | None = None
) -> Floats:
    """Compute each cell's sum of ``(Y - running mean)²``, averaged over all orders of its rows.

    The first guess in a cell is ``guess`` or, without one, the mean of all cells before it, 1/2
    at the very start; they must then have other rows. The result is a function of the number of
    rows, their sum and their sum of squares.

    >>> float(spread_squares(np.array([1.0]), np.array([1.0]), np.array([1.0]))[0])
    0.25
    """
    shape = rows.shape
    n, one, two = (np.asarray(a, dtype=np.float64).ravel() for a in (rows, sums, squares))
    if guess is None:
        before_n, before_sum = np.cumsum(n) - n, np.cumsum(one) - one
        first = (before_sum + 0.5) / (before_n + 1.0)
    else:
        first = np.broadcast_to(guess, shape).ravel()
    h1, h2 = _add_inverses(n)
    m = np.maximum(n, 1.0)
    mean, mean_square = one / m, two / m
    pairs = np.where(n > 1, (one**2 - two) / (m * np.maximum(n - 1, 1)), 0.0)
    # E (Y_t - M_t)² = E Y_t² - 2 E Y_t M_t + E M_t², M_t the mean of first guess and t-1 rows.
    crossed = first * mean * h1 + pairs * (n - h1)
    running = (
        first**2 * h2
        + 2 * first * mean * (h1 - h2)
        + mean_square * (h1 - h2)
        + pairs * (n - 3 * h1 + 2 * h2)
    )
    found = n * mean_square - 2 * crossed + running
    return np.where(n > 0, np.maximum(found, 0.0), 0.0).reshape(shape)


def _add_inverses(n: Floats) -> tuple[Floats, Floats]:
    """Add up ``1/t`` and ``1/t²`` for t from 1 to ``n``, for large ``n`` by their expansions."""
    t = np.arange(1, _FEW + 1)
    first = np.concatenate([[0.0], np.cumsum(1 / t)])
    second = np.concatenate([[0.0], np.cumsum(1 / t**2)])
    few = np.minimum(n, _FEW).astype(np.int64)
    big = np.maximum(n, 1.0)
    h1 = np.log(big) + _EULER + 1 / (2 * big) - 1 / (12 * big**2)
    h2 = np.pi**2 / 6 - 1 / big + 1 / (2 * big**2) - 1 / (6 * big**3)
    return np.where(n <= _FEW, first[few], h1), np.where(n <= _FEW, second[few], h2)
