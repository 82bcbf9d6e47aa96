r"""From predictions to means: augmented inverse propensity weighting, and how far it errs.

In a context, with ``m`` the predicted mean of an arm and ``w`` the weight of its rows, the mean
reward of the arm is estimated by

.. math:: \frac1N \sum_{i} m(z_i) + \frac1n \sum_{i: x_i = x} w(z_i) (y_i - m(z_i))

The first mean is over the population's rows, those of the log or of an external table, the
second over the log's. It errs by the product of the errors of ``m`` and ``w`` and by chance, as
long as no row was seen by the models that predict for it. Rows whose weight is above a limit
are left out of both means: there the reward may be anything, and the ends lie apart by the
share of such rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.approximate_rules import MOST_CLAIMS
from boundit.bounds.approximate.critical import LEAST_FREEDOM
from boundit.bounds.approximate.rule_end import LEAST_REWARDS
from boundit.bounds.models.predict import RowPredictions
from boundit.bounds.models.rows import ModelRows
from boundit.counts.named_array import Floats


@dataclass(frozen=True, eq=False)
class ArmScores:
    """Estimates for every arm (a line each) in every context.

    ``lower`` and ``upper`` differ by ``unlikely``, the share of rows that hardly ever get the
    arm. ``predicted`` is the part of the lower one that models predict, the rest corrects it.
    ``variance`` is that of lower and upper estimates, ``freedom`` how many rows or clusters
    move each of them; ``covariance`` is of all lower ones, then of all upper ones turned round,
    and None where they are many. ``rows``, ``successes`` and ``failures`` are
    those that count behind an estimate (Kish).
    """

    lower: Floats
    upper: Floats
    predicted: Floats
    unlikely: Floats
    rows: Floats
    successes: Floats
    failures: Floats
    variance: Floats
    freedom: Floats
    covariance: Floats | None

    @property
    def is_trusted(self) -> NDArray[np.bool_]:
        """Where enough rewards stand behind an estimate for the normal law to be near."""
        enough = np.minimum(self.successes, self.failures) >= LEAST_REWARDS
        return np.asarray(enough & (self.freedom.min(axis=0) >= LEAST_FREEDOM))


def score_arms(
    log: ModelRows,
    base: ModelRows,
    predicted: RowPredictions,
    predicted_base: RowPredictions,
    n_contexts: int,
    largest: float,
) -> ArmScores:
    """Estimate the mean reward of every arm in every context, and how far chance moves it.

    ``base`` are the rows that stand for the population: an external table, or the log itself.
    Rows of a weight above ``largest`` are left out.
    """
    shape = (len(predicted.mean), n_contexts)
    numbers = {name: np.zeros(shape) for name in _NUMBERS}
    # Where a context has no rows nothing is known.
    numbers["upper"][:] = numbers["unlikely"][:] = 1.0
    moves = _Moves(shape, [log] if base is log else [log, base])
    for c in range(n_contexts):
        mine, theirs = log.context == c, base.context == c
        if not mine.any() or not theirs.any():
            continue
        cells = [
            _Cell.of(log, predicted, predicted_base, mine, theirs, x, largest)
            for x in range(shape[0])
        ]
        for x, cell in enumerate(cells):
            for name, number in cell.summarize():
                numbers[name][x, c] = number
        moves.add(c, cells, [mine, theirs])
    moves.add_clusters()
    return ArmScores(
        **numbers,
        variance=moves.variance.reshape(2, *shape),
        freedom=moves.freedom.reshape(2, *shape),
        covariance=moves.covariance,
    )


_NUMBERS = ("lower", "upper", "predicted", "unlikely", "rows", "successes", "failures")


@dataclass(frozen=True, eq=False)
class _Cell:
    """One arm in one context: what each row adds to the two means.

    ``base`` are predictions and ``left_out`` the rows that are none of them, of the population;
    ``residual`` are weighted errors of the log's rows, ``weight`` and ``reward`` those of the
    rows that got the arm.
    """

    base: Floats
    left_out: Floats
    residual: Floats
    weight: Floats
    reward: Floats

    @classmethod
    def of(
        cls,
        log: ModelRows,
        predicted: RowPredictions,
        predicted_base: RowPredictions,
        mine: NDArray[np.bool_],
        theirs: NDArray[np.bool_],
        x: int,
        largest: float,
    ) -> "_Cell":
        """Weigh the rows of one arm in one context."""
        kept = predicted_base.weight[x, theirs] <= largest
        weight = predicted.weight[x, mine]
        taken = (log.arm[mine] == x) & (weight <= largest)
        weight = np.where(taken, weight, 0.0)
        reward = log.reward[mine]
        return cls(
            np.where(kept, predicted_base.mean[x, theirs], 0.0),
            (~kept).astype(np.float64),
            weight * (reward - predicted.mean[x, mine]),
            weight[taken],
            reward[taken],
        )

    def summarize(self) -> Iterator[tuple[str, float]]:
        """Give the numbers of ``ArmScores`` for this arm and context."""
        lower = self.base.mean() + self.residual.mean()
        unlikely = self.left_out.mean()
        yield "lower", lower
        yield "upper", lower + unlikely
        yield "predicted", self.base.mean()
        yield "unlikely", unlikely
        kinds = {
            "rows": np.ones_like(self.reward),
            "successes": self.reward,
            "failures": 1 - self.reward,
        }
        for name, kind in kinds.items():
            squares = float((self.weight**2 * kind).sum())
            yield name, float((self.weight * kind).sum()) ** 2 / squares if squares else 0.0


class _Moves:
    """How far rows, or clusters of rows, move all lower estimates, then all upper ones."""

    def __init__(self, shape: tuple[int, int], tables: Sequence[ModelRows]) -> None:
        self.shape, self.tables = shape, tables
        n_claims = 2 * shape[0] * shape[1]
        self.variance, self.freedom = np.zeros(n_claims), np.full(n_claims, np.inf)
        few = n_claims <= MOST_CLAIMS
        self.covariance = np.zeros((n_claims, n_claims)) if few else None
        self.clusters = [
            None if of.cluster is None else np.zeros((n_claims, int(of.cluster.max()) + 1))
            for of in tables
        ]

    def add(self, c: int, cells: Sequence[_Cell], where: Sequence[NDArray[np.bool_]]) -> None:
        """Add what the rows of a context move: those of the log, and those of another table."""
        base = np.stack([cell.base for cell in cells])
        left_out = np.stack([cell.left_out for cell in cells])
        residual = np.stack([cell.residual for cell in cells])
        values = [np.vstack([residual, -residual]), np.vstack([base, -(base + left_out)])]
        if len(self.tables) == 1:
            values = [values[0] + values[1]]
        n_arms, n_contexts = self.shape
        claims = np.arange(2 * n_arms) * n_contexts + c
        for number, (table, of) in enumerate(zip(self.tables, values, strict=True)):
            moved = (of - of.mean(axis=1, keepdims=True)) / of.shape[1]
            sums = self.clusters[number]
            if sums is None:
                self._measure(moved, claims)
                continue
            assert table.cluster is not None
            units = table.cluster[where[number]]
            for claim, line in zip(claims, moved, strict=True):
                sums[claim] += np.bincount(units, line, sums.shape[1])

    def add_clusters(self) -> None:
        """Add what clusters move, once the rows of all contexts are added up in them."""
        for sums in self.clusters:
            if sums is not None:
                self._measure(sums, np.arange(len(sums)))

    def _measure(self, moved: Floats, claims: NDArray[np.intp]) -> None:
        """Measure how far independent units move some estimates: one fewer than it seems."""
        moved = moved * np.sqrt(moved.shape[1] / max(moved.shape[1] - 1, 1))
        squares = moved**2
        variance, fourth = squares.sum(axis=1), (squares**2).sum(axis=1)
        self.variance[claims] += variance
        freedom = np.where(fourth > 0, variance**2 / np.where(fourth > 0, fourth, 1), np.inf)
        self.freedom[claims] = np.minimum(self.freedom[claims], freedom)
        if self.covariance is not None:
            self.covariance[np.ix_(claims, claims)] += moved @ moved.T
