r"""Augmented inverse probability weighting with cross-fitting: means of every arm, and their error.

In a context, with ``m`` the predicted mean of an arm and ``w`` the weight of its rows (one over
the propensity, times how much commoner such rows are in the population than in the log),

.. math:: \hat\mu = \frac1N \sum_{i} m(z_i) + \frac1n \sum_{i: x_i = x} w(z_i) (y_i - m(z_i))

The first mean is over the population's rows, those of the log or of an external table, the second
over the log's. It errs by the product of the errors of ``m`` and ``w`` and by sampling
(Chernozhukov et al. 2018), as long as no row is predicted by models that were fitted on it. Rows
with a weight above a limit are left out of both means: there the outcome may be anything, so that
the endpoints lie apart by the share of such rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.inference.approximate import MAX_ENDPOINTS, Side, Support
from boundit.bounds.models.estimators import Learner
from boundit.bounds.models.features import ModelRows
from boundit.core.long_work import Progress
from boundit.counts.levels import Codes
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Learners:
    """What predicts outcomes, arms and, with an external table, which table a row is of."""

    outcome: Learner
    arm: Learner
    external: Learner | None = None

    def describe(self, rows: int, folds: int, least: float) -> str:
        """Say which models were fitted, on how many rows, and how rows were split."""
        parts = [f"reward by {self.outcome.name}", f"arm by {self.arm.name}"]
        if self.external is not None:
            parts.append(f"external table by {self.external.name}")
        return (
            f"{', '.join(parts)}; {rows:,} rows in {folds} folds, each predicted by models of "
            f"the others; no propensity below {least:g} is used"
        )


def assign_folds(
    strata: Codes, clusters: Codes | None, n_folds: int, stream: np.random.Generator
) -> NDArray[np.intp]:
    """Draw a fold for every row: equally many rows of each stratum, and clusters whole.

    Unlike those of scikit-learn, folds may outnumber rows or clusters.

    >>> drawn = assign_folds(np.array([0, 0, 1, 1]), None, 2, np.random.default_rng(0))
    >>> sorted(drawn[:2].tolist()), sorted(drawn[2:].tolist())
    ([0, 1], [0, 1])
    """
    if clusters is not None:
        names, places = np.unique(clusters, return_inverse=True)
        return np.asarray((stream.permutation(len(names)) % n_folds)[places])
    order = stream.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    folds = np.empty(len(strata), dtype=np.intp)
    folds[order] = np.arange(len(strata)) % n_folds
    return folds


def predict_rows(
    tables: Sequence[ModelRows],
    n_arms: int,
    learners: Learners,
    n_folds: int,
    seed: int,
    workspace: Workspace,
    progress: Progress,
) -> list[Floats]:
    """Predict means and weights of every arm for the rows of the log and of an external table.

    For each table an array of means, then weights, by arm and row.
    """
    stream, (log, *_) = np.random.default_rng(seed), tables
    folds = [
        assign_folds(log.arm if table is log else table.context, table.cluster, n_folds, stream)
        for table in tables
    ]
    found = [np.empty((2, n_arms, len(table))) for table in tables]
    for fold in range(n_folds):
        workspace.require_time()
        progress("fit models", fold, n_folds)
        held = [of == fold for of in folds]
        if not any(mask.any() for mask in held):
            continue  # fewer clusters than folds
        at = np.vstack([table.features[mask] for table, mask in zip(tables, held, strict=True)])
        features, arms, outcomes = (of[~held[0]] for of in (log.features, log.arm, log.outcome))
        shares = learners.arm.predict_classes(features, arms, n_arms, at).T
        means = [
            learners.outcome.predict_means(features[arms == x], outcomes[arms == x], at)
            for x in range(n_arms)
        ]
        commoner = _compare_tables(tables, held, learners.external, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(shares > 0, commoner / shares, np.inf)
        parts = np.split(
            np.stack([means, weights]), np.cumsum([mask.sum() for mask in held])[:-1], axis=2
        )
        for numbers, mask, part in zip(found, held, parts, strict=True):
            numbers[:, :, mask] = part
    return found


def _compare_tables(
    tables: Sequence[ModelRows], held: Sequence[Mask], learner: Learner | None, at: Floats
) -> Floats:
    """Predict how much commoner such rows are in the population than in the log.

    Within each context: the odds that a row is of the external table, by those of the context.
    """
    if learner is None:
        return np.ones(len(at))
    pairs = list(zip(tables, held, strict=True))
    features = [table.features[~mask] for table, mask in pairs]
    classes = np.repeat([0, 1], [len(part) for part in features])
    shares = learner.predict_classes(np.vstack(features), classes, 2, at)
    size = 1 + max(int(table.context.max(initial=0)) for table in tables)
    n_log, n_other = (np.bincount(t.context[~mask], minlength=size) for t, mask in pairs)
    here = np.concatenate([table.context[mask] for table, mask in pairs])
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = shares[:, 1] / shares[:, 0] * (n_log / n_other)[here]
    return np.where(np.isfinite(odds), odds, np.inf)


@dataclass(frozen=True, eq=False)
class Scores:
    """Both sides of all rows: a lower endpoint of successes, and one of failures.

    They differ by ``unlikely``, the share of rows that hardly ever get the arm. ``predicted`` is
    the part of the lower one that models predict; the rest corrects it. ``covariance`` is of all
    endpoints, lower ones first, and None where they are many.
    """

    lower: Side
    upper: Side
    predicted: Floats
    unlikely: Floats
    covariance: Floats | None


def score_arms(
    tables: Sequence[ModelRows],
    predicted: Sequence[Floats],
    axes: Sequence[str],
    shape: tuple[int, ...],
    largest: float,
) -> Scores:
    """Estimate the mean of every arm in every context, and the influence of every row on it.

    ``shape`` are the levels of the ``axes``, treatments first. Rows of a weight above
    ``largest`` are left out.
    """
    log, base = tables[0], tables[-1]
    n_arms = predicted[0].shape[1]
    n_contexts = int(np.prod(shape)) // n_arms
    lower, unlikely, mean = np.zeros((3, n_arms, n_contexts))
    unlikely[:] = 1.0  # where a context has no rows, nothing is known
    kish = np.zeros((3, n_arms, n_contexts))
    errors = _Errors(n_arms, n_contexts, tables)
    for c in range(n_contexts):
        mine, theirs = log.context == c, base.context == c
        if not mine.any() or not theirs.any():
            continue
        kept = predicted[-1][1][:, theirs] <= largest
        first = np.where(kept, predicted[-1][0][:, theirs], 0.0)
        weight, outcome = predicted[0][1][:, mine], log.outcome[mine]
        taken = (log.arm[mine] == np.arange(n_arms)[:, None]) & (weight <= largest)
        weight = np.where(taken, weight, 0.0)
        second = weight * (outcome - predicted[0][0][:, mine])
        mean[:, c], unlikely[:, c] = first.mean(axis=1), (~kept).mean(axis=1)
        lower[:, c] = mean[:, c] + second.mean(axis=1)
        for i, kind in enumerate((np.ones_like(outcome), 1 - outcome, outcome)):
            sums, squares = (weight * kind).sum(axis=1), (weight**2 * kind).sum(axis=1)
            kish[i, :, c] = np.divide(sums**2, squares, out=np.zeros(n_arms), where=squares > 0)
        # A lower endpoint is of successes, an upper one of failures, which all left out may be.
        parts = [np.vstack([second, -second]), np.vstack([first, -(first + ~kept)])]
        errors.add(c, parts if len(tables) > 1 else [parts[0] + parts[1]], [mine, theirs])
    errors.add_clusters()
    rows, failures, successes = kish.reshape(3, *shape)
    # One more of as many effective rows, at the limit of the range of a numeric outcome.
    hidden = np.zeros((n_arms, n_contexts))
    if not np.isin(log.outcome, (0.0, 1.0)).all():
        hidden = np.maximum(lower, 1 - lower).clip(0, 1) / np.maximum(kish[0], 1.0)

    def make_side(estimates: Floats, i: int) -> Side:
        value, variance, freedom, tails, far = (
            of.reshape(shape)
            for of in (
                estimates,
                errors.variance[i],
                errors.freedom[i],
                errors.tails[i],
                hidden,
            )
        )
        support = Support(rows, failures, successes, tails, far)
        return Side(tuple(axes), len(axes), value, variance, freedom, support, ())

    return Scores(
        make_side(lower, 0),
        make_side(1 - lower - unlikely, 1),
        mean.reshape(shape),
        unlikely.reshape(shape),
        errors.covariance,
    )


class _Errors:
    """How far rows, or clusters of rows, move all lower endpoints, then all upper ones."""

    def __init__(self, n_arms: int, n_contexts: int, tables: Sequence[ModelRows]) -> None:
        self.n_arms, self.n_contexts, self.tables = n_arms, n_contexts, tables
        n = 2 * n_arms * n_contexts
        self.variance, self.tails = np.zeros((2, 2, n // 2))
        self.freedom = np.full((2, n // 2), np.inf)
        self.covariance = np.zeros((n, n)) if n <= MAX_ENDPOINTS else None
        self.sums = [
            None if of.cluster is None else np.zeros((n, int(of.cluster.max(initial=0)) + 1))
            for of in tables
        ]

    def add(self, c: int, parts: Sequence[Floats], where: Sequence[Mask]) -> None:
        """Add how far the rows of a context move its endpoints, table by table."""
        places = np.arange(2 * self.n_arms) * self.n_contexts + c
        for table, of, mask, sums in zip(self.tables, parts, where, self.sums, strict=False):
            moved = (of - of.mean(axis=1, keepdims=True)) / of.shape[1]
            if sums is None or table.cluster is None:
                self._measure(moved, places)
                continue
            for place, line in zip(places, moved, strict=True):
                sums[place] += np.bincount(table.cluster[mask], line, sums.shape[1])

    def add_clusters(self) -> None:
        """Add how far clusters move endpoints, once the rows of all contexts are added up."""
        for sums in self.sums:
            if sums is not None:
                self._measure(sums, np.arange(len(sums)))

    def _measure(self, moved: Floats, places: NDArray[np.intp]) -> None:
        moved = moved * np.sqrt(moved.shape[1] / max(moved.shape[1] - 1, 1))
        variance, fourth = (moved**2).sum(axis=1), (moved**4).sum(axis=1)
        self.variance.reshape(-1)[places] += variance
        self.tails.reshape(-1)[places] += fourth
        freedom = np.divide(
            variance**2, fourth, out=np.full(len(fourth), np.inf), where=fourth > 0
        )
        least = self.freedom.reshape(-1)
        least[places] = np.minimum(least[places], freedom)
        if self.covariance is not None:
            self.covariance[np.ix_(places, places)] += moved @ moved.T
