from typing import Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from boundit.bounds.models.estimators import ARM, EXTERNAL, REWARD, Learner
from boundit.bounds.models.predict import Learners, RowPredictions, predict_rows
from boundit.bounds.models.rows import ModelRows
from boundit.counts.formulas.workspace import Workspace
from boundit.terms.errors import OutOfTime
from boundit.terms.long_work import TimeBudget, say_nothing
from tests.bounds.models.examples import Array, CellMeans

ROOM = Workspace(10**9)


class Spy(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts 1 for a row whose first feature it was fitted on, and else 0."""

    def fit(self, features: Array, target: NDArray[np.intp]) -> Self:
        self.classes_ = np.unique(target)
        self.seen_ = set(features[:, 0].tolist())
        return self

    def predict_proba(self, features: Array) -> Array:
        own = np.array([row in self.seen_ for row in features[:, 0].tolist()], dtype=float)
        return np.column_stack([1 - own, own])


def make_learners(estimator: object, *, external: bool = False) -> Learners:
    reward, arm, other = (
        Learner(role, estimator, "linear", chances=True) for role in (REWARD, ARM, EXTERNAL)
    )
    return Learners(reward, arm, other if external else None)


def draw_rows(n: int, *, clusters: int = 0, first: int = 0) -> ModelRows:
    rng = np.random.default_rng(n + first)
    cluster = rng.integers(0, clusters, n) if clusters else None
    number = np.arange(first, first + n) if cluster is None else cluster
    return ModelRows(
        number[:, None].astype(float),
        np.zeros(n, dtype=np.intp),
        rng.integers(0, 2, n),
        rng.integers(0, 2, n).astype(float),
        cluster,
    )


def predict(
    log: ModelRows, external: ModelRows | None, learners: Learners, seed: int = 0
) -> tuple[RowPredictions, RowPredictions]:
    return predict_rows(log, external, 2, learners, 5, seed, ROOM, say_nothing)


@pytest.mark.parametrize("clusters", [0, 30])
@pytest.mark.parametrize("external", [False, True])
def test_no_row_is_predicted_by_a_model_that_saw_it_or_its_cluster(
    clusters: int, external: bool
) -> None:
    log = draw_rows(300, clusters=clusters)
    other = draw_rows(200, first=1000) if external else None
    own, base = predict(log, other, make_learners(Spy(), external=external))

    for found in (own, base):
        assert (found.mean == 0).all()  # the spy predicts 1 of what it saw


def test_a_spy_that_is_asked_for_its_own_rows_would_be_noticed() -> None:
    log = draw_rows(100)
    learner = Learner(REWARD, Spy(), "linear", chances=True)

    assert (learner.predict_means(log.features, log.reward, log.features) == 1).all()


def test_saturated_models_predict_the_cells_of_the_other_folds() -> None:
    """By loops over rows, with the folds found from who changes a prediction."""
    rng = np.random.default_rng(3)
    z, n = rng.integers(0, 3, 500), 500
    log = ModelRows(
        z[:, None].astype(float),
        np.zeros(n, dtype=np.intp),
        rng.integers(0, 2, n),
        rng.integers(0, 2, n).astype(float),
    )
    own, _ = predict(log, None, make_learners(CellMeans()))
    for x in range(2):
        for level in range(3):
            values = np.unique(own.mean[x, z == level].round(12))
            assert len(values) <= 5  # one for each fold
            here = (z == level) & (log.arm == x)
            # Leaving a fold out moves a mean no further than its rows can.
            gap = np.abs(values - log.reward[here].mean()).max()
            assert gap <= 1 / 5 / (4 / 5) + 1e-9
            chance = (log.arm[z == level] == x).mean()
            assert 1 / own.weight[x, z == level] == pytest.approx(chance, abs=0.1)


def test_rows_that_are_commoner_in_the_population_weigh_more() -> None:
    rng = np.random.default_rng(1)
    n, z = 4000, (np.arange(4000) % 4 == 0).astype(float)
    log = ModelRows(
        z[:, None],
        np.zeros(n, dtype=np.intp),
        rng.integers(0, 2, n),
        rng.integers(0, 2, n).astype(float),
    )
    half = (np.arange(2000) % 2 == 0).astype(float)
    none = np.zeros(0, dtype=np.intp)
    other = ModelRows(half[:, None], np.zeros(2000, dtype=np.intp), none, np.zeros(0))
    own, base = predict(log, other, make_learners(CellMeans(), external=True))

    for rows, found in ((log, own), (other, base)):
        rare = rows.features[:, 0] == 1
        assert found.weight[:, rare] == pytest.approx(2 * 2.0, rel=0.1)
        assert found.weight[:, ~rare] == pytest.approx(2 * 2 / 3, rel=0.1)


def test_predictions_are_the_same_under_one_seed_and_others_under_another() -> None:
    rng = np.random.default_rng(0)
    log = ModelRows(
        rng.integers(0, 3, (200, 1)).astype(float),
        np.zeros(200, dtype=np.intp),
        rng.integers(0, 2, 200),
        rng.integers(0, 2, 200).astype(float),
    )
    first, second, third = (
        predict(log, None, make_learners(CellMeans()), seed)[0].mean for seed in (1, 1, 2)
    )

    assert (first == second).all()
    assert (first != third).any()


def test_an_arm_that_was_never_chosen_weighs_without_limit() -> None:
    log = draw_rows(100)
    alone = ModelRows(log.features, log.context, np.zeros_like(log.arm), log.reward)
    own, _ = predict(alone, None, make_learners(CellMeans()))

    assert np.isinf(own.weight[1]).all()
    assert (own.weight[0] == 1).all()


def test_no_fold_is_begun_when_time_is_over() -> None:
    log, late = draw_rows(100), Workspace(10**9, TimeBudget(0.0))
    with pytest.raises(OutOfTime):
        predict_rows(log, None, 2, make_learners(CellMeans()), 5, 0, late, say_nothing)


def test_the_words_name_every_model() -> None:
    said = make_learners(CellMeans(), external=True).describe(1_000, 5, 0.01)

    assert said.startswith("reward by CellMeans, arm by CellMeans, external table by CellMeans")
    assert "1,000 rows in 5 folds" in said


def test_fewer_clusters_than_folds_leave_folds_empty() -> None:
    log = draw_rows(300, clusters=3)
    own, _ = predict(log, None, make_learners(CellMeans()))

    assert np.isfinite(own.mean).all()
