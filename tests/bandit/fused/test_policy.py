"""Fused as users meet it: states, merges, refreshed logs, reasons, whole runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.errors import BadObservation, BadOption
from boundit.bandit.finite import FiniteEnvironment, SideObservation
from boundit.bandit.fused.layout import BIAS, OWN, WEIGHT
from boundit.bandit.fused.policy import Fused
from boundit.core.errors import OutsideDomain
from boundit.results.bound_table import NO_LOG, BoundTable
from boundit.results.fused_plan import Factor, FusedPlan
from tests.bandit.fused.plain_fused import draw_plan


def make_table(plan: FusedPlan, reward_range: tuple[float, float] = (0.0, 1.0)) -> BoundTable:
    """A table that says nothing but its plan."""
    low, high = reward_range
    rows = [{"X": x, "C": c, "lower": low, "upper": high} for (x,), (c,) in plan.pairs]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=reward_range
    )
    return replace(table, pooling=plan)


def play(
    policy: Fused, rounds: range, *, seen: float = 1.0, seed: int = 0
) -> list[tuple[object, float]]:
    """Play some rounds of a made-up population, in which a share of rounds shows all."""
    found = []
    for t in rounds:
        rng = np.random.default_rng([seed, t])
        decision = policy.decide(int(rng.integers(2)), id=str(t))
        shown = {name: int(rng.integers(2)) for name in policy.auxiliary_variables}
        reward = float(rng.random() < 0.3 + 0.2 * (decision.arm == 1))
        policy.learn(decision, reward, observed=shown if rng.random() < seen else None)
        found.append((decision.arm, decision.propensity))
    return found


@pytest.mark.parametrize("seen", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("sizes", [(), (2, 2)])
def test_a_state_goes_on_bit_for_bit(sizes: tuple[int, ...], seen: float) -> None:
    policy = Fused(make_table(draw_plan(3, sizes)), seed=5)
    play(policy, range(40), seen=seen)

    again = Fused.from_state(json.loads(json.dumps(policy.state())))

    assert again.state() == policy.state()
    later = [play(p, range(40, 60), seen=seen) for p in (policy, again)]
    assert later[0] == later[1]
    assert again.state() == policy.state()


def test_workers_put_together_count_what_one_would_have() -> None:
    """Also evidence against pairs, of which no pair has any here, nearly."""
    plan, rng = draw_plan(3, (2,), known=True, rows=2000), np.random.default_rng(0)
    table = make_table(plan)
    whole, workers = Fused(table, seed=0), [Fused(table, seed=0) for _ in range(8)]
    for t in range(400):
        decision = whole.decide(t % 2, id=str(t))
        pair = plan.pairs.index((decision.arm_values, decision.context_values))
        counts = np.array(plan.factors[0].counts[plan.factors[0].pools[pair][0]])
        w = int(rng.random() < counts[1] / counts.sum())
        cell = plan.cells[pair][w]
        reward = float(rng.random() < plan.sums[cell] / plan.n[cell])
        for policy in (whole, workers[t % 8]):
            policy.learn(decision, reward, observed={"W0": w})
    merged = workers[0]
    for other in workers[1:]:
        merged = merged.merge(other)
    one, two = whole.arrays, merged.arrays
    for name in ("cells", "pools", "own", "leaves", "totals"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))
    assert one.taus[:, WEIGHT] == pytest.approx(two.taus[:, WEIGHT], rel=1e-6)
    assert abs(one.pairs[..., BIAS] - two.pairs[..., BIAS]).max() < 1.5
    assert abs(one.pairs[..., OWN] - two.pairs[..., OWN]).max() < 1.5


@pytest.mark.parametrize("seen", [0.6, 0.0])
def test_what_workers_shared_counts_once(seen: float) -> None:
    start = Fused(make_table(draw_plan(3, (2, 2))), seed=1)
    play(start, range(50), seen=seen)
    one, two = (Fused.from_state(start.state()) for _ in range(2))
    play(one, range(50, 80), seen=seen)

    merged = one.merge(two, since=start)

    for name in ("pairs", "leaves", "cells", "pools", "totals", "taus", "arm_shifts"):
        mine, theirs = getattr(merged.arrays, name).copy(), getattr(one.arrays, name).copy()
        if name == "pairs":
            mine[..., OWN] = theirs[..., OWN] = 0.0  # weighed anew
        if name == "taus":
            mine, theirs = mine[:, WEIGHT], theirs[:, WEIGHT]
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9), name
    assert [policy.decide(0, id="a").propensity for policy in (merged, one)] == pytest.approx(
        [one.decide(0, id="a").propensity] * 2, abs=0.02
    )


def test_a_refreshed_log_replaces_rows_and_rounds_stay() -> None:
    """Also where the new table has further arms and contexts, so that cells have other numbers."""
    first, second = draw_plan(3, (2,)), draw_plan(4, (2,), arms=4, contexts=3, rows=900)
    policy, late = Fused(make_table(first), seed=1), Fused(make_table(second), seed=1)
    for t in range(60):
        rng = np.random.default_rng(t)
        arm, shown = int(rng.integers(3)), {"W0": int(rng.integers(2))} if t % 3 else None
        for one in (policy, late):
            adopted = one.adopt(t % 2, arm, id=str(t))
            one.learn(adopted, float(t % 4 == 0), observed=shown)

    policy.refresh(make_table(second))

    mine, theirs = policy.arrays, late.arrays
    assert (mine.log_cells == theirs.log_cells).all()
    assert mine.cells[:, :2] == pytest.approx(theirs.cells[:, :2])
    assert mine.pools[:, 0] == pytest.approx(theirs.pools[:, 0])
    assert mine.own[:4, :4] == pytest.approx(theirs.own[:4, :4])
    assert mine.taus[:, WEIGHT] == pytest.approx(theirs.taus[:, WEIGHT], rel=1e-9)
    assert (mine.pairs[:4, :4, :2] == theirs.pairs[:4, :4, :2]).all()
    assert (mine.totals == theirs.totals).all()


def test_a_plan_may_come_and_go_with_the_table() -> None:
    plan = draw_plan(3, (2,))
    with_plan = make_table(plan)
    policy = Fused(replace(with_plan, pooling=NO_LOG), seed=1)
    play(policy, range(30))
    assert "without a log" in policy.pooling_reason

    policy.refresh(with_plan)

    assert "0 of 30 rounds showed W0: by rewards alone" in policy.describe()
    assert policy.arrays.pairs[..., :2].sum() == 30
    cells = tuple((i,) for i in range(6))
    policy.refresh(make_table(FusedPlan(plan.pairs, (), cells, (5,) * 6, (2.0,) * 6)))
    assert policy.arrays.cells[:, :2].sum() == 30
    policy.refresh(replace(with_plan, pooling=NO_LOG))
    assert policy.n_learned == 30


def test_a_log_that_rounds_contradict_is_refuted_and_the_policy_goes_on() -> None:
    pairs = (((0,), (0,)), ((1,), (0,)))
    cells, n, sums = ((0,), (1,)), (3000, 3000), (2700.0, 300.0)
    policy = Fused(make_table(FusedPlan(pairs, (), cells, n, sums)), seed=1)
    assert policy.refutation is None
    for t in range(150):
        decision = policy.decide(0, id=str(t))
        policy.learn(decision, float(t % 10 == 0) if decision.arm == 0 else float(t % 2))

    assert "rounds contradict the log" in str(policy.refutation)
    assert str(policy.refutation) in policy.describe()
    assert Fused.from_state(policy.state()).refutation == policy.refutation
    assert max(policy.bias, key=lambda tau: policy.bias[tau]) >= 0.1
    assert policy.decide(0).propensities[1] > 0.9


def test_propensities_are_the_shares_of_arms_over_many_ids() -> None:
    for seen, doubt in ((1.0, 0.3), (0.0, 0.3), (1.0, 0.0)):
        policy = Fused(make_table(draw_plan(3, (2,))), doubt=doubt, seed=2)
        play(policy, range(30), seen=seen)
        draws = 20_000
        decisions = policy.decide_many([1] * draws)
        arms = [decision.arm for decision in decisions]
        for arm, chance in decisions[0].propensities.items():
            error = 4.5 * (chance * (1 - chance) / draws) ** 0.5 + 1e-4
            assert arms.count(arm) / draws == pytest.approx(chance, abs=error)


def test_equal_arms_get_equal_probabilities() -> None:
    pairs = tuple(((k,), (0,)) for k in range(3))
    factor = Factor(("W",), ((0,), (1,)), ((0,),) * 3, ((0, 0),), ((40, 60),))
    plan = FusedPlan(pairs, (factor,), ((0, 1),) * 3, (50, 50), (10.0, 40.0))
    found = Fused(make_table(plan)).decide(0).propensities
    assert list(found.values()) == pytest.approx([1 / 3] * 3, abs=1e-9)


def test_rewards_of_any_range_and_goal_are_learned_alike() -> None:
    plan = draw_plan(3, (2,))
    turned = replace(plan, sums=tuple(n - s for n, s in zip(plan.n, plan.sums, strict=True)))
    unit, wide = Fused(make_table(plan), seed=1), Fused(make_table(plan, (-2.0, 6.0)), seed=1)
    least = Fused(make_table(turned), goal="min", seed=1)
    for t in range(40):
        rng = np.random.default_rng(t)
        y, shown = float(rng.integers(5)) / 4, {"W0": int(rng.integers(2))} if t % 3 else None
        decisions = [policy.decide(t % 2, id=str(t)) for policy in (unit, wide, least)]
        assert len({decision.arm for decision in decisions}) == 1
        one, two, three = (decision.scores[decision.arm] for decision in decisions)
        assert (two, three) == pytest.approx((-2 + 8 * one, 1 - one))
        for policy, decision, reward in zip(
            (unit, wide, least), decisions, (y, -2 + 8 * y, 1 - y), strict=True
        ):
            policy.learn(decision, reward, observed=shown)


def test_what_is_unknown_is_refused_and_changes_nothing() -> None:
    policy = Fused(make_table(draw_plan(3, (2,))), seed=2)
    decision, before = policy.decide(0), policy.state()
    wrong: list[tuple[object, type[Exception]]] = [
        ({"W0": 7}, OutsideDomain),
        ({"V": 1}, BadObservation),
        ([1], BadObservation),
    ]
    for observed, error in wrong:
        with pytest.raises(error):
            policy.learn(decision, 1.0, observed=observed)  # type: ignore[arg-type]
    assert policy.state() == before
    with pytest.raises(BadOption):
        Fused(arms=["A"], doubt=1.0)


def test_observed_numbers_count_in_the_bins_of_the_log() -> None:
    plan = draw_plan(3, (2,))
    names = (("< 5",), (">= 5",))
    factor = replace(plan.factors[0], cells=names)
    table = replace(make_table(replace(plan, factors=(factor,))), bins={"W0": (5.0,)})
    one, other = Fused(table, seed=1), Fused(table, seed=1)
    for t, (number, name) in enumerate(((4.5, "< 5"), (5, ">= 5"), (np.int64(12), ">= 5"))):
        for policy, shown in ((one, number), (other, name)):
            policy.learn(policy.decide(0, id=str(t)), 1.0, observed={"W0": shown})
    assert one.state() == other.state()


def test_bounds_hold_arms_without_a_plan_and_none_with_one() -> None:
    rows = [
        {"X": 0, "lower": 0.0, "upper": 0.3},
        {"X": 1, "lower": 0.5, "upper": 0.9},
    ]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    plan = FusedPlan((((0,), ()), ((1,), ())), (), ((0,), (1,)), (9, 9), (8.0, 1.0))
    assert Fused(table).decide().propensities == {1: 1.0, 0: 0.0}
    assert Fused(replace(table, pooling=plan)).decide().propensities[0] > 0.5


@pytest.mark.parametrize("seen", [1.0, 0.5, 0.0])
def test_whole_runs_play_what_decide_and_learn_do(seen: float) -> None:
    """Also late, with a prior of other contexts than those met."""
    plan, rng = draw_plan(5, (2,)), np.random.default_rng(1)
    policy, n = Fused(make_table(plan)), 120
    arms, contexts = [(0,), (1,), (2,)], [(1,), (0,)]
    means = rng.uniform(0.2, 0.8, (2, 3, 1))
    cells = np.cumsum(rng.dirichlet([1, 1], (2, 3, 2)), axis=3)
    side = SideObservation(("W0",), ((0, 1),), cells)
    ends = np.concatenate([means, means * 0.0 + 1.0], axis=2)
    world = FiniteEnvironment(
        tuple(contexts), tuple(arms), np.array([1.0, 0.0]), ends, means[..., 0], side
    )
    met, uniforms, shown = rng.integers(0, 2, (1, n)), rng.random((1, n)), rng.random((1, n))
    shown[rng.random((1, n)) >= seen] = np.nan

    pulls = policy.play(world, met, uniforms, np.array([3], np.uint64), shown)

    assert pulls is not None
    own = policy.clone(seed=3)
    for t in range(n):
        c = int(met[0, t])
        decision = own.decide(contexts[c], id=str(t))
        assert decision.arm == pulls[0, t], t
        level = int(uniforms[0, t] >= means[c, decision.arm, 0])
        w = int(shown[0, t] >= cells[c, decision.arm, level, 0])
        observed = None if np.isnan(shown[0, t]) else {"W0": w}
        own.learn(decision, 1.0 - level, observed=observed)
