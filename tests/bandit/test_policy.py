"""What every policy promises, whatever its algorithm."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import (
    BadArm,
    BadContext,
    BadOption,
    BadReward,
    ForeignBounds,
    NeedsArms,
    NotADecision,
    OtherArms,
    UnknownOption,
)
from boundit.bandit.policy import Policy
from boundit.core.errors import BounditError, OutsideDomain, WrongLength
from boundit.results.bound_table import BoundTable
from tests.bandit.policies import (
    ARMS,
    CONTEXTS,
    DRAWING,
    KINDS,
    LINEAR,
    NAMES,
    ORDER_FREE,
    PRIORS,
    make,
    mean,
    planned_table,
    play,
    reward_of,
    table,
)

each = pytest.mark.parametrize("name", NAMES)


def list_arms(decisions: list[Decision]) -> list[Any]:
    return [decision.arm for decision in decisions]


@each
@pytest.mark.parametrize("prior", PRIORS)
def test_a_retry_gives_the_same_and_changes_nothing(name: str, prior: str) -> None:
    policy = make(name, PRIORS[prior])
    play(policy, 20)
    before = policy.state()
    decision = policy.decide((0, 1), id="x")
    assert policy.decide({"U2": 1, "U1": 0}, id="x") == decision
    assert policy.decide([0, 1], id="x").arm == decision.arm
    assert policy.state() == before
    named = policy.decide((0, 1))
    assert named.id != policy.decide((0, 1)).id


@each
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("explore", [0.0, 0.3])
def test_propensities_are_those_of_a_distribution_and_of_what_is_played(
    name: str, prior: str, explore: float
) -> None:
    policy = make(name, PRIORS[prior], explore=explore)
    play(policy, 25)
    decisions = policy.decide_many([CONTEXTS[1]] * 4000)
    found = decisions[0].propensities
    assert sum(found.values()) == pytest.approx(1.0)
    assert set(found) == set(ARMS)
    assert min(found.values()) >= explore / len(ARMS)
    arms = decisions.arms
    for arm, p in found.items():
        assert abs(arms.count(arm) / 4000 - p) <= 5 * (p * (1 - p) / 4000) ** 0.5 + 1e-9
    assert all(one.propensity == found[one.arm] for one in decisions[:50])


@each
@pytest.mark.parametrize("prior", PRIORS)
def test_a_batch_is_a_loop(name: str, prior: str) -> None:
    one, many = (make(name, PRIORS[prior], explore=0.2) for _ in range(2))
    contexts = [CONTEXTS[i % 3] for i in range(30)]
    single = [one.decide(context) for context in contexts]
    batch = many.decide_many(contexts)
    assert list(batch) == single
    assert many.decide_many({"U2": [0, 1], "U1": [1, 1]}).arms == list_arms(
        [one.decide((1, 0)), one.decide((1, 1))]
    )
    rewards = [float(mean(d.arm, d.context) > 0.4) for d in single]
    shown = [{"W": i % 2} if i % 3 else None for i in range(30)]
    for decision, reward, seen in zip(single, rewards, shown, strict=True):
        one.learn(decision, reward, observed=seen)
    many.learn_many(batch, np.array(rewards), observed=shown)
    assert one.state()["arrays"] == many.state()["arrays"]
    assert len(many.decide_many([])) == 0
    many.learn_many([], [])


@each
@pytest.mark.parametrize("prior", PRIORS)
def test_a_state_goes_on_bit_for_bit(name: str, prior: str, tmp_path: Any) -> None:
    policy = make(name, PRIORS[prior], explore=0.1, monitor=0.01)
    play(policy, 40, observed=prior == "plan")
    policy.save(tmp_path / "policy.json")
    back = Policy.load(tmp_path / "policy.json")
    assert type(back) is type(policy)
    assert back.state() == json.loads(json.dumps(policy.state()))
    assert play(policy, 25, start=40) == play(back, 25, start=40)
    assert type(policy).load(tmp_path / "policy.json").n_learned == 40


@each
def test_copies_go_on_by_themselves(name: str) -> None:
    policy = make(name, table())
    play(policy, 10)
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        before = policy.state()
        assert list_arms(play(other, 10, start=10)) == list_arms(
            play(copy.deepcopy(policy), 10, start=10)
        )
        assert policy.state() == before


@each
def test_a_clone_has_the_settings_and_nothing_learned(name: str) -> None:
    policy = make(name, table(), explore=0.25, monitor=0.05)
    play(policy, 30)
    clone = policy.clone()
    assert clone.n_learned == 0
    assert list_arms(play(clone, 20)) == list_arms(
        play(make(name, table(), explore=0.25, monitor=0.05), 20)
    )
    kind, own = KINDS[name]
    bound = kind(**own).clone(arms=ARMS, context=["U1", "U2"], reward_range=(0, 2), seed=3)
    assert bound.spec.reward_range == (0.0, 2.0)
    bound.learn(bound.decide((0, 0)), 2.0)
    assert policy.clone(reward_range=(0, 5)).spec.reward_range == (0.0, 1.0)


# -- rewards ------------------------------------------------------------------------------------


@each
def test_a_repeat_counts_once_and_rewards_may_come_late(name: str) -> None:
    policy, twice = make(name), make(name)
    decisions = [policy.decide(CONTEXTS[i % 4], id=str(i)) for i in range(20)]
    order = np.random.default_rng(0).permutation(20).tolist()
    for i in order:
        decision = Decision.from_json(decisions[i].to_json())
        policy.learn(decision, reward_of(decision))
        twice.learn(decision, reward_of(decision))
        twice.learn(decision, 1.0 - reward_of(decision))
    assert policy.state()["arrays"] == twice.state()["arrays"]
    assert twice.n_learned == 20
    twice.learn_many([decisions[0], decisions[0]], [1.0, 1.0])
    assert twice.n_learned == 20


@pytest.mark.parametrize("name", ORDER_FREE)
@pytest.mark.parametrize("prior", ["none", "bounds"])
def test_two_halves_put_together_are_the_whole(name: str, prior: str) -> None:
    start = make(name, PRIORS[prior], monitor=0.01)
    play(start, 30)
    one, two, both = (copy.deepcopy(start) for _ in range(3))
    first = [both.decide(CONTEXTS[i % 4], id=str(100 + i)) for i in range(30)]
    for i, decision in enumerate(first):
        both.learn(decision, reward_of(decision))
        (one if i % 2 else two).learn(decision, reward_of(decision))
    merged = one.merge(two, since=start)
    assert merged.n_learned == both.n_learned == 60
    for context in CONTEXTS:
        found, wanted = merged.decide(context, id="x"), both.decide(context, id="x")
        assert found.propensities == pytest.approx(wanted.propensities, abs=1e-6)
        assert found.scores == pytest.approx(wanted.scores, abs=1e-6)
    merged.learn(first[0], 1.0)
    assert merged.n_learned == 60
    with pytest.raises(BounditError, match="cannot merge"):
        one.merge(copy.deepcopy(one), since=start)


@each
def test_only_alike_policies_merge(name: str) -> None:
    policy = make(name)
    for other in (
        make(name, explore=0.5),
        make(name, table()),
        make("UCB anytime", explore=0.1),
    ):
        with pytest.raises(BounditError, match="cannot merge"):
            policy.merge(other)


def test_ids_are_remembered_in_a_window_or_a_store() -> None:
    class Store(set[str]):
        def add(self, id: str, /) -> bool:  # type: ignore[override]  # noqa: A002
            new = id not in self
            super().add(id)
            return new

    store = Store()
    one, two = (make("UCB", id_window=store) for _ in range(2))
    decision = one.decide((0, 0), id="a")
    one.learn(decision, 1.0)
    two.learn(decision, 1.0)
    assert (one.n_learned, two.n_learned, set(store)) == (1, 0, {"a"})
    with pytest.raises(BounditError, match="give it again"):
        Policy.from_state(one.state())
    assert Policy.from_state(one.state(), id_window=store).n_learned == 1
    short = make("UCB", id_window=1)
    a, b = (short.decide((0, 0), id=name) for name in "ab")
    for decision in (a, b, a, a):
        short.learn(decision, 1.0)
    assert short.n_learned == 3
    linear = make(
        "LinUCB", features=lambda _, a: [1.0] if a == (0, 0) else [1.0 / 0], id_window=store
    )
    with pytest.raises(ZeroDivisionError):
        linear.learn(linear.adopt((0, 0), (0, 1), id="lost"), 1.0)
    assert "lost" not in store


@pytest.mark.parametrize("name", DRAWING)
def test_threads_share_a_policy(name: str) -> None:
    policy = make(name, table())

    def work(worker: int) -> None:
        for i in range(40):
            decision = policy.decide(CONTEXTS[i % 4], id=f"{worker} {i}")
            policy.learn(decision, 1.0)
            copy.deepcopy(policy)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert policy.n_learned == 160


# -- goal -----------------------------------------------------------------------------------------


def mirror(given: BoundTable, **changes: Any) -> BoundTable:
    bounds = {
        key: replace(
            bound,
            lower=1 - bound.upper,
            upper=1 - bound.lower,
            lower_estimate=1 - bound.upper_estimate,
            upper_estimate=1 - bound.lower_estimate,
        )
        for key, bound in given.bounds.items()
    }
    return replace(given, bounds=bounds, **changes)


@each
@pytest.mark.parametrize("prior", ["none", "bounds"])
def test_the_least_is_sought_as_the_most_would_be(name: str, prior: str) -> None:
    known = PRIORS[prior]
    turned = mirror(known, goal="min") if known else None
    most, least = make(name, known), make(name, turned, **({} if known else {"goal": "min"}))
    for t in range(40):
        context = CONTEXTS[t % 4]
        one, two = most.decide(context, id=str(t)), least.decide(context, id=str(t))
        assert one.arm == two.arm
        assert two.propensity == pytest.approx(one.propensity, abs=1e-9)
        for arm, score in one.scores.items():
            assert two.scores[arm] == pytest.approx(1 - score, abs=1e-9)
        assert one.truncated == two.truncated
        most.learn(one, reward_of(one))
        least.learn(two, 1 - reward_of(one))
    back = Policy.from_state(json.loads(json.dumps(least.state())))
    assert back.spec.goal == "min"
    assert back.decide((0, 0), id="x") == least.decide((0, 0), id="x")


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "LinTS"])
def test_bounds_that_say_nothing_change_nothing(name: str) -> None:
    # The normal distributions of LinTS reach beyond the range, where bounds cut them off.
    levels = {"U1": [0, 1], "U2": [0, 1]}
    plain = make(name, arms=ARMS, context=levels)
    assert list_arms(play(plain, 40)) == list_arms(play(make(name, table(None)), 40))


@each
def test_an_arm_whose_upper_bound_is_low_is_not_played(name: str) -> None:
    policy = make(name, table(0.04))
    for decision in play(policy, 40):
        best = max(mean(arm, decision.context) for arm in ARMS)
        assert mean(decision.arm, decision.context) > best - 0.09


@each
def test_refreshed_bounds_bind_and_arms_come_and_go(name: str) -> None:
    wide = table()
    few = replace(
        wide,
        bounds={k: b for k, b in wide.bounds.items() if k[0] != (1, 1)},
        pooling=wide.pooling,
    )
    policy = make(name, few)
    assert (1, 1) not in policy.spec.arms
    decisions = play(policy, 30)
    pending = policy.decide((0, 0), id="pending")
    policy.refresh(wide)
    assert set(policy.spec.arms) == set(ARMS)
    assert (1, 1) in list_arms(play(policy, 60, start=30))
    learned = policy.n_learned
    without = replace(few, bounds={k: b for k, b in few.bounds.items() if k[0] != pending.arm})
    policy.refresh(without)
    assert pending.arm not in policy.spec.arms
    assert pending.arm not in list_arms(play(policy, 30, start=100))
    policy.learn(pending, 1.0)
    assert policy.n_learned == learned + 31
    back = Policy.from_state(json.loads(json.dumps(policy.state())))
    back.learn(decisions[0], 1.0)
    assert back.n_learned == policy.n_learned
    assert back.decide((0, 1), id="x") == policy.decide((0, 1), id="x")


def test_given_arms_change_when_told_alone() -> None:
    policy = make("TS", table(), arms=[(0, 0), (0, 1)])
    few = replace(table(), bounds={k: b for k, b in table().bounds.items() if k[0] != (0, 1)})
    with pytest.raises(OtherArms, match="refresh"):
        policy.refresh(few)
    policy.refresh(few, arms=[(0, 0), (1, 1)])
    assert policy.spec.arms == ((0, 0), (1, 1))
    other = replace(few, treatments=("X1", "X3"), levels={**few.levels, "X3": (0, 1)})
    with pytest.raises(ForeignBounds):
        policy.refresh(other)


@pytest.mark.parametrize("name", ["TS", "UCB"])
def test_wrong_bounds_are_refuted_and_dropped(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = mirror(table())
    policy, trusting = make(name, wrong, monitor=0.05), make(name, wrong)
    for i in range(300):
        for one in (policy, trusting):
            decision = one.decide((0, 0), id=str(i))
            one.learn(decision, reward_of(decision))
    assert trusting.refutation is None
    assert policy.refutation is not None
    assert "refuted" in repr(policy)
    assert "no longer used" in caplog.text
    assert policy.decide((1, 1), id="x").truncated == ()
    back = Policy.from_state(json.loads(json.dumps(policy.state())))
    assert back.refutation == policy.refutation
    back.refresh(table())
    assert back.refutation is None
    back.refresh(wrong)
    assert back.refutation is not None


def test_right_bounds_survive_monitoring() -> None:
    for seed in range(10):
        policy = make("UCB", table(0.0), monitor=0.05, seed=seed)
        for decision in (
            policy.decide(CONTEXTS[i % 4], id=f"{seed}{i:03}") for i in range(300)
        ):
            policy.learn(decision, reward_of(decision))
        assert policy.refutation is None


# -- arms, contexts and bins ----------------------------------------------------------------------


def test_one_variable_is_a_scalar() -> None:
    rows = [
        {"Reminder": arm, "Age": age, "lower": 0.1, "upper": 0.9}
        for arm in ("call", "text")
        for age in ("older", "younger")
    ]
    known = BoundTable.from_rows(
        rows, outcome="Y", treatments=["Reminder"], context=["Age"], outcome_range=(0, 1)
    )
    for name in NAMES:
        policy = make(name, known)
        decision = policy.decide("older", id="patient 1")
        assert (decision.context, decision.values) == ("older", {"Reminder": decision.arm})
        assert set(decision.propensities) == {"call", "text"}
        assert policy.decide({"Age": "older"}, arms=[{"Reminder": "text"}]).arm == "text"
        policy.learn(Decision.from_json(decision.to_json(propensities=True)), 1.0)
        assert repr(decision).startswith(f"Decision(arm={decision.arm!r}, context='older'")
        assert policy.adopt("older", "call", id="x").values == {"Reminder": "call"}
    unnamed = make("TS", arms=["A", "B"], context=["Age"])
    assert unnamed.decide("q").values == {"arm": unnamed.decide("q", id="x").arm} or True


@each
def test_arms_of_a_call(name: str) -> None:
    policy = make(name, table())
    play(policy, 20)
    before = policy.state()
    assert policy.decide((0, 0), arms=[(1, 1)]).arm == (1, 1)
    few = policy.decide((0, 0), arms=[(1, 1), (0, 0)], id="x")
    assert set(few.propensities) == {(1, 1), (0, 0)}
    assert policy.decide((0, 0), arms=[(0, 0), (1, 1)], id="x") == few
    new = policy.decide((0, 0), arms=[(2, 1)])
    assert new.propensities == {(2, 1): 1.0}
    assert {**policy.state(), "ids": 0, "checksum": 0} == {**before, "ids": 0, "checksum": 0}
    policy.learn(Decision.from_json(new.to_json()), 1.0)
    assert policy.n_learned == 21
    assert Policy.from_state(policy.state()).state() == policy.state()
    with pytest.raises(BadArm, match="not held"):
        policy.learn(policy.adopt((0, 0), (5, 5), id="y"), 1.0)


@each
def test_numbers_find_their_bins(name: str) -> None:
    rows = [
        {"X": arm, "Age": age, "lower": 0.1, "upper": 0.6 + 0.3 * (arm == age[0])}
        for arm in ("<", ">")
        for age in ("< 30", ">= 30")
    ]
    known = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["Age"], outcome_range=(0, 1)
    )
    known = replace(known, bins={"Age": (30.0,)})
    policy, twin = make(name, known), make(name, known)
    for i in range(30):
        age = 20.0 + i
        one = policy.decide(age, id=str(i))
        two = twin.decide("< 30" if age < 30 else ">= 30", id=str(i))
        policy.learn(one, float(i % 3 == 0))
        twin.learn(two, float(i % 3 == 0))
        if name in LINEAR:
            assert one.context == age
        else:
            assert (one.context, one.arm) == (two.context, two.arm)
    assert policy.decide_many({"Age": [25.0, 45]})[0].context in (25.0, "< 30")
    with pytest.raises(OutsideDomain):
        policy.decide("middle-aged")


@each
def test_unknown_levels_get_the_whole_range_if_asked(name: str) -> None:
    with pytest.raises(OutsideDomain):
        make(name, table()).decide((0, 2))
    policy = make(name, table(0.01), unknown_levels="range")
    decision = policy.decide((0, 2))
    assert set(decision.propensities) == set(ARMS)
    policy.learn(decision, 1.0)
    with pytest.raises(OutsideDomain):
        policy.decide((0, "1"))


@each
def test_a_new_context_gets_room(name: str) -> None:
    policy = make(name, arms=[0, 1], context=["n"])
    for i in range(60):
        policy.learn(policy.decide(i, id=str(i)), float(i % 2))
    back = Policy.from_state(json.loads(json.dumps(policy.state())))
    assert back.decide(7, id="x") == policy.decide(7, id="x")


# -- bad input ------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda p, _: p.decide((0,)), WrongLength),
        (lambda p, _: p.decide((0, "0")), OutsideDomain),
        (lambda p, _: p.decide({"U1": 0}), BadContext),
        (lambda p, _: p.decide((0, float("nan"))), BadContext),
        (lambda p, _: p.decide((0, [1])), BadContext),
        (lambda p, _: p.decide((0, 0), id=3), BadOption),
        (lambda p, _: p.decide((0, 0), arms=[]), NeedsArms),
        (lambda p, _: p.decide((0, 0), arms=[("0", 1)]), BadArm),
        (lambda p, _: p.decide_many([(0, 0), (0, 5)]), OutsideDomain),
        (lambda p, _: p.decide_many([(0, 0)], ids=["a", "b"]), BadOption),
        (lambda p, _: p.decide_many("ab"), BadOption),
        (lambda p, d: p.learn(d, 2.0), BadReward),
        (lambda p, d: p.learn(d, "1"), BadReward),
        (lambda p, _: p.learn((0, 0), 1.0), NotADecision),
        (lambda p, d: p.learn(d, 1.0, observed=[1]), BounditError),
        (lambda p, d: p.learn_many([d, d], [1.0]), BadOption),
        (lambda p, d: p.learn_many([d, d], [1.0, 3.0]), BadReward),
        (lambda p, _: p.adopt((0, 0), (7, 7), id="x"), BadArm),
        (lambda p, _: p.refresh("table"), BadOption),
    ],
)
def test_bad_input_gets_one_line_and_changes_nothing(name: str, call: Any, error: Any) -> None:
    policy = make(name, table())
    play(policy, 5)
    decision = policy.decide((0, 0), id="d")
    before = policy.state()
    with pytest.raises(error) as caught:
        call(policy, decision)
    assert "\n" not in str(caught.value)
    assert policy.state() == before


@each
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"explore": 1.5}, "explore must be a probability"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"monitor": 0}, "monitor must be a probability"),
        ({"goal": "most"}, "goal must be 'max' or 'min'"),
        ({"unknown_levels": "guess"}, "unknown_levels must be"),
        ({"id_window": -3}, "id_window must be"),
        ({"reward_range": (1, 1)}, "the lower first"),
        ({"reward_range": (0, 2)}, "the bounds are for other rewards"),
        ({"arms": "AB"}, "arms must be a list"),
        ({"arms": [(0, 1), (0,)]}, "tuples of one length"),
        ({"arms": [(7, 7)]}, "the bounds are for other arms"),
        ({"context": ["U2", "U1"]}, "the bounds are for other contexts"),
        ({"watch": True}, "no option 'watch'; write monitor"),
        ({"remember": 3}, "write id_window"),
        ({"exlpore": 0.1}, "did you mean 'explore'"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, Any], line: str) -> None:
    with pytest.raises(BounditError, match=line):
        make(name, table(), **options)
    with pytest.raises(BadOption, match="prior must be a BoundTable"):
        KINDS[name][0](ARMS)


def test_an_unknown_option_is_a_type_error_too() -> None:
    assert issubclass(UnknownOption, TypeError)


@each
def test_foreign_and_damaged_states_are_refused(name: str, tmp_path: Any) -> None:
    policy = make(name, table())
    play(policy, 5)
    good = policy.state()
    other = "TS" if name != "TS" else "UCB"
    cases = [
        ({**good, "version": 3}, "release 0.2.0 wrote it"),
        ({**good, "version": 9}, "version 9"),
        ({**good, "format": "x"}, "no format"),
        ({**good, "n_learned": 7}, "it was changed"),
        ({**good, "policy": "Nobody"}, "Nobody|changed"),
        ("text", "not a state"),
    ]
    for state, line in cases:
        with pytest.raises(BounditError, match=line):
            (Policy if state == "text" else type(policy)).from_state(state)  # type: ignore[arg-type]
    with pytest.raises(BounditError, match="this is not a state of"):
        KINDS[other][0].from_state(good)
    (tmp_path / "broken.json").write_text(json.dumps(good)[:-20])
    with pytest.raises(BounditError, match="whole JSON"):
        Policy.load(tmp_path / "broken.json")
    with pytest.raises(BounditError, match=r"none\.json"):
        Policy.load(tmp_path / "none.json")


def test_no_policy_without_arms() -> None:
    for name in NAMES:
        kind, own = KINDS[name]
        policy = kind(**own)
        with pytest.raises(NeedsArms):
            policy.decide(())
        policy.refresh(planned_table())
        assert policy.decide((0, 0)).arm in ARMS


def test_it_says_what_it_is() -> None:
    policy = make("UCB", table())
    policy.learn(policy.decide((0, 0)), 1.0)
    assert repr(policy) == "<UCB: 4 arms, 4 contexts, 1 reward, 16 bounds>"
    assert policy.auxiliary_variables == ()
    assert "Fused" in policy.pooling_reason
