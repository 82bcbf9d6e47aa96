"""When particles decide, and what a round of a simulation shows."""

import numpy as np
import pytest

from boundit.bandit.fused.policy import Fused
from boundit.bandit.fused.runs import Sights, find_shown, is_blind
from boundit.terms.fused_plan import Factor, FusedPlan
from tests.bandit.fused.world_plans import make_table


def test_particles_decide_while_fewer_than_one_in_ten_rounds_showed_all() -> None:
    assert not is_blind(np.array([0.0, 0.0]))
    assert is_blind(np.array([1.0, 0.0]))
    assert not is_blind(np.array([10.0, 1.0]))
    assert is_blind(np.array([11.0, 1.0]))


def test_a_round_shows_the_cell_whose_end_lies_above_its_luck() -> None:
    ends = np.array([[[0.2, 1.0], [0.7, 1.0]]])
    leaves, may_be = np.array([0, 1]), np.ones((2, 2), np.bool_)
    sights = Sights(np.array([[0.1, 0.5, np.nan]]), ends, leaves, may_be)
    assert [find_shown(sights, 0, t, 0, 0) for t in range(3)] == [0, 1, -1]
    assert [find_shown(sights, 0, t, 0, 1) for t in range(3)] == [0, 0, -1]
    nothing = sights._replace(luck=np.zeros((1, 0)))
    assert find_shown(nothing, 0, 0, 0, 0) == -1


@pytest.mark.parametrize("n_seen", [0, 1, 30])
def test_rounds_that_show_too_little_are_learned_together_as_one_by_one(n_seen: int) -> None:
    """To the last bit, whether particles decide or cells, and for an arm of no plan too."""
    factor = Factor(("W",), ((0,), (1,)), ((0,), (1,)), ((0, 0), (1, 1)))
    pairs = (((0,), ()), ((1,), ()))
    plan = FusedPlan(pairs, (factor,), ((0, 1), (2, 3)), (5, 1, 2, 2), (1.0, 0.5, 0.5, 0.5))
    arms, rewards = [(0,), (1,), (2,)], np.random.default_rng(3).random(40)
    found = list[object]()
    for together in (True, False):
        policy = Fused(prior=make_table(plan), seed=1)
        told = [policy.adopt((), arms[i % 3], id=str(i), passed=True) for i in range(80)]
        for i in range(n_seen):
            policy.learn(told[i], float(i % 2), observed={"W": i % 2})
        policy.learn(told[30], 0.5)
        if together:
            policy.learn_many(told[31:71], rewards)
        else:
            for decision, reward in zip(told[31:71], rewards.tolist(), strict=True):
                policy.learn(decision, reward)
        found.append(policy.state())

    assert found[0] == found[1]
