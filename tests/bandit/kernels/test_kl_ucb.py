"""KL-UCB's kernel: Newton against bisection, whole runs against the public interface."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.kernels.kl_ucb import compute_kl, decide_kl_ucb, invert_kl
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.policies.kl_ucb import KLUCB
from tests.bandit.environments import BatchCase, batch_cases, play_one_by_one
from tests.bandit.score_tables import make_score_table


def bisect(mean: float, budget: float) -> float:
    """The largest number that keeps the budget, up to rounding."""
    low, high = mean, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if compute_kl(mean, middle) <= budget else (low, middle)
    return low


@settings(deadline=None, max_examples=300)
@given(st.floats(0, 1), st.floats(0, 30))
def test_newton_finds_what_bisection_does(mean: float, budget: float) -> None:
    found, expected = invert_kl(mean, budget), bisect(mean, budget)

    # Near the mean the entropy is flat, and what rounding adds to it hides the root.
    hidden = min(1e-15 / math.sqrt(budget), 1e-7) if budget else 1e-7
    assert found == pytest.approx(expected, abs=1e-12 + hidden)
    assert compute_kl(mean, found) <= budget + 1e-12


def test_newton_finds_it_on_a_grid_to_many_digits() -> None:
    for mean in np.linspace(0, 0.999, 60):
        for budget in np.geomspace(1e-4, 20, 40):
            expected = bisect(float(mean), float(budget))
            assert invert_kl(float(mean), float(budget)) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(batch_cases(), st.sampled_from([0.0, 3.0]))
def test_whole_runs_pull_what_decide_and_learn_do(case: BatchCase, c: float) -> None:
    policy = KLUCB(c=c, **case.options)

    pulls = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)

    assert pulls is not None
    assert pulls.tolist() == play_one_by_one(policy, case).tolist()


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.integers(0, 2))
def test_one_decision_is_the_best_of_all_scored_in_python(
    n: int, seed: int, fewest: int
) -> None:
    """Out what is dominated, then what was never played, then the capped index."""
    rng = np.random.default_rng(seed)
    count = rng.integers(fewest, 5, n).astype(float)
    total, place = rng.integers(0, 5, n).astype(float).clip(0, count), rng.permutation(n)
    upper = np.sort(rng.random(n).round(1))[::-1].copy()
    lower = (upper * rng.random(n)).round(1).clip(0, upper)
    table, t, c = make_score_table(np.arange(n), place, lower, upper), 1.0 + count.sum(), 1.5

    winner, skipped = decide_kl_ucb(np.column_stack([count, total]), table, t, c, 0.0, 1.0)

    kept = [i for i in range(n) if upper[i] >= lower.max()]
    kept = [i for i in kept if not count[i]] or kept
    budget = math.log(t) + c * math.log(max(math.log(t), 1.0))
    expected = {
        i: invert_kl(total[i] / count[i], budget / count[i]) if count[i] else math.inf
        for i in kept
    }
    final = {i: min(expected[i], upper[i]) for i in kept}
    assert winner == max(kept, key=lambda i: (final[i], expected[i], -place[i]))
    scored = [i for i in range(n) if not math.isnan(table[i, SCORE])]
    looked = len(kept) - skipped
    assert scored == kept[:looked]
    assert table[scored, FREE_SCORE].tolist() == [expected[i] for i in scored]
    assert table[scored, SCORE].tolist() == [final[i] for i in scored]
    assert all(upper[i] < final[winner] for i in kept[looked:])
