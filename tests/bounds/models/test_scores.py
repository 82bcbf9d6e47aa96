import numpy as np
import pytest
from numpy.typing import NDArray

from boundit.bounds.models.predict import RowPredictions
from boundit.bounds.models.rows import ModelRows
from boundit.bounds.models.scores import ArmScores, score_arms

Array = NDArray[np.float64]


def draw_log(
    n: int, seed: int, *, n_contexts: int = 2, n_strata: int = 3
) -> tuple[ModelRows, Array]:
    rng = np.random.default_rng(seed)
    z, c = rng.integers(0, n_strata, n).astype(float), rng.integers(0, n_contexts, n)
    x = (rng.random(n) < 0.3 + 0.1 * z + 0.1 * c).astype(np.intp)
    y = (rng.random(n) < 0.2 + 0.15 * z + 0.2 * x).astype(float)
    return ModelRows(z[:, None], c, x, y), z


def saturate(log: ModelRows, z: Array) -> RowPredictions:
    """Means and propensities of the very cells that a row is in."""
    mean, weight = np.zeros((2, 2, len(log)))
    for c in np.unique(log.context):
        for level in np.unique(z):
            here = (log.context == c) & (z == level)
            for x in range(2):
                taken = here & (log.arm == x)
                mean[x, here] = log.reward[taken].mean()
                weight[x, here] = here.sum() / taken.sum()
    return RowPredictions(mean, weight)


def score(log: ModelRows, found: RowPredictions, largest: float = 100.0) -> ArmScores:
    return score_arms(log, log, found, found, 1 + int(log.context.max()), largest)


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
                share, m = here.sum() / n, log.reward[taken].mean()
                value += share * m
                square += share * m**2
                within += share**2 * m * (1 - m) / taken.sum()
            variance = (within + (square - value**2) / n) * n / (n - 1)
            assert found.lower[x, c] == pytest.approx(value, abs=1e-12)
            assert found.upper[x, c] == pytest.approx(value, abs=1e-12)
            assert found.variance[:, x, c] == pytest.approx(variance, rel=1e-9)


def test_estimates_of_one_context_move_together_and_of_others_do_not() -> None:
    log, z = draw_log(800, 0)
    found = score(log, saturate(log, z))
    covariance = found.covariance
    assert covariance is not None

    assert np.diag(covariance) == pytest.approx(found.variance.ravel())
    assert covariance[0, 2] != 0  # arms 0 and 1 in context 0
    assert covariance[0, 1] == covariance[0, 3] == 0
    assert covariance[0, 4] == pytest.approx(-covariance[0, 0])  # the upper end, turned round


def test_a_wrong_model_of_either_kind_does_no_harm() -> None:
    """Double robustness: with many rows, one of the two suffices."""
    log, z = draw_log(200_000, 1)
    right = saturate(log, z)
    blind = RowPredictions(np.full_like(right.mean, 0.5), right.weight)
    even = RowPredictions(right.mean, np.full_like(right.weight, 2.0))
    neither = RowPredictions(blind.mean, even.weight)
    truth = np.array([[np.mean(0.2 + 0.15 * np.arange(3) + 0.2 * x)] * 2 for x in range(2)])

    for found in (right, blind, even):
        assert score(log, found).lower == pytest.approx(truth, abs=0.01)
    assert np.abs(score(log, neither).lower - truth).max() > 0.03


def test_where_an_arm_is_too_rare_its_reward_may_be_anything() -> None:
    log, z = draw_log(2_000, 2, n_contexts=1)
    found = saturate(log, z)
    rare = RowPredictions(found.mean, np.where(z == 0, np.inf, found.weight))
    scores = score(log, rare)
    share, plain = (z == 0).mean(), score(log, found)
    of_rest = [np.where(z == 0, 0, found.mean[x]).mean() for x in range(2)]

    assert scores.unlikely[:, 0] == pytest.approx(share)
    assert scores.upper - scores.lower == pytest.approx(share)
    assert scores.lower[:, 0] == pytest.approx(of_rest)
    assert (scores.lower <= plain.lower).all()
    assert (scores.upper >= plain.upper).all()


def test_rows_of_a_cluster_count_as_what_they_are() -> None:
    """Each row four times over, as one cluster: the variance of the rows taken once."""
    log, z = draw_log(600, 3)
    four = np.repeat(np.arange(600), 4)
    again = ModelRows(
        log.features[four], log.context[four], log.arm[four], log.reward[four], four
    )
    blind = ModelRows(again.features, again.context, again.arm, again.reward)
    once = score(log, saturate(log, z))
    clustered, naive = (score(of, saturate(of, z[four])) for of in (again, blind))

    assert clustered.lower == pytest.approx(once.lower)
    assert clustered.variance == pytest.approx(once.variance, rel=0.01)
    assert naive.variance == pytest.approx(once.variance / 4, rel=0.01)


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
    means = np.array([[found.mean[x, z == level][0] for level in range(3)] for x in range(2)])
    predicted = RowPredictions(found.mean, found.weight * ratio[z.astype(int)])
    on_base = RowPredictions(means[:, other], np.ones((2, 4_000)))
    scores = score_arms(log, base, predicted, on_base, 1, 100.0)

    assert scores.lower[:, 0] == pytest.approx(means @ [1 / 4, 1 / 8, 5 / 8])
    for x in range(2):
        residual = np.where(log.arm == x, predicted.weight[x] * (log.reward - found.mean[x]), 0)
        apart = residual.var(ddof=1) / 4_000 + means[x, other].var(ddof=1) / 4_000
        assert scores.variance[0, x, 0] == pytest.approx(apart)


def test_a_context_without_rows_says_nothing() -> None:
    log, z = draw_log(300, 5, n_contexts=1)
    found = saturate(log, z)
    scores = score_arms(log, log, found, found, 2, 100.0)

    assert (scores.lower[:, 1] == 0).all()
    assert (scores.upper[:, 1] == 1).all()
    assert scores.is_trusted.tolist() == [[True, False], [True, False]]


def test_few_successes_are_not_trusted() -> None:
    log, z = draw_log(300, 6, n_contexts=1)
    few = np.zeros(300)
    few[np.flatnonzero(log.arm == 1)[:5]] = 1.0
    rare = ModelRows(log.features, log.context, log.arm, few)

    assert not score(rare, saturate(rare, z)).is_trusted.any()
