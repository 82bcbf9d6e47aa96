"""UCB-PCB against the listing, written again as plainly as can be."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings

from boundit.bandit.policies.ucb import UCB
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS, CONTEXTS, mean, table
from tests.bandit.environments import BatchCase, batch_cases, play_one_by_one


def one_table(ends: list[tuple[float, float]], reward_range: tuple[float, float]) -> BoundTable:
    return BoundTable.from_rows(
        [{"Ad": i, "lower": low, "upper": high} for i, (low, high) in enumerate(ends)],
        outcome="Y",
        treatments=["Ad"],
        outcome_range=reward_range,
    )


@pytest.mark.parametrize("seed", range(6))
def test_it_is_algorithm_6(seed: int) -> None:
    """Lines 4-8 without context, with random bounds; ties go to the free index."""
    rng, horizon = np.random.default_rng(seed), 150
    ends = [tuple(sorted(rng.random(2).round(1))) for _ in range(5)]
    policy = UCB(prior=one_table(ends, (0, 1)), horizon=horizon)
    counts, sums = np.zeros(5), np.zeros(5)
    for t in range(horizon):
        with np.errstate(divide="ignore", invalid="ignore"):
            bonus = np.sqrt(2 * math.log(horizon**2) / counts)
            ucb = np.where(counts > 0, sums / counts + bonus, np.inf)
        clipped = [max(min(high, u), low) for (low, high), u in zip(ends, ucb, strict=True)]
        expected = max(range(5), key=lambda a: (clipped[a], ucb[a], -a))

        decision = policy.decide(id=str(t))

        assert decision.arm == (expected,)
        assert decision.index[decision.arm] == pytest.approx(clipped[expected])
        reward = float(rng.random() < 0.2 + 0.15 * expected)
        policy.learn(decision, reward)
        counts[expected] += 1
        sums[expected] += reward


def test_every_context_is_a_bandit_of_its_own() -> None:
    policy = UCB(arms=ARMS, context=["U1", "U2"], horizon=100)
    apart = {context: UCB(arms=ARMS, horizon=100) for context in CONTEXTS}
    rng = np.random.default_rng(0)
    for t in range(200):
        context = CONTEXTS[rng.integers(4)]
        together, alone = policy.decide(context, id=str(t)), apart[context].decide(id=str(t))
        assert together.arm == alone.arm
        reward = float(rng.random() < mean(alone.arm, context))
        policy.learn(together, reward)
        apart[context].learn(alone, reward)


def test_rewards_on_another_scale_give_the_same_pulls() -> None:
    """The default width follows the range, so that dollars and cents are treated alike."""
    rng = np.random.default_rng(1)
    unit, wide = (
        UCB(arms=range(3), horizon=99),
        UCB(arms=range(3), horizon=99, reward_range=(-10, 30)),
    )
    histories: dict[str, list[object]] = defaultdict(list)
    for t in range(99):
        uniform = rng.random()
        for name, policy in (("unit", unit), ("wide", wide)):
            decision = policy.decide(id=str(t))
            reward = float(uniform < 0.3 + 0.2 * float(str(decision.arm[0])))
            policy.learn(decision, reward if name == "unit" else -10 + 40 * reward)
            histories[name].append(decision.arm)
    assert histories["unit"] == histories["wide"]


def test_an_unplayed_arm_is_worth_its_upper_end() -> None:
    decision = UCB(prior=one_table([(0.0, 0.5), (0.1, 0.7)], (0, 1)), horizon=10).decide()

    assert decision.arm == (1,)
    assert decision.index == {(1,): 0.7}
    assert decision.skipped == 1
    assert decision.capped == ((1,),)


def test_a_lower_end_lifts_a_run_of_bad_luck() -> None:
    policy = UCB(prior=one_table([(0.6, 0.9), (0.0, 0.5)], (0, 1)), delta=0.5, sigma=0.1)
    for i in range(20):
        decision = policy.decide(id=str(i))
        policy.learn(decision, 0.0)
        assert decision.arm == (0,)
    assert policy.decide().index[0,] == 0.6


def test_without_a_horizon_the_index_grows_with_the_rounds_of_its_context() -> None:
    policy = UCB(arms=["A", "B"], context=["U"], sigma=0.5)
    for i in range(7):
        policy.learn(policy.decide(0, id=str(i)), 1.0)
    policy.learn(policy.decide(1, id="other"), 0.0)
    t, index = 8, policy.decide(0).index
    counts = {arm: policy.statistics[(0,), arm].n for arm in index}

    assert sum(counts.values()) == 7
    for arm, n in counts.items():
        width = 0.5 * math.sqrt(2 * math.log(1 + t * math.log(t) ** 2) / n)
        assert index[arm] == pytest.approx(1 + width)
    assert policy.fresh(horizon=7).state()["options"]["horizon"] == 7


@settings(deadline=None, max_examples=15)
@given(batch_cases())
def test_whole_runs_without_a_horizon_are_those_of_single_calls(case: BatchCase) -> None:
    policy = UCB(**case.options)

    pulls = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)

    assert pulls is not None
    assert pulls.tolist() == play_one_by_one(policy, case).tolist()


def test_delta_is_one_over_the_squared_horizon() -> None:
    one, two = UCB(prior=table(), horizon=50), UCB(prior=table(), delta=1 / 2500)
    for policy in (one, two):
        policy.learn(policy.decide((0, 0), id="x"), 0.0)

    assert one.decide((0, 0)).index == pytest.approx(two.decide((0, 0)).index)
