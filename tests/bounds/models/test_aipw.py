"""Cross-fitted predictions, and the means that they give, against loops over rows."""

from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from boundit.bounds.models.aipw import (
    Learners,
    Scores,
    assign_folds,
    predict_rows,
    score_arms,
)
from boundit.bounds.models.estimators import ARM, EXTERNAL, REWARD, Learner
from boundit.bounds.models.features import ModelRows
from boundit.core.errors import OutOfTime
from boundit.core.long_work import TimeBudget, say_nothing
from boundit.counts.memory import Workspace
from tests.bounds.models.examples import Array, CellMeans

ROOM = Workspace(10**9)
CHANCE = 0.01


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 60))
def test_every_fold_has_as_many_rows_of_each_arm_as_can_be(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 3, n)
    folds = assign_folds(arms, None, k, rng)

    for arm in range(3):
        sizes = np.bincount(folds[arms == arm], minlength=k)
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_clusters_stay_together(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 12, 50)
    folds = assign_folds(np.zeros(50, dtype=np.int64), clusters, k, rng)

    for cluster in range(12):
        assert len(set(folds[clusters == cluster].tolist())) <= 1


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
        Learner(role, estimator, "linear", probabilities=True)
        for role in (REWARD, ARM, EXTERNAL)
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
) -> tuple[Array, Array]:
    """Means and weights of the log's rows, and of the external table's or again the log's."""
    tables = [log] if external is None else [log, external]
    found = predict_rows(tables, 2, learners, 5, seed, ROOM, say_nothing)
    return found[0], found[-1]


@pytest.mark.parametrize("clusters", [0, 30])
@pytest.mark.parametrize("external", [False, True])
def test_no_row_is_predicted_by_a_model_that_saw_it_or_its_cluster(
    clusters: int, external: bool
) -> None:
    log = draw_rows(300, clusters=clusters)
    other = draw_rows(200, first=1000) if external else None
    own, base = predict(log, other, make_learners(Spy(), external=external))

    for found in (own, base):
        assert (found[0] == 0).all()  # the spy predicts 1 of what it saw


def test_a_spy_that_is_asked_for_its_own_rows_would_be_noticed() -> None:
    log = draw_rows(100)
    learner = Learner(REWARD, Spy(), "linear", probabilities=True)

    assert (learner.predict_means(log.features, log.outcome, log.features) == 1).all()


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
            values = np.unique(own[0][x, z == level].round(12))
            assert len(values) <= 5  # one for each fold
            here = (z == level) & (log.arm == x)
            # Leaving a fold out moves a mean no further than its rows can.
            gap = np.abs(values - log.outcome[here].mean()).max()
            assert gap <= 1 / 5 / (4 / 5) + 1e-9
            chance = (log.arm[z == level] == x).mean()
            assert 1 / own[1][x, z == level] == pytest.approx(chance, abs=0.1)


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
        assert found[1][:, rare] == pytest.approx(2 * 2.0, rel=0.1)
        assert found[1][:, ~rare] == pytest.approx(2 * 2 / 3, rel=0.1)


def test_predictions_are_the_same_under_one_seed_and_others_under_another() -> None:
    rng = np.random.default_rng(0)
    log = ModelRows(
        rng.integers(0, 3, (200, 1)).astype(float),
        np.zeros(200, dtype=np.intp),
        rng.integers(0, 2, 200),
        rng.integers(0, 2, 200).astype(float),
    )
    first, second, third = (
        predict(log, None, make_learners(CellMeans()), seed)[0][0] for seed in (1, 1, 2)
    )

    assert (first == second).all()
    assert (first != third).any()


def test_an_arm_that_was_never_chosen_weighs_without_limit() -> None:
    log = draw_rows(100)
    alone = ModelRows(log.features, log.context, np.zeros_like(log.arm), log.outcome)
    own, _ = predict(alone, None, make_learners(CellMeans()))

    assert np.isinf(own[1][1]).all()
    assert (own[1][0] == 1).all()


def test_no_fold_is_begun_when_time_is_over() -> None:
    log, late = draw_rows(100), Workspace(10**9, TimeBudget(0.0))
    with pytest.raises(OutOfTime):
        predict_rows([log], 2, make_learners(CellMeans()), 5, 0, late, say_nothing)


def test_the_words_name_every_model() -> None:
    said = make_learners(CellMeans(), external=True).describe(1_000, 5, 0.01)

    assert said.startswith("reward by CellMeans, arm by CellMeans, external table by CellMeans")
    assert "1,000 rows in 5 folds" in said


def test_fewer_clusters_than_folds_leave_folds_empty() -> None:
    log = draw_rows(300, clusters=3)
    own, _ = predict(log, None, make_learners(CellMeans()))

    assert np.isfinite(own[0]).all()


def draw_log(
    n: int, seed: int, *, n_contexts: int = 2, n_strata: int = 3
) -> tuple[ModelRows, Array]:
    rng = np.random.default_rng(seed)
    z, c = rng.integers(0, n_strata, n).astype(float), rng.integers(0, n_contexts, n)
    x = (rng.random(n) < 0.3 + 0.1 * z + 0.1 * c).astype(np.intp)
    y = (rng.random(n) < 0.2 + 0.15 * z + 0.2 * x).astype(float)
    return ModelRows(z[:, None], c, x, y), z


def saturate(log: ModelRows, z: Array) -> Array:
    """Means, then weights, of the very cells that a row is in."""
    mean, weight = np.zeros((2, 2, len(log)))
    for c in np.unique(log.context):
        for level in np.unique(z):
            here = (log.context == c) & (z == level)
            for x in range(2):
                taken = here & (log.arm == x)
                mean[x, here] = log.outcome[taken].mean()
                weight[x, here] = here.sum() / taken.sum()
    return np.stack([mean, weight])


def score(log: ModelRows, found: Array, n_contexts: int = 0) -> Scores:
    shape = (2, n_contexts or 1 + int(log.context.max()))
    return score_arms([log], [found], ("X", "C"), shape, 100.0)


def is_trusted(scores: Scores) -> NDArray[np.bool_]:
    own = scores.lower.is_trusted(CHANCE) & scores.upper.is_trusted(CHANCE)
    return np.asarray(own & (scores.lower.support.rows > 0))


@pytest.mark.parametrize("seed", range(5))
def test_with_saturated_models_it_is_the_sum_over_strata(seed: int) -> None:
    """Estimates and variances are those of the stratified formula, to the last digits."""
    log, z = draw_log(800, seed)
    found = score(log, saturate(log, z))

    for c in range(2):
        n = int((log.context == c).sum())
        for x in range(2):
            value = within = square = 0.0
            for level in np.unique(z):
                here = (log.context == c) & (z == level)
                taken = here & (log.arm == x)
                share, m = here.sum() / n, log.outcome[taken].mean()
                value += share * m
                square += share * m**2
                within += share**2 * m * (1 - m) / taken.sum()
            variance = (within + (square - value**2) / n) * n / (n - 1)
            assert found.lower.value[x, c] == pytest.approx(value, abs=1e-12)
            assert 1 - found.upper.value[x, c] == pytest.approx(value, abs=1e-12)
            for side in (found.lower, found.upper):
                assert side.variance[x, c] == pytest.approx(variance, rel=1e-9)


def test_estimates_of_one_context_move_together_and_of_others_do_not() -> None:
    log, z = draw_log(800, 0)
    found = score(log, saturate(log, z))
    covariance = found.covariance
    assert covariance is not None

    assert np.diag(covariance) == pytest.approx(
        np.concatenate([found.lower.variance.ravel(), found.upper.variance.ravel()])
    )
    assert covariance[0, 2] != 0  # arms 0 and 1 in context 0
    assert covariance[0, 1] == covariance[0, 3] == 0
    assert covariance[0, 4] == pytest.approx(-covariance[0, 0])  # the upper one, of failures


def test_a_wrong_model_of_either_kind_does_no_harm() -> None:
    """Double robustness: with many rows, one of the two suffices."""
    log, z = draw_log(200_000, 1)
    right = saturate(log, z)
    half, two = np.full_like(right[0], 0.5), np.full_like(right[0], 2.0)
    blind, even, neither = (
        np.stack([half, right[1]]),
        np.stack([right[0], two]),
        np.stack([half, two]),
    )
    truth = np.array([[np.mean(0.2 + 0.15 * np.arange(3) + 0.2 * x)] * 2 for x in range(2)])

    for found in (right, blind, even):
        assert score(log, found).lower.value == pytest.approx(truth, abs=0.01)
    assert np.abs(score(log, neither).lower.value - truth).max() > 0.03


def test_where_an_arm_is_too_rare_its_reward_may_be_anything() -> None:
    log, z = draw_log(2_000, 2, n_contexts=1)
    found = saturate(log, z)
    rare = np.stack([found[0], np.where(z == 0, np.inf, found[1])])
    scores = score(log, rare)
    share, plain = (z == 0).mean(), score(log, found)
    of_rest = [np.where(z == 0, 0, found[0, x]).mean() for x in range(2)]

    assert scores.unlikely[:, 0] == pytest.approx(share)
    assert 1 - scores.upper.value - scores.lower.value == pytest.approx(share)
    assert scores.lower.value[:, 0] == pytest.approx(of_rest)
    assert (scores.lower.value <= plain.lower.value).all()
    assert (scores.upper.value <= plain.upper.value).all()


def test_rows_of_a_cluster_count_as_what_they_are() -> None:
    """Each row four times over, as one cluster: the variance of the rows taken once."""
    log, z = draw_log(600, 3)
    four = np.repeat(np.arange(600), 4)
    again = ModelRows(
        log.features[four], log.context[four], log.arm[four], log.outcome[four], four
    )
    blind = ModelRows(again.features, again.context, again.arm, again.outcome)
    once = score(log, saturate(log, z))
    clustered, naive = (score(of, saturate(of, z[four])) for of in (again, blind))

    assert clustered.lower.value == pytest.approx(once.lower.value)
    assert clustered.lower.variance == pytest.approx(once.lower.variance, rel=0.01)
    assert naive.lower.variance == pytest.approx(once.lower.variance / 4, rel=0.01)


def test_an_external_table_supplies_the_shares() -> None:
    log, z = draw_log(4_000, 4, n_contexts=1)
    other = np.repeat([0, 1, 2], [1_000, 500, 2_500])
    base = ModelRows(
        other[:, None].astype(float),
        np.zeros(4_000, dtype=np.intp),
        np.zeros(0, dtype=np.intp),
        np.zeros(0),
    )
    found = saturate(log, z)
    ratio = np.array([1 / 4, 1 / 8, 5 / 8]) / (np.bincount(z.astype(int)) / 4_000)
    means = np.array([[found[0, x, z == level][0] for level in range(3)] for x in range(2)])
    predicted = np.stack([found[0], found[1] * ratio[z.astype(int)]])
    on_base = np.stack([means[:, other], np.ones((2, 4_000))])
    scores = score_arms([log, base], [predicted, on_base], ("X", "C"), (2, 1), 100.0)

    assert scores.lower.value[:, 0] == pytest.approx(means @ [1 / 4, 1 / 8, 5 / 8])
    for x in range(2):
        residual = np.where(log.arm == x, predicted[1, x] * (log.outcome - found[0, x]), 0)
        apart = residual.var(ddof=1) / 4_000 + means[x, other].var(ddof=1) / 4_000
        assert scores.lower.variance[x, 0] == pytest.approx(apart)


def test_a_context_without_rows_says_nothing() -> None:
    log, z = draw_log(300, 5, n_contexts=1)
    found = saturate(log, z)
    scores = score(log, found, 2)

    assert (scores.lower.value[:, 1] == 0).all()
    assert (scores.upper.value[:, 1] == 0).all()
    assert is_trusted(scores).tolist() == [[True, False], [True, False]]


def test_few_successes_are_not_trusted() -> None:
    log, z = draw_log(300, 6, n_contexts=1)
    few = np.zeros(300)
    few[np.flatnonzero(log.arm == 1)[:5]] = 1.0
    rare = ModelRows(log.features, log.context, log.arm, few)

    assert not is_trusted(score(rare, saturate(rare, z))).any()


def test_a_numeric_outcome_that_hardly_varies_is_not_trusted() -> None:
    """One more row at the limit of the range would move the mean farther than its error."""
    log, z = draw_log(300, 7, n_contexts=1)
    near = 0.5 + 0.001 * log.outcome
    flat = ModelRows(log.features, log.context, log.arm, near)

    assert is_trusted(score(log, saturate(log, z))).all()
    assert not is_trusted(score(flat, saturate(flat, z))).any()
