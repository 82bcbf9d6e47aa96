"""One decision: the index that was drawn, ties, and pairs that no plan knows."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from boundit.bandit.fused import policy as policy_module
from boundit.bandit.fused.decide import tabulate_indices
from boundit.bandit.fused.policy import Fused
from boundit.terms.bound_table import BoundTable
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


def _make_bounds() -> BoundTable:
    rows = [{"X": x, "Z": 0, "lower": 0.1 * x, "upper": 0.9 - 0.2 * x} for x in range(3)]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["Z"], outcome_range=(0, 1)
    )


@pytest.mark.parametrize("capped", [False, True])
def test_indices_that_are_kept_decide_as_those_worked_out_anew(capped: bool) -> None:
    """With propensities indices are tabulated once; without, each decision makes its own."""
    prior = _make_bounds() if capped else make_table(draw_plan(6, (2,)))
    kept, anew = (
        Fused(prior=prior, doubt=0.4, seed=3, propensities=wanted) for wanted in (True, False)
    )
    context = (0,)
    assert kept._list_constants().capped is capped
    for t in range(60):
        one, other = (policy.decide(context, id=str(t)) for policy in (kept, anew))
        assert (one.arm, one.index, one.branch) == (other.arm, other.index, other.branch)
        names = [f"{t}-{i}" for i in range(5)]
        many = [policy.decide_many([context] * 5, names) for policy in (kept, anew)]
        assert many[0].arms == many[1].arms
        assert [one.index for one in many[0]] == [one.index for one in many[1]]
        if t % 3 == 0:
            for policy, decision in ((kept, one), (anew, other)):
                policy.learn(decision, float(t % 2))
        if t % 7 == 0:
            for policy, decisions in zip((kept, anew), many, strict=True):
                policy.learn_many(decisions, [1.0, 0.0, 1.0, 1.0, 0.0])
    assert kept.state()["statistics"] == anew.state()["statistics"]


def test_indices_are_worked_out_once_until_something_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[object]()

    def tabulate(*arguments: Any) -> Any:
        made.append(arguments)
        return tabulate_indices(*arguments)

    monkeypatch.setattr(policy_module, "tabulate_indices", tabulate)
    policy = Fused(prior=make_table(draw_plan(6, (2,))), seed=3)
    decisions = [policy.decide((0,), id=str(i)) for i in range(10)]
    assert len(made) == 1
    policy.learn(decisions[0], 1.0)
    policy.decide((0,), id="a")
    policy.learn_many(decisions[1:], [1.0] * 9)
    policy.decide((0,), id="b")
    assert len(made) == 3
