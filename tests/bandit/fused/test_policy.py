"""The fused policy as users meet it: whole runs, states, merges, refreshed logs, reasons."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption
from boundit.bandit.fused.policy import Fused
from boundit.simulation.chunk import Chunk
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.bound_table import NO_LOG
from boundit.terms.fused_plan import FusedPlan
from tests.bandit.fused.plain_fused import draw_plan
from tests.bandit.fused.world_plans import PAPER, count_plan, make_table

WORLD = bd.paper_world()


def play(
    policy: Fused, rounds: int, *, seen: float = 1.0, start: int = 0, seed: int = 0
) -> list[Decision]:
    """Play some rounds of a made-up world, in which a share of rounds shows all."""
    decisions = []
    contexts = list(dict.fromkeys(context for _, context in policy.statistics.plan.pairs))
    leaves = list(policy.statistics.reader.leaves)
    for t in range(start, start + rounds):
        rng = np.random.default_rng([seed, t])
        decision = policy.decide(contexts[int(rng.integers(len(contexts)))], id=str(t))
        values = leaves[int(rng.integers(len(leaves)))]
        told = dict(zip(policy.observes, values, strict=True)) if rng.random() < seen else None
        policy.learn(
            decision, float(rng.random() < 0.3 + 0.1 * (decision.arm[0] == 1)), observed=told
        )
        decisions.append(decision)
    return decisions


@pytest.mark.parametrize("seen", [1.0, 0.5, 0.05, 0.0])
@pytest.mark.parametrize("doubt", [0.08, 0.0])
def test_whole_runs_pull_what_decide_and_learn_do(seen: float, doubt: float) -> None:
    table = count_plan(WORLD, *PAPER, n=500, seed=1)
    policy = Fused(prior=table, doubt=doubt)
    chunk = Chunk.draw(WORLD, 3, range(2), 250, observed=seen)

    environment, compiled = chunk._play_compiled(policy, chunk._derive_seeds("a"))

    assert compiled is not None
    for i, seed in enumerate(chunk._derive_seeds("a").tolist()):
        own = chunk._bind_policy(policy, seed=seed)
        for t in range(250):
            decision = own.decide(environment.contexts[chunk.contexts[i, t]], id=str(t))
            arm = environment.arms.index(decision.arm)
            assert arm == compiled[i, t], t
            reward = float(chunk.uniforms[i, t] < environment.means[chunk.contexts[i, t], arm])
            observed, side = None, environment.side_observation
            luck = chunk.observation_uniforms[i, t] if side else np.nan
            if side and not np.isnan(luck):
                observed = side.observe(chunk.contexts[i, t], arm, reward, float(luck))
            own.learn(decision, reward, observed=observed)


@pytest.mark.parametrize("seen", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("sizes", [(), (2,), (3,), (2, 2)])
def test_a_state_survives_json_and_goes_on_bit_for_bit(
    sizes: tuple[int, ...], seen: float
) -> None:
    policy = Fused(prior=make_table(draw_plan(3, sizes, tilt=sizes == (3,))), seed=5)
    play(policy, 60, seen=seen)

    again = Fused.from_state(json.loads(json.dumps(policy.state())))

    assert again.state() == policy.state()
    later = [play(p, 40, seen=seen, start=60) for p in (policy, again)]
    assert later[0] == later[1]
    assert again.state() == policy.state()


@pytest.mark.parametrize("seen", [1.0, 0.5])
def test_the_order_of_rewards_changes_only_evidence_of_pairs(seen: float) -> None:
    table = make_table(draw_plan(3, (2,)))
    one, two = Fused(prior=table, seed=1), Fused(prior=table, seed=1)
    rng = np.random.default_rng(0)
    events = []
    for t in range(80):
        decision = one.decide((t % 2,), id=str(t))
        told = {"W0": int(rng.integers(2))} if rng.random() < seen else None
        events.append((decision, float(rng.random() < 0.4), told))
    for policy, order in ((one, range(80)), (two, range(79, -1, -1))):
        for i in order:
            decision, reward, told = events[i]
            policy.learn(decision, reward, observed=told)
    mine, theirs = one.statistics.counts, two.statistics.counts
    assert mine.taus[:, 1] == pytest.approx(theirs.taus[:, 1], rel=1e-9)
    assert (mine.cells[:, :2] == theirs.cells[:, :2]).all()
    assert (mine.own == theirs.own).all()
    assert (mine.pairs[:, :2] == theirs.pairs[:, :2]).all()


def test_workers_put_together_count_what_one_would_have() -> None:
    """32 workers: counts add up, and evidence of right pairs stays near that of one stream."""
    table = count_plan(WORLD, *PAPER, n=20_000, seed=2)
    environment = WORLD.make_environment(["I1"])
    side, rng = environment.side_observation, np.random.default_rng(0)
    assert side is not None
    whole, workers = Fused(prior=table, seed=0), [Fused(prior=table, seed=0) for _ in range(32)]
    for t in range(1200):
        c = int(rng.integers(4))
        decision = whole.decide(environment.contexts[c], id=str(t))
        a = environment.arms.index(decision.arm)
        reward = float(rng.random() < environment.means[c, a])
        told = side.observe(c, a, reward, float(rng.random()))
        for policy in (whole, workers[t % 32]):
            policy.learn(decision, reward, observed=told)
    merged = workers[0]
    for other in workers[1:]:
        merged = merged.merged(other)
    one, two = whole.statistics.counts, merged.statistics.counts
    for name in ("cells", "pools", "own", "leaves", "totals"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))
    assert one.taus[:, 1] == pytest.approx(two.taus[:, 1], rel=1e-6)
    assert abs(one.pairs[:, 2] - two.pairs[:, 2]).max() < 2.5
    assert abs(one.pairs[:, 3] - two.pairs[:, 3]).max() < 3.5


def test_what_workers_shared_counts_once_also_in_evidence() -> None:
    start = Fused(prior=make_table(draw_plan(3, (2, 2))), seed=1)
    play(start, 50, seen=0.6)
    one, two = (Fused.from_state(start.state()) for _ in range(2))
    play(one, 30, start=50, seen=0.6)

    merged = one.merged(two, since=start)

    for mine, theirs in zip(merged.statistics.counts, one.statistics.counts, strict=True):
        shape = np.minimum(mine.shape, theirs.shape)
        cut = tuple(slice(0, n) for n in shape)
        if shape.tolist()[1:] == [4]:
            # Evidence against a pool is weighed anew.
            cut = (*cut[:1], slice(0, 3))
        assert mine[cut] == pytest.approx(theirs[cut], rel=1e-9, abs=1e-9)
    assert merged.statistics.learned.weights == pytest.approx(
        one.statistics.learned.weights, rel=1e-6, abs=1e-9
    )


def test_a_refreshed_log_replaces_rows_and_rounds_stay() -> None:
    first = count_plan(WORLD, *PAPER, n=400, seed=1)
    second = count_plan(WORLD, *PAPER, n=4000, seed=2)
    policy, late = Fused(prior=first, seed=1), Fused(prior=second, seed=1)
    decisions = play(policy, 80, seen=0.7)
    for t, decision in enumerate(decisions):
        rng = np.random.default_rng([0, t])
        rng.integers(4)
        values = list(policy.statistics.reader.leaves)[int(rng.integers(2))]
        told = {"I1": values[0]} if rng.random() < 0.7 else None
        reward = float(rng.random() < 0.3 + 0.1 * (decision.arm[0] == 1))
        late.learn(decision, reward, observed=told)

    policy.refresh(second)

    mine, theirs = policy.statistics, late.statistics
    assert (mine.layout.wins == theirs.layout.wins).all()
    assert mine.counts.cells[:, :2] == pytest.approx(theirs.counts.cells[:, :2])
    assert mine.counts.own == pytest.approx(theirs.counts.own)
    assert mine.counts.taus[:, 1] == pytest.approx(theirs.counts.taus[:, 1], rel=1e-9)
    assert (mine.counts.pairs[:16, :2] == theirs.counts.pairs[:16, :2]).all()
    assert policy.n_learned == 80


def test_a_plan_may_come_and_go_with_the_table() -> None:
    with_plan = count_plan(WORLD, *PAPER, n=400, seed=1)
    policy = Fused(prior=with_plan, seed=1)
    play(policy, 50, seen=0.3)

    policy.refresh(replace(with_plan, pooling=NO_LOG))
    assert (
        policy.plan_reason == "these bounds came without a log, so there are no rows to count"
    )
    assert "no plan" in repr(policy)
    assert policy.decide((0, 0)).branch is not None
    policy.refresh(with_plan)

    assert isinstance(policy.plan, FusedPlan)
    assert policy.statistics.counts.pairs[:, :2].sum() == 50


def test_reasons_of_a_decision_stay_when_the_bounds_are_replaced() -> None:
    with_plan = count_plan(WORLD, *PAPER, n=400, seed=1)
    without = replace(with_plan, pooling=NO_LOG)
    for first, second in ((with_plan, without), (without, with_plan)):
        policy = Fused(prior=first, seed=1)
        now, later = policy.decide((0, 0), id="a"), policy.decide((0, 0), id="a")
        expected = now.propensities, now.branch

        policy.refresh(second)

        assert (later.propensities, later.branch) == expected


def test_rounds_of_a_policy_without_a_plan_do_not_count_as_seen_in_one() -> None:
    with_plan = count_plan(WORLD, *PAPER, n=400, seed=1)
    policy = Fused(prior=replace(with_plan, pooling=NO_LOG), seed=1)
    for _ in range(30):
        policy.learn(policy.decide((0, 0)), 1.0)

    policy.refresh(with_plan)

    assert "0 of 30 rounds showed I1: decides by rewards alone" in policy.describe()
    assert policy.statistics.learned.units.sum() == 30


def test_all_rounds_count_in_a_plan_that_asks_for_no_variable() -> None:
    asking = count_plan(WORLD, *PAPER, n=400, seed=1)
    plan = asking.pooling
    assert isinstance(plan, FusedPlan)
    cells = tuple((i,) for i in range(16))
    bare = replace(asking, pooling=FusedPlan(plan.pairs, (), cells, (5,) * 16, (2.0,) * 16))
    for first in (asking, replace(asking, pooling=NO_LOG)):
        policy, late = Fused(prior=first, seed=1), Fused(prior=bare, seed=1)
        for i in range(40):
            decision = policy.decide((i % 2, 0))
            policy.learn(decision, float(i % 3 == 0))
            late.learn(decision, float(i % 3 == 0))

        policy.refresh(bare)

        mine, theirs = policy.statistics, late.statistics
        assert (mine.counts.cells == theirs.counts.cells).all()
        assert (mine.counts.totals == theirs.counts.totals).all()
        assert mine.counts.taus == pytest.approx(theirs.counts.taus)


def test_a_log_that_rounds_contradict_is_refuted_and_the_policy_goes_on() -> None:
    table = count_plan(WORLD, *PAPER, n=20_000, seed=1)
    plan = table.pooling
    assert isinstance(plan, FusedPlan)
    wrong = replace(
        plan, sums=tuple(float(n - s) for n, s in zip(plan.n, plan.sums, strict=True))
    )
    policy = Fused(prior=replace(table, pooling=wrong), seed=1)
    assert "contradict" not in policy.describe()
    play(policy, 400)

    assert "rounds contradict the log" in str(policy.refutation)
    assert str(policy.refutation) in policy.describe()
    again = Fused.from_state(policy.state())
    assert again.refutation == policy.refutation
    assert max(policy.bias, key=lambda tau: policy.bias[tau]) >= 0.1


def test_propensities_are_the_shares_of_arms_over_many_ids() -> None:
    """Over ids alone, with nothing learned in between; seen, never seen and trusting."""
    for seen, doubt, n in ((1.0, 0.3, 300), (0.0, 0.3, 300), (1.0, 0.0, 300), (1.0, 0.5, 30)):
        policy = Fused(prior=count_plan(WORLD, *PAPER, n=n, seed=4), doubt=doubt, seed=2)
        play(policy, 60, seen=seen)
        draws = 6000
        decisions = [policy.decide((1, 0), id=f"v{i}") for i in range(draws)]
        shares = Counter(decision.arm for decision in decisions)
        chances = {d.arm: d.propensity for d in {d.arm: d for d in decisions}.values()}
        for arm, share in shares.items():
            chance = chances[arm]
            assert chance is not None
            error = 4.5 * (chance * (1 - chance) / draws) ** 0.5 + 1e-4
            assert share / draws == pytest.approx(chance, abs=error)


def test_reasons_say_what_each_index_came_from() -> None:
    policy = Fused(prior=count_plan(WORLD, *PAPER, n=300, seed=4), doubt=0.9, seed=2)
    told = {policy.decide((1, 0), id=str(i)).branch for i in range(60)}
    assert all(branch is not None and branch.startswith("tau ") for branch in told)
    assert any("plain rewards" in str(branch) for branch in told)
    assert any("own weights" in str(branch) for branch in told)
    assert "bias of the log" in policy.describe()
    assert policy.observes == ("I1",)
    passed = policy.decide((1, 0), arms=[(2, 2)])
    assert str(passed.branch).endswith("; own rewards alone, as the plan does not know it")
    among = policy.decide((1, 0), arms=[(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)])
    assert str(among.branch).count("as the plan does not know it") == 1


def test_reasons_are_told_when_the_bounds_are_dropped() -> None:
    """Rows still count, discounted, when a watch has refuted the intervals."""
    table = bd.derive_bounds(WORLD.graph, WORLD.query, WORLD.log(30_000, seed=4))
    policy = Fused(prior=table, watch=True, seed=2)
    for i in range(300):
        policy.learn(policy.decide((1, 0), id=str(i)), 0.0)
    assert policy.refutation is not None
    assert str(policy.decide((1, 0)).branch).startswith("tau ")


def test_what_is_unknown_is_refused_and_changes_nothing() -> None:
    policy = Fused(prior=count_plan(WORLD, *PAPER, n=300, seed=4), seed=2)
    decision, before = policy.decide((0, 0)), policy.state()
    with pytest.raises(OutsideDomain):
        policy.learn(decision, 1.0, observed={"I1": 7})
    assert policy.state()["statistics"] == before["statistics"]
    with pytest.raises(BadOption):
        Fused(arms=["A"], doubt=1.0)


def test_rewards_of_any_range_are_learned_on_the_scale_from_0_to_1() -> None:
    plan = draw_plan(3, (2,))
    unit, wide = (Fused(prior=make_table(plan, r), seed=1) for r in ((0.0, 1.0), (-2.0, 6.0)))
    for t in range(60):
        rng = np.random.default_rng(t)
        y, told = float(rng.random()), {"W0": int(rng.integers(2))} if t % 3 else None
        one, two = (policy.decide((t % 2,), id=str(t)) for policy in (unit, wide))
        assert one.arm == two.arm
        unit.learn(one, y, observed=told)
        wide.learn(two, -2 + 8 * y, observed=told)
        assert two.index[two.arm] == pytest.approx(-2 + 8 * one.index[one.arm])


def test_observed_numbers_count_in_the_bins_that_the_log_was_cut_into() -> None:
    rows = {"X": [0, 1] * 8, "W": [*range(16)], "Y": [0, 0, 1, 1] * 4}
    bounds = bd.derive_bounds(
        bd.parse_graph("X -> W -> Y; X <-> W"),
        bd.parse_query("Y | do(X)"),
        bd.read_log(rows, bins={"W": [5]}),
    )
    one, other = Fused(prior=bounds, seed=1), Fused(prior=bounds, seed=1)
    for number, name in ((4.5, "< 5"), (5, ">= 5"), (np.int64(12), ">= 5")):
        one.learn(one.decide(), 1.0, observed={"W": number})
        other.learn(other.decide(), 1.0, observed={"W": name})

    assert one.observes == ("W",)
    assert one.state() == other.state()
    decisions = one.decide_many([(), ()], ids=["a", "b"])
    one.learn_many(decisions, [1.0, 0.0], observed={"W": [4.5, 5]})
    other.learn_many(decisions, [1.0, 0.0], observed=[{"W": "< 5"}, {"W": ">= 5"}])
    assert one.state()["statistics"] == other.state()["statistics"]
    with pytest.raises(OutsideDomain, match="'W' has no level nan"):
        one.learn(one.decide(), 1.0, observed={"W": float("nan")})
