"""One decision: the index that was drawn, ties, and pairs that no plan knows."""

import math
from collections import Counter

import numpy as np
import pytest

from boundit.bandit.fused.policy import Fused
from tests.bandit.fused.plain_fused import PlainFused, draw_plan
from tests.bandit.fused.world_plans import make_table


def test_an_index_is_that_of_its_part_and_tau() -> None:
    plan = draw_plan(6, (2,))
    policy = Fused(prior=make_table(plan), doubt=0.4, seed=3)
    plain = PlainFused(plan, policy.statistics.taus, list(policy.bias.values()), 0.5)
    for i in range(80):
        decision = policy.decide((0,), id=str(i))
        tau = float(str(decision.branch).split(";")[0].removeprefix("tau "))
        for arm, index in decision.index.items():
            pair = plan.pairs.index((arm, (0,)))
            found = {plain.index(pair, tau, own=own) for own in (False, True)}
            drawn = "plain rewards" in str(decision.branch)
            assert drawn or any(math.isclose(index, value) for value in found)


def test_ties_are_broken_evenly() -> None:
    policy = Fused(arms=["A", "B", "C"], seed=1)
    shares = Counter(policy.decide(id=str(i)).arm for i in range(3000))
    assert all(abs(count - 1000) < 130 for count in shares.values())
    assert policy.decide().propensity == pytest.approx(1 / 3)


def test_an_arm_that_no_plan_knows_is_learned_by_itself() -> None:
    plan = draw_plan(6, (2,))
    policy = Fused(prior=make_table(plan), seed=3)
    for t in range(40):
        decision = policy.decide((0,), arms=[(0,), (9,)], id=str(t))
        policy.learn(decision, float(decision.arm == (9,)))
    assert policy.decide((0,), arms=[(0,), (9,)]).arm == (9,)
    again = Fused.from_state(policy.state())
    assert again.statistics.places == policy.statistics.places
    assert np.isfinite(again.decide((0,), arms=[(0,), (9,)]).index[(9,)])
