"""The linear form as users meet it: when it is used, states, merges, bins, what it gains."""

import json
from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.errors import BadFeatures
from boundit.bandit.fused.linear import is_numeric
from boundit.bandit.fused.policy import Fused
from boundit.terms.fused_plan import FusedPlan
from tests.bandit.fused.plain_linear import LEVELS, compute_cell, draw_line_plan
from tests.bandit.fused.test_policy import play
from tests.bandit.fused.world_plans import make_table

TABLE = make_table(draw_line_plan(500, 1))


def test_many_numbers_or_bins_make_it_linear_and_it_says_so() -> None:
    assert is_numeric(TABLE)
    assert not is_numeric(None)
    few = make_table(keep_levels(draw_line_plan(500, 1), 8))
    assert not is_numeric(few)
    assert "cells by linear models of C0" in Fused(prior=TABLE).describe()
    assert "cells by counts" in Fused(prior=TABLE, linear=False).describe()
    assert "cells by counts" in Fused(prior=few).describe()
    assert "cells by linear models" in Fused(prior=few, linear=True).describe()


def keep_levels(plan: FusedPlan, n: int) -> FusedPlan:
    """The plan of the first contexts alone, with cells numbered anew."""
    kept = [i for i, (_, (level,)) in enumerate(plan.pairs) if level < n]  # type: ignore[operator]
    cells = [cell for i in kept for cell in plan.cells[i]]
    factor = plan.factors[0]
    return FusedPlan(
        tuple(plan.pairs[i] for i in kept),
        (replace(factor, pools=tuple(factor.pools[i] for i in kept)),),
        tuple((2 * i, 2 * i + 1) for i in range(len(kept))),
        tuple(plan.n[cell] for cell in cells),
        tuple(plan.sums[cell] for cell in cells),
    )


def test_numbers_mixed_with_text_are_counted_unless_asked_for() -> None:
    plan = keep_levels(draw_line_plan(500, 1), 12)
    pairs = tuple((arm, ("none",) if c == (3,) else c) for arm, c in plan.pairs)
    table = make_table(replace(plan, pairs=pairs))
    assert Fused(prior=table).statistics.linear is None
    with pytest.raises(BadFeatures):
        Fused(prior=table, linear=True)


@pytest.mark.parametrize("seen", [1.0, 0.5, 0.0])
def test_a_state_survives_json_and_goes_on_bit_for_bit(seen: float) -> None:
    policy = Fused(prior=TABLE, seed=5, explore=0.1)
    play(policy, 60, seen=seen)

    again = Fused.from_state(json.loads(json.dumps(policy.state())))

    assert again.state() == policy.state()
    later = [play(p, 40, seen=seen, start=60) for p in (policy, again)]
    assert later[0] == later[1]
    assert again.state() == policy.state()
    assert policy.fresh().statistics.linear is not None
    assert not policy.fresh().statistics.linear.moments.any()  # type: ignore[union-attr]


@pytest.mark.parametrize("seen", [1.0, 0.5])
def test_two_policies_put_together_know_what_one_would(seen: float) -> None:
    one = Fused(prior=TABLE, seed=5)
    play(one, 40, seen=seen)
    start = one.copy_locked()
    other = one.copy_locked()
    play(one, 50, seen=seen, start=1000)
    decisions = play(other, 50, seen=seen, start=2000)

    both = one.merged(other, since=start)

    mine, theirs = both.statistics.linear, other.statistics.linear
    assert mine is not None
    assert theirs is not None
    assert mine.moments[:, :, :, 0, 0].sum() == pytest.approx(140)
    assert sum(both.bias.values()) == pytest.approx(1)
    assert both.decide(decisions[0].context, id="x").arm in both.spec.arms


def test_taus_weighed_at_once_are_those_weighed_one_by_one() -> None:
    policy = Fused(prior=TABLE, seed=5)
    play(policy, 80)
    one_by_one = policy.bias
    policy.refresh(TABLE)
    assert list(policy.bias.values()) == pytest.approx(list(one_by_one.values()), rel=1e-7)


def test_another_log_and_other_levels_keep_what_was_learned() -> None:
    small = make_table(keep_levels(draw_line_plan(500, 1), 12))
    policy = Fused(prior=small, seed=5)
    play(policy, 80, seen=0.7)
    whole = Fused(prior=TABLE, linear=True)
    counted = Fused(prior=small, linear=False, seed=5)
    play(policy, 60, start=500)
    before = policy.statistics.linear
    policy.refresh(TABLE)
    after, target = policy.statistics.linear, whole.statistics.linear
    assert before is not None
    assert after is not None
    assert target is not None
    leaves = policy.statistics.counts.leaves
    target.count_leaves(leaves)
    assert after.moments == pytest.approx(target.moments, abs=1e-8)
    play(counted, 50)
    counted._linear = True
    counted.refresh(TABLE)
    assert counted.statistics.linear is not None
    assert counted.statistics.linear.moments[:, :, :, 0, 0].sum() == pytest.approx(50)


def test_propensities_are_the_shares_of_draws() -> None:
    policy = Fused(prior=TABLE, seed=5, doubt=0.4)
    play(policy, 200)
    chances = policy.decide((20,), id="a").propensities
    assert chances is not None
    n = 4000
    drawn = [policy.decide((20,), id=f"draw {i}").arm for i in range(n)]
    assert sum(chances.values()) == pytest.approx(1)
    for arm, chance in chances.items():
        assert drawn.count(arm) / n == pytest.approx(chance, abs=5 * 0.5 / n**0.5)


def regret(*, linear: bool, seed: int, told: float, scale: float = 1.0) -> float:
    """Play the line world from a log of 500 rows."""
    rng, weights, total = np.random.default_rng(seed), (0.5, 0.5, 0.55), 0.0
    table = make_table(draw_line_plan(500, seed), (0.0, scale))
    policy = Fused(prior=table, seed=seed, linear=linear, propensities=False)
    for t in range(1500):
        level = int(rng.integers(LEVELS))
        decision = policy.decide((level,), id=str(t))
        means = [
            p * compute_cell(arm, level, 1) + (1 - p) * compute_cell(arm, level, 0)
            for arm, p in enumerate(weights)
        ]
        arm = int(str(decision.arm[0]))
        total += max(means) - means[arm]
        w = int(rng.random() < weights[arm])
        mean = compute_cell(arm, level, w)
        # Rewards that are numbers have a law around their mean.
        reward = (
            float(rng.random() < mean) if scale == 1.0 else rng.beta(4 * mean, 4 - 4 * mean)
        )
        told_w = {"W": w} if rng.random() < told else None
        policy.learn(decision, scale * reward, observed=told_w)
    return total


@pytest.mark.parametrize(("told", "scale"), [(1.0, 1.0), (0.0, 1.0), (1.0, 20.0)])
def test_from_a_small_log_thirty_numbers_are_learned_sooner(told: float, scale: float) -> None:
    mine = [regret(linear=True, seed=seed, told=told, scale=scale) for seed in range(2)]
    counts = [regret(linear=False, seed=seed, told=told, scale=scale) for seed in range(2)]
    assert sum(mine) < 0.6 * sum(counts)


def test_where_the_prior_has_bins_models_see_the_number() -> None:
    bins = {"C0": (10.0, 20.0)}
    names = ("< 10", "[10, 20)", ">= 20")
    plan = keep_levels(draw_line_plan(2000, 1), 3)
    pairs = tuple((arm, (names[int(str(c[0]))],)) for arm, c in plan.pairs)
    table = replace(make_table(replace(plan, pairs=pairs)), bins=bins)
    policy = Fused(prior=table, seed=3)
    decision = policy.decide((12.5,), id="a")
    assert decision.context == (12.5,)
    policy.learn(decision, 1.0, observed={"W": 1})
    linear = policy.statistics.linear
    assert linear is not None
    assert policy.statistics.counts.totals[0] == 1
    near, far = linear.encode((12.5,)), linear.encode(("[10, 20)",))
    assert near[:-1].tolist() == far[:-1].tolist()
    assert near[-1] != far[-1]
    assert linear.encode((15.0,)).tolist() == far.tolist()


def test_many_visitors_are_served_and_learned_as_one_by_one() -> None:
    one, many = Fused(prior=TABLE, seed=5), Fused(prior=TABLE, seed=5)
    contexts = [(level,) for level in (3, 7, 3, 20, 7, 3)]
    names, told = [str(i) for i in range(6)], [{"W": i % 2} for i in range(6)]
    alone = [one.decide(c, id=name) for c, name in zip(contexts, names, strict=True)]
    together = list(many.decide_many(contexts, ids=names))
    assert [d.arm for d in together] == [d.arm for d in alone]
    for i, decision in enumerate(alone):
        one.learn(decision, float(i % 2), observed=told[i])
    many.learn_many(together, [float(i % 2) for i in range(6)], observed=told)
    assert many.statistics.to_record() == one.statistics.to_record()


def test_numbers_that_become_text_are_counted_anew_as_far_as_they_are_known() -> None:
    plan = keep_levels(draw_line_plan(500, 1), 4)
    policy = Fused(prior=make_table(plan), seed=5, linear=True)
    play(policy, 30)
    beliefs = policy.statistics
    texts = tuple((arm, (str(c[0]),)) for arm, c in plan.pairs)
    other = Fused(prior=make_table(replace(plan, pairs=texts)), linear=True).statistics
    found = beliefs.refit(other.plan, (0.0, 1.0), other.encoding)
    assert found.linear is not None
    assert not found.linear.moments.any()
    assert found.counts.totals[0] == 30
