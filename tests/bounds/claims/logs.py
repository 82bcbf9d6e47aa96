"""Every log of a few rows, with its probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lgamma

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """A law by its tables: each column's shares given all columns before it.

    A table has an axis for every earlier column and one for its own, so that it also says
    what holds in cells of probability zero.
    """

    names: tuple[str, ...]
    tables: tuple[Floats, ...]

    @property
    def joint(self) -> Floats:
        """The probability of every cell."""
        found = np.ones(())
        for table in self.tables:
            found = found[..., None] * table
        return found

    def table_of(self, of: str, given: Sequence[str]) -> Floats:
        """Read the law of a column given some, as an array ``of, given``.

        Exact where ``given`` holds all earlier columns; otherwise by the joint law.
        """
        place = self.names.index(of)
        if set(given) == set(self.names[:place]):
            axes = [place, *(self.names.index(name) for name in given)]
            return np.transpose(self.tables[place], axes)
        kept = [of, *given]
        gone = tuple(i for i, name in enumerate(self.names) if name not in kept)
        both = self.joint.sum(axis=gone)
        left = [name for name in self.names if name in kept]
        both = np.transpose(both, [left.index(name) for name in kept])
        total = both.sum(axis=0, keepdims=True)
        even = np.full_like(both, 1 / both.shape[0])
        found: Floats = np.divide(both, total, out=even, where=total > 0)
        return found


def draw_law(
    rng: np.random.Generator, names: str, sizes: Sequence[int], concentration: float
) -> Law:
    """Draw every table from a Dirichlet law; a small concentration makes cells near 0 and 1."""
    tables = []
    for place, size in enumerate(sizes):
        weights = rng.gamma(concentration, size=(*sizes[:place], size)) + 1e-12
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    return Law(tuple(names), tuple(tables))


def draw_hard_laws(names: str, sizes: Sequence[int], *, draws: int = 6) -> list[Law]:
    """List laws that are hard on a bound: skew, fixed rewards, empty strata, rare arms."""
    rng = np.random.default_rng(20)
    laws = [
        draw_law(rng, names, sizes, concentration)
        for concentration in (0.1, 0.3, 1.0)
        for _ in range(draws)
    ]
    for _ in range(draws):
        tables = list(draw_law(rng, names, sizes, 0.5).tables)
        reward = rng.integers(sizes[-1], size=sizes[:-1])
        tables[-1] = np.eye(sizes[-1])[reward]
        laws.append(Law(tuple(names), tuple(tables)))
    for rare in (0.0, 0.02, 0.2):
        tables = list(draw_law(rng, names, sizes, 0.5).tables)
        tables[-2] = np.zeros_like(tables[-2])
        tables[-2][..., 0], tables[-2][..., -1] = 1 - rare, rare
        laws.append(Law(tuple(names), tuple(tables)))
    tables = [np.full(table.shape, 1 / table.shape[-1]) for table in laws[0].tables]
    return [*laws, Law(tuple(names), tuple(tables))]


@dataclass(frozen=True)
class Logs:
    """All logs of a law: counts with an axis of logs before those of columns."""

    names: tuple[str, ...]
    counts: Floats
    probability: Floats

    def count(self, kept: Sequence[str]) -> Floats:
        """Count some columns, in the order given, for every log."""
        gone = tuple(i + 1 for i, name in enumerate(self.names) if name not in kept)
        left = [name for name in self.names if name in kept]
        return np.transpose(
            self.counts.sum(axis=gone), [0, *(left.index(name) + 1 for name in kept)]
        )

    def mean(self, values: Floats) -> float:
        """The mean of a number that each log has."""
        return float(self.probability @ values)


def list_counts(cells: int, rows: int) -> NDArray[np.int64]:
    """List every way to lay rows into cells."""
    bars = np.array(list(combinations(range(rows + cells - 1), cells - 1)), dtype=np.int64)
    bars = bars.reshape(-1, cells - 1)
    edges = np.concatenate(
        [np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), rows + cells - 1)], axis=1
    )
    return np.diff(edges, axis=1) - 1


def list_logs(law: Law, rows: int) -> Logs:
    """List every log of so many rows that the law can produce."""
    joint = law.joint
    seen = np.flatnonzero(joint.ravel() > 1e-11)
    laid = list_counts(len(seen), rows)
    factorial = np.array([lgamma(k + 1) for k in range(rows + 1)])
    chance = np.exp(
        factorial[rows] - factorial[laid].sum(axis=1) + laid @ np.log(joint.ravel()[seen])
    )
    counts = np.zeros((len(laid), joint.size))
    counts[:, seen] = laid
    return Logs(law.names, counts.reshape(-1, *joint.shape), chance)


def pair_logs(first: Logs, second: Logs) -> tuple[Logs, Logs]:
    """Pair every log of one source with every log of another that is independent of it."""
    chance = np.outer(first.probability, second.probability).ravel()
    left = np.repeat(first.counts, len(second.counts), axis=0)
    right = np.tile(second.counts, (len(first.counts), *[1] * (second.counts.ndim - 1)))
    return Logs(first.names, left, chance), Logs(second.names, right, chance)
