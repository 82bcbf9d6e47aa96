"""Predictions for every row by models that never saw it, nor any row of its cluster."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.models.estimators import Learner
from boundit.bounds.models.folds import assign_folds
from boundit.bounds.models.rows import ModelRows
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.terms.long_work import Progress

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Learners:
    """What predicts rewards, arms and, with an external table, which table a row is of."""

    reward: Learner
    arm: Learner
    external: Learner | None = None

    def describe(self, rows: int, folds: int, least: float) -> str:
        """Say which models were fitted, on how many rows, and how rows were shared out."""
        parts = [f"reward by {self.reward.name}", f"arm by {self.arm.name}"]
        if self.external is not None:
            parts.append(f"external table by {self.external.name}")
        return (
            f"{', '.join(parts)}; {rows:,} rows in {folds} folds, each predicted by models of "
            f"the others; no propensity below {least:g} is used"
        )


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """What models predict for the rows of one table, a line for each arm.

    ``mean`` is the mean reward of the arm, ``weight`` how much a row of the arm stands for: one
    over its propensity, times how much commoner such rows are in the population than in the
    log.
    """

    mean: Floats
    weight: Floats


def predict_rows(
    log: ModelRows,
    external: ModelRows | None,
    n_arms: int,
    learners: Learners,
    n_folds: int,
    seed: int,
    workspace: Workspace,
    progress: Progress,
) -> tuple[RowPredictions, RowPredictions]:
    """Predict for the rows of the log, and for those the mean is taken of, fold after fold.

    These are the rows of the ``external`` table, or else those of the log once more.
    """
    stream = np.random.default_rng(seed)
    tables = [log] if external is None else [log, external]
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
        parts = _predict_fold(tables, held, n_arms, learners)
        for numbers, mask, part in zip(found, held, parts, strict=True):
            numbers[:, :, mask] = part
    predictions = [RowPredictions(mean, weight) for mean, weight in found]
    return predictions[0], predictions[-1]


def _predict_fold(
    tables: list[ModelRows], held: list[Mask], n_arms: int, learners: Learners
) -> list[Floats]:
    """Fit on the rows that are not held back, and predict for those that are.

    For each table comes an array of means and weights, for every arm and row.
    """
    log, train = tables[0], ~held[0]
    at = np.vstack([table.features[mask] for table, mask in zip(tables, held, strict=True)])
    features, arms, rewards = log.features[train], log.arm[train], log.reward[train]
    chances = learners.arm.predict_classes(features, arms, n_arms, at).T
    means = np.stack(
        [
            learners.reward.predict_means(features[arms == x], rewards[arms == x], at)
            for x in range(n_arms)
        ]
    )
    commoner = _compare_tables(tables, held, learners, at)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(chances > 0, commoner / chances, np.inf)
    both = np.stack([means, weights])
    return np.split(both, np.cumsum([mask.sum() for mask in held])[:-1], axis=2)


def _compare_tables(
    tables: list[ModelRows], held: list[Mask], learners: Learners, at: Floats
) -> Floats:
    """Predict how much commoner such rows are in the population than in the log.

    Within each context: the odds that a row is of the external table, by those of the context.
    Without a table the log is the population.
    """
    if learners.external is None:
        return np.ones(len(at))
    features = [table.features[~mask] for table, mask in zip(tables, held, strict=True)]
    classes = np.repeat([0, 1], [len(part) for part in features])
    chances = learners.external.predict_classes(np.vstack(features), classes, 2, at)
    where = [table.context[~mask] for table, mask in zip(tables, held, strict=True)]
    size = 1 + max(int(table.context.max(initial=0)) for table in tables)
    n_log, n_other = (np.bincount(part, minlength=size) for part in where)
    here = np.concatenate(
        [table.context[mask] for table, mask in zip(tables, held, strict=True)]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = chances[:, 1] / chances[:, 0] * (n_log / n_other)[here]
    return np.where(np.isfinite(odds), odds, np.inf)
