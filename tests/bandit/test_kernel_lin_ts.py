"""Linear Thompson sampling's kernel, against a plain loop that draws every arm."""

import numpy as np
import pytest

from boundit.bandit.kernel_draws import cut_normal, normal_pair
from boundit.bandit.kernel_lin_ts import decide_lin_ts, joint_luck
from boundit.bandit.lanes import padded, padded_size
from boundit.bandit.stage import Floats
from boundit.bandit.stream import branched, stream

WORD = np.uint64(7)


def covariance(rng: np.random.Generator, d: int) -> Floats:
    root = rng.normal(size=(d, d))
    return np.asarray(0.1 * root @ root.T + 0.01 * np.eye(d))


@pytest.mark.parametrize("d", [1, 4, 5])
def test_joint_luck_has_the_covariance_of_the_model(d: int) -> None:
    rng = np.random.default_rng(d)
    cov, p = covariance(rng, d), padded_size(d)
    square = np.zeros((p, p))
    square[:d, :d] = cov

    luck = np.array(
        [joint_luck(square.ravel(), 0, d, p, np.uint64(branched(WORD, i))) for i in range(6000)]
    )

    assert not luck[:, d:].any()
    np.testing.assert_allclose(np.cov(luck[:, :d].T), cov, atol=0.06 * cov.max())
    np.testing.assert_allclose(luck[:, :d].mean(axis=0), 0, atol=4 * np.sqrt(cov.max() / 6000))


@pytest.mark.parametrize("shared", [False, True])
def test_a_decision_is_that_of_drawing_every_arm(shared: bool) -> None:
    """3.10, and one draw for all arms where they share a model."""
    rng, skipped, cut = np.random.default_rng(0), 0, 0
    for events in range(150):
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        p, models = padded_size(d), 1 if shared else n
        inverse, theta = np.zeros((models, p, p)), np.zeros((models, p))
        for m in range(models):
            inverse[m, :d, :d], theta[m, :d] = covariance(rng, d), rng.normal(size=d)
        slots = np.zeros(n, np.int64) if shared else np.arange(n)
        x, ends = rng.normal(size=(n, d)), np.sort(rng.normal(size=(2, n)), axis=0)
        order = np.argsort(-ends[1], kind="stable")
        draws, free = np.full(n, np.nan), np.full(n, np.nan)

        winner, looked, share = decide_lin_ts(
            WORD, events, WORD, inverse.ravel(), theta.ravel(), slots[order],
            padded(x[order]).ravel(), ends[0][order], ends[1][order], order, d, 0.7, shared, 0,
            draws, free,
        )  # fmt: skip

        word = np.uint64(stream(WORD, events, WORD))
        luck = joint_luck(inverse.ravel(), 0, d, p, word)[:d]
        every = []
        for arm in range(n):
            mean = x[arm] @ theta[slots[arm], :d]
            own = np.uint64(branched(word, arm))
            wide = 0.7 * np.sqrt(x[arm] @ inverse[slots[arm], :d, :d] @ x[arm])
            loose = mean + 0.7 * x[arm] @ luck
            if not shared:
                z, _, after = normal_pair(own)
                own, loose = np.uint64(after), mean + wide * z
            every.append(cut_normal(mean, wide, loose, ends[0, arm], ends[1, arm], own))
            cut += every[-1] != loose
        assert order[winner] == np.argmax(every)
        np.testing.assert_allclose(draws[:looked], np.array(every)[order[:looked]], atol=1e-9)
        assert share == 1.0
        skipped += n - looked
    assert min(skipped, cut) > 50


def test_ties_of_points_go_to_the_first_arm() -> None:
    same, order, zero = np.full(3, 0.5), np.array([2, 0, 1]), np.zeros(3, np.int64)
    x = padded(np.ones((3, 1))).ravel()

    winner, looked, _ = decide_lin_ts(
        WORD, 0, WORD, np.eye(8).ravel(), np.zeros(8), zero, x, same, same, order, 1, 1.0,
        False, 0, np.empty(3), np.empty(3),
    )  # fmt: skip

    assert (order[winner], looked) == (0, 3)


def test_the_share_is_that_of_wins_in_further_draws() -> None:
    """Two arms with independent standard normal draws, one of them a spread ahead."""
    inverse, theta = np.diag([1.0, 1.0, *[0.0] * 6]).ravel(), np.zeros(8)
    theta[0] = 1.0
    x, none, zero = padded(np.eye(2)).ravel(), np.full(2, np.inf), np.zeros(2, np.int64)

    winner, _, share = decide_lin_ts(
        WORD, 0, WORD, inverse, theta, zero, x, -none, none, np.arange(2), 2, 1.0, True, 9999,
        np.empty(2), np.empty(2),
    )  # fmt: skip

    ahead = 0.7602  # the chance that a normal number of variance 2 lies above -1
    assert share == pytest.approx(ahead if winner == 0 else 1 - ahead, abs=0.02)
