"""UCB's kernel: whole runs against the public interface, one decision against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.kernels.ucb import decide_ucb
from boundit.bandit.policies.ucb import UCB
from tests.bandit.environments import BatchCase, batch_cases, play_one_by_one
from tests.bandit.score_tables import make_score_table


@settings(deadline=None, max_examples=30)
@given(batch_cases(), st.sampled_from([None, 0.3]))
def test_whole_runs_pull_what_decide_and_learn_do(case: BatchCase, sigma: float | None) -> None:
    policy = UCB(horizon=60, sigma=sigma, **case.options)

    pulls = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)

    assert pulls is not None
    assert pulls.tolist() == play_one_by_one(policy, case).tolist()


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_one_decision_is_the_best_of_all_scored_in_numpy(n: int, seed: int) -> None:
    """3.10 and the tie rule: the same winner as scoring every arm."""
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 4, n).astype(float)
    total, place = rng.integers(0, 4, n).astype(float).clip(0, count), rng.permutation(n)
    upper = np.sort(rng.random(n).round(1))[::-1].copy()
    lower = (upper * rng.random(n)).round(1).clip(0, upper)
    table = make_score_table(np.arange(n), place, lower, upper)

    winner, skipped = decide_ucb(np.column_stack([count, total]), table, 0.3)

    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(count > 0, total / count + 0.3 / np.sqrt(count), np.inf)
    final = np.maximum(np.minimum(expected, upper), lower)
    assert winner == max(range(n), key=lambda i: (final[i], expected[i], -place[i]))
    looked = n - skipped
    assert table[:looked, FREE_SCORE].tolist() == pytest.approx(expected[:looked].tolist())
    assert table[:looked, SCORE].tolist() == pytest.approx(final[:looked].tolist())
    assert np.isnan(table[looked:, SCORE]).all()
    assert (upper[looked:] < final[winner]).all()
