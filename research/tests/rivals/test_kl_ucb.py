"""B-kl-UCB: the index against another root finder, the algorithm against a plain loop."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from boundit.results.bound_table import BoundTable
from boundit_research.rivals.kl_ucb import KLUCB, compute_kl, invert_kl


@given(st.floats(0, 0.999), st.floats(1e-6, 5))
def test_the_index_is_where_another_root_finder_finds_it(mean: float, budget: float) -> None:
    found = invert_kl(mean, budget)

    top = 1 - 1e-15
    if compute_kl(mean, top) <= budget:
        assert found == pytest.approx(1.0, abs=1e-12)
    else:
        root = brentq(lambda q: compute_kl(mean, q) - budget, mean, top, xtol=1e-14)
        assert found == pytest.approx(root, abs=1e-9)


@given(st.floats(0, 1), st.floats(0, 5))
def test_the_index_keeps_its_budget_and_no_larger_one_does(mean: float, budget: float) -> None:
    found = invert_kl(mean, budget)

    assert mean <= found <= 1
    assert compute_kl(mean, found) <= budget + 1e-12
    assert found == 1 or compute_kl(mean, min(found + 1e-7, 1.0)) >= budget - 1e-9


def test_newton_finds_what_bisection_does() -> None:
    for mean in np.linspace(0, 0.999, 60):
        for budget in np.geomspace(1e-4, 20, 40):
            low, high = float(mean), 1.0
            while low < (middle := (low + high) / 2) < high:
                low, high = (
                    (middle, high) if compute_kl(mean, middle) <= budget else (low, middle)
                )
            assert invert_kl(float(mean), float(budget)) == pytest.approx(low, abs=1e-12)


def test_the_edges() -> None:
    assert invert_kl(1.0, 0.3) == 1.0
    assert invert_kl(0.4, 0.0) == 0.4
    assert compute_kl(0.0, 0.0) == compute_kl(1.0, 1.0) == 0.0
    assert compute_kl(0.0, 1.0) == math.inf


@pytest.mark.parametrize("seed", range(5))
def test_it_is_b_kl_ucb(seed: int) -> None:
    """Drop what is dominated, play the rest once, then the capped index (Zhang, Bareinboim)."""
    rng = np.random.default_rng(seed)
    ends = [(0.0, 0.5), (0.3, 0.8), (0.1, 0.25), (0.2, 1.0), (0.25, 0.8)]
    rows = [{"X": a, "lower": low, "upper": high} for a, (low, high) in enumerate(ends)]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    policy = KLUCB(table)
    counts, sums = [0] * 5, [0.0] * 5
    for t in range(1, 120):
        kept = [a for a in range(5) if ends[a][1] >= max(low for low, _ in ends)]
        assert kept == [0, 1, 3, 4]
        untried = [a for a in kept if not counts[a]]
        if untried:
            expected = max(untried, key=lambda a: (ends[a][1], -a))
        else:
            budget = math.log(t) + 3 * math.log(max(math.log(t), 1))
            free = {a: invert_kl(sums[a] / counts[a], budget / counts[a]) for a in kept}
            expected = max(kept, key=lambda a: (min(free[a], ends[a][1]), free[a], -a))

        decision = policy.decide(id=str(t))

        assert decision.arm == expected
        reward = float(rng.random() < (ends[expected][0] + ends[expected][1]) / 2)
        policy.learn(decision, reward)
        counts[expected] += 1
        sums[expected] += reward


def test_rewards_on_another_scale() -> None:
    policy = KLUCB(arms=[0, 1], reward_range=(-2, 2))
    for i, reward in enumerate((2.0, -2.0)):
        policy.learn(policy.decide(id=str(i)), reward)

    decision = policy.decide()

    assert decision.arm == 0
    assert decision.scores[0] == 2.0
    assert -2 < decision.scores[1] < 2


def test_every_context_counts_its_own_rounds() -> None:
    policy, alone = KLUCB(arms=[0, 1], context=["U"]), KLUCB(arms=[0, 1])
    for t in range(60):
        policy.learn(policy.decide(0, id=f"other {t}"), 1.0)
        together, apart = policy.decide(1, id=str(t)), alone.decide(id=str(t))
        assert together.scores == pytest.approx(apart.scores, nan_ok=True)
        reward = float(t % 3 == 0)
        policy.learn(together, reward)
        alone.learn(apart, reward)
