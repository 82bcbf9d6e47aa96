"""Linear Thompson sampling's kernel, against a plain loop that draws every arm."""

import numpy as np
import pytest

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.lin_ts import (
    decide_lin_ts,
    draw_deviation,
    estimate_win_probabilities,
    factor_inverse,
)
from boundit.bandit.kernels.rng import branch_stream, open_stream
from boundit.bandit.kernels.score_table import LIN_TS_MEAN, LIN_TS_SPREAD, SCORE
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.kernels.truncated_draws import draw_normal_pair, truncate_normal_draw
from boundit.bandit.learned.ridge import Ridge, RidgeStack
from tests.bandit.score_tables import make_score_table

SEED = 7


def draw_covariance(rng: np.random.Generator, d: int) -> Floats:
    root = rng.normal(size=(d, d))
    return np.asarray(0.1 * root @ root.T + 0.01 * np.eye(d))


def make_stack(inverse: Floats, theta: Floats) -> RidgeStack:
    """Models with these inverses and estimates; what they were learned from plays no part."""
    stack = RidgeStack(theta.shape[1])
    for one, estimate in zip(inverse, theta, strict=True):
        stack.push(Ridge(one, estimate, one, estimate))
    return stack


@pytest.mark.parametrize("d", [1, 4, 5])
def test_a_deviation_has_the_covariance_of_the_model(d: int) -> None:
    rng = np.random.default_rng(d)
    cov = draw_covariance(rng, d)
    stack = make_stack(np.array([np.eye(d), cov]), np.zeros((2, d)))
    root = factor_inverse(stack.models, stack.block, d, stack.width)

    deviation = np.array(
        [
            draw_deviation(root, stack.width, np.uint64(branch_stream(np.uint64(SEED), i)))
            for i in range(6000)
        ]
    )

    np.testing.assert_allclose(root @ root.T, cov)
    assert not deviation[:, d:].any()
    np.testing.assert_allclose(np.cov(deviation[:, :d].T), cov, atol=0.06 * cov.max())
    np.testing.assert_allclose(
        deviation[:, :d].mean(axis=0), 0, atol=4 * np.sqrt(cov.max() / 6000)
    )


@pytest.mark.parametrize("shared", [False, True])
def test_a_decision_is_that_of_drawing_every_arm(shared: bool) -> None:
    """3.10, and one draw for all arms where they share a model."""
    rng, skipped, cut = np.random.default_rng(0), 0, 0
    for number in range(150):
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        models = 1 if shared else n
        inverse = np.array([draw_covariance(rng, d) for _ in range(models)])
        theta = rng.normal(size=(models, d))
        stack, slots = make_stack(inverse, theta), np.arange(n) * (not shared)
        x, ends = rng.normal(size=(n, d)), np.sort(rng.normal(size=(2, n)), axis=0)
        order = np.argsort(-ends[1], kind="stable")
        table = make_score_table(
            slots[order] * stack.block, order, ends[0][order], ends[1][order]
        )

        winner, left = decide_lin_ts(
            SEED, number, stack.models, pad_rows(x[order]).ravel(), table, d, 0.7,
            shared, not shared,
        )  # fmt: skip

        stream = np.uint64(open_stream(SEED, number))
        deviation = draw_deviation(
            factor_inverse(stack.models, 0, d, stack.width), stack.width, stream
        )[:d]
        every, beliefs = [], []
        for arm in range(n):
            mean = x[arm] @ theta[slots[arm]]
            own = np.uint64(branch_stream(stream, arm))
            wide = 0.7 * np.sqrt(x[arm] @ inverse[slots[arm]] @ x[arm])
            loose = mean + 0.7 * x[arm] @ deviation
            if not shared:
                z, _, after = draw_normal_pair(own)
                own, loose = np.uint64(after), mean + wide * z
            every.append(
                truncate_normal_draw(mean, wide, loose, ends[0, arm], ends[1, arm], own)
            )
            beliefs.append([mean, wide])
            cut += every[-1] != loose
        assert order[winner] == np.argmax(every)
        looked = n - left
        drawn = np.array(every)[order[:looked]]
        np.testing.assert_allclose(table[:looked, SCORE], drawn, atol=1e-9)
        assert np.isnan(table[looked:, SCORE]).all()
        if not shared:
            np.testing.assert_allclose(
                table[:, [LIN_TS_MEAN, LIN_TS_SPREAD]], np.array(beliefs)[order]
            )
        skipped += left
    assert min(skipped, cut) > 50


def test_ties_of_points_go_to_the_first_arm() -> None:
    order, stack = np.array([2, 0, 1]), make_stack(np.ones((1, 1, 1)), np.zeros((1, 1)))
    table, x = make_score_table(0, order, 0.5, 0.5), pad_rows(np.ones((3, 1))).ravel()

    winner, skipped = decide_lin_ts(SEED, 9, stack.models, x, table, 1, 1.0, False, False)

    assert (order[winner], skipped) == (0, 0)


@pytest.mark.parametrize(("cap", "ahead"), [
    (np.inf, 0.7602),  # the chance that a normal number of variance 2 lies above -1
    (-9.0, 0.0),
])  # fmt: skip
def test_the_shares_are_those_of_wins_in_draws(cap: float, ahead: float) -> None:
    """Two arms with independent standard normal draws, one of them a spread ahead."""
    stack = make_stack(np.eye(2)[None], np.array([[1.0, 0.0]]))
    x, table = pad_rows(np.eye(2)).ravel(), make_score_table(0, [0, 1], -np.inf, [cap, np.inf])

    shares = estimate_win_probabilities(SEED, stack.models, x, table, 2, 1.0, 9999)

    assert shares.sum() == pytest.approx(1)
    assert shares[0] == pytest.approx(ahead, abs=0.02)
    # What may win has a chance, though it never won.
    assert shares[0] > 0


def test_an_arm_that_bounds_rule_out_has_no_share() -> None:
    stack = make_stack(np.eye(2)[None], np.array([[1.0, 0.0]]))
    table = make_score_table(0, [0, 1], [0.5, 0.0], [1.0, 0.4])

    shares = estimate_win_probabilities(
        SEED, stack.models, pad_rows(np.eye(2)).ravel(), table, 2, 1.0, 99
    )

    assert shares.tolist() == [1.0, 0.0]
