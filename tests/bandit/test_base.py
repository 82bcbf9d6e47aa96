"""The calls that all policies share are those of their base."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from boundit.bandit.base import BasePolicy
from boundit.bandit.decision import Decision
from boundit.bandit.errors import (
    BadArm,
    BadFeatures,
    BadOption,
    CannotMerge,
    ForeignBounds,
    NeedsArms,
    NotADecision,
)
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB
from boundit.bandit.prior.watch import Watch
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import (
    ARMS,
    CONTEXTS,
    NAMES,
    change,
    fewer_for_oam,
    make,
    play,
    table,
)

if TYPE_CHECKING:
    from boundit.terms.contrast import Pair

POLICIES = (KLUCB, LinTS, LinUCB, OAM, TS, UCB)
SHARED = (
    "decide",
    "learn",
    "refresh",
    "observes",
    "refutation",
    "fresh",
    "play",
    "merged",
    "state",
)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_overrides_a_shared_call(policy: type) -> None:
    assert issubclass(policy, BasePolicy)
    assert not set(SHARED) & vars(policy).keys()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_says_its_name_and_what_it_learned(policy: type[UCB]) -> None:
    made = policy(arms=["A", "B"]).fresh(horizon=10)
    made.learn(made.decide(), 1.0)

    assert repr(made).startswith(f"{policy.__name__}(2 arms, 1 reward learned")


def test_a_horizon_fills_what_is_unbound_and_a_seed_replaces() -> None:
    assert UCB(horizon=7).fresh(horizon=9).state()["options"]["horizon"] == 7
    assert UCB().fresh(horizon=9).state()["options"]["horizon"] == 9
    assert TS(seed=3).fresh().state()["options"]["seed"] == 3
    assert TS(seed=3).fresh(seed=0).state()["options"]["seed"] == 0
    assert UCB().fresh(seed=5).state()["options"]["seed"] == 5


def test_an_algorithm_without_its_steps_cannot_be_made() -> None:
    class Half(BasePolicy):  # type: ignore[type-arg]
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract,call-arg]


def played(policy: Callable[..., Any], **options: object) -> Any:
    made = policy(arms=["a", "b"], **options).fresh(horizon=99)
    for _ in range(12):
        made.learn(made.decide(), 1.0)
    return made


@pytest.mark.parametrize("policy", POLICIES)
def test_an_arm_neither_held_nor_passed_is_refused_and_changes_nothing(
    policy: type[UCB],
) -> None:
    made = played(policy)
    before = json.dumps(made.state())
    for arm, error in ((("z",), BadArm), (["a"], NotADecision)):
        decision = change(made.decide(id="x"), arm=arm)
        with pytest.raises(error):
            made.learn(decision, 1.0)
    assert json.dumps(made.state()) == before


@pytest.mark.parametrize("policy", [KLUCB, TS, UCB])
def test_an_arm_that_was_passed_is_learned_after_a_restart(policy: type[UCB]) -> None:
    made = played(policy)
    passed = made.decide(arms=["y", "z"])
    made.learn(Decision.from_json(passed.to_json()), 1.0)

    assert passed.arm in {("y",), ("z",)}
    assert len({passed, Decision.from_json(passed.to_json())}) == 1


@pytest.mark.parametrize("policy", POLICIES)
def test_only_policies_of_one_kind_and_settings_are_merged(policy: type[UCB]) -> None:
    made = played(policy)
    for other in POLICIES:
        if other is not policy:
            with pytest.raises(CannotMerge, match="cannot merge: a "):
                made.merged(played(other))
    with pytest.raises(CannotMerge, match=r"cannot merge: a .* and a NoneType"):
        made.merged(None)
    with pytest.raises(CannotMerge, match="watch"):
        made.merged(played(policy, watch=True))


def test_other_settings_do_not_merge() -> None:
    with pytest.raises(CannotMerge, match="other settings"):
        played(LinUCB, alpha=1.0).merged(played(LinUCB, alpha=2.0))
    with pytest.raises(CannotMerge, match="other features"):
        played(OAM, features=lambda _, arm: [1.0, float(arm == ("a",))]).merged(
            played(OAM, features=lambda _, arm: [2.0, float(arm == ("a",))])
        )


def test_features_that_fail_for_an_arm_not_offered_leave_no_trace() -> None:
    """OAM asks features of every arm held; whatever they raise, nothing was learned yet."""

    def features(_: object, arm: tuple[object, ...]) -> list[float]:
        if arm == ("c",):
            raise KeyError("no features of c")
        return [1.0, float(arm == ("a",))]

    made = OAM(arms=["a", "b", "c"], horizon=99, features=features)
    decision = made.decide(arms=["a", "b"])
    before = json.dumps(made.state())
    for _ in range(2):
        with pytest.raises(KeyError):
            made.learn(decision, 1.0)
    assert json.dumps(made.state()) == before


def test_features_of_a_size_that_rounding_drowns_are_refused() -> None:
    made = LinUCB(arms=["a", "b"], context=["Seconds"])

    with pytest.raises(
        BadFeatures, match="larger than 1,000,000; bring them to a size of about 1"
    ):
        made.decide({"Seconds": 1.7e9})
    own = LinUCB(arms=["a", "b"], features=lambda *_: [1e155])
    with pytest.raises(BadFeatures, match="larger than"):
        own.decide()


def test_a_failure_while_learning_leaves_no_trace() -> None:
    """The algorithm refuses features of a new length; the id must not count as learned."""
    policy = LinUCB(arms=["A"], features=lambda context, _: [1.0] * (1 + len(context)))
    long = policy.decide((1,), id="long")
    policy.learn(policy.decide(()), 1.0)
    before = policy.state()

    with pytest.raises(Exception, match="are 2 numbers, and this policy learns 1"):
        policy.learn(long, 1.0)

    assert policy.state() == before
    assert policy.n_learned == 1


def test_a_budget_plays_every_bounded_pair_that_often() -> None:
    policy = UCB(prior=table(0.05), horizon=400, watch=Watch(plays=2))

    decisions = play(policy, 200)

    played = [(d.context, d.arm) for d in decisions]
    assert min(played.count((c, a)) for c in CONTEXTS for a in ARMS) >= 2
    lazy = play(UCB(prior=table(0.05), horizon=400, watch=True), 200)
    assert (
        min([(d.context, d.arm) for d in lazy].count((c, a)) for c in CONTEXTS for a in ARMS)
        == 0
    )


def test_bounds_may_come_later() -> None:
    policy = UCB(arms=ARMS, context=["U1", "U2"], horizon=400)
    play(policy, 50)

    policy.refresh(table(0.01))

    assert policy.decide((1, 1)).arm == (1, 1)
    assert UCB.from_state(policy.state()).decide((1, 1)).arm == (1, 1)
    with pytest.raises(ForeignBounds):
        UCB(arms=[(7, 7)], context=["U1", "U2"], horizon=9).refresh(table())


def test_options_are_judged() -> None:
    with pytest.raises(BadOption, match="watch must be True, False or a Watch"):
        UCB(arms=["A"], watch=0.05)  # type: ignore[arg-type]


def test_a_copy_has_a_lock_of_its_own() -> None:
    policy = UCB(arms=["A"])

    twin = policy.copy_locked()

    assert twin._lock is not policy._lock
    assert twin.state() == policy.state()


def test_a_repeat_waits_until_the_first_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads hand in the same reward at once; the second must find it learned."""
    policy = UCB(arms=["A"], horizon=9)
    decision, inside, go_on = policy.decide(id="x"), Event(), Event()
    taken: list[float] = []

    def slowly(_: Decision, reward: float, _observed: object) -> None:
        taken.append(reward)
        inside.set()
        go_on.wait(60)

    monkeypatch.setattr(policy, "take", slowly)
    first = Thread(target=policy.learn, args=(decision, 1.0))
    second = Thread(target=policy.learn, args=(decision, 0.5))
    first.start()
    inside.wait(60)
    second.start()
    second.join(0.1)
    go_on.set()
    first.join(60)
    second.join(60)

    assert taken == [1.0]


def test_a_policy_says_in_one_line_what_it_is() -> None:
    policy = LinUCB(arms=["A", "B"])
    assert str(policy) == "LinUCB(2 arms, 0 rewards learned, no bounds)"
    policy.learn(policy.decide(), 1.0)
    assert repr(policy) == "LinUCB(2 arms, 1 reward learned, no bounds)"
    assert repr(UCB(prior=table())) == "UCB(4 arms, 0 rewards learned, 16 bounds)"
    assert repr(KLUCB()) == "KLUCB(no arms, 0 rewards learned, no bounds)"

    watched = KLUCB(prior=table(0.0), watch=True)
    for i in range(200):
        watched.learn(watched.decide((0, 0), id=str(i)), 1.0)
    assert repr(watched).endswith("16 bounds, refuted)")


def test_copies_name_their_decisions_otherwise_and_a_restored_policy_counts_on() -> None:
    policy = UCB(arms=["A"], horizon=9)
    policy.decide()
    others = [policy, deepcopy(policy), policy.fresh()]
    restored = UCB.from_state(policy.state())

    found = [other.decide().id for other in others]
    assert len(set(found)) == 3
    assert restored.decide().id == found[0]


def test_under_a_seed_the_same_calls_give_the_same_ids() -> None:
    one, two = UCB(arms=["A"], horizon=9, seed=3), UCB(arms=["A"], horizon=9, seed=3)

    assert [one.decide().id for _ in range(3)] == [two.decide().id for _ in range(3)]
    assert one.fresh(seed=4).decide().id != two.fresh().decide().id


@pytest.mark.parametrize("policy", POLICIES)
def test_a_decision_changes_the_count_alone(policy: type[UCB]) -> None:
    made = played(policy, seed=1)
    before = made.state()
    for i in range(3):
        made.decide(id=f"mine {i}")
        made.decide()
    after = made.state()

    differ = {name for name, part in before.items() if after[name] != part}
    assert differ == {"ids", "checksum"}
    assert after["ids"] == {**before["ids"], "count": before["ids"]["count"] + 3}
    with pytest.raises(NeedsArms):
        made.decide(arms=[])
    assert made.state() == after


def test_a_foreign_decision_is_still_judged() -> None:
    """What was read before is known at once; what was not is read."""
    policy = LinUCB(prior=table())
    good = policy.decide((0, 0), id="x")
    before = policy.state()

    for bad in (change(good, context=(0, 7)), change(good, context=([0], 0))):
        with pytest.raises(BounditError):
            policy.learn(bad, 1.0)
    for wrong in (5, None, ["x"]):
        with pytest.raises(NotADecision, match="its id is no text: "):
            policy.learn(change(good, id=wrong), 1.0)
        with pytest.raises(NotADecision, match="its id is no text: "):
            policy.learn_many([good, change(good, id=wrong)], [1.0, 1.0])
    assert policy.state() == before


def test_a_context_is_read_once_unless_another_policy_decided() -> None:
    policy, other = LinUCB(prior=table()), LinUCB(arms=table().arms, context=["U1", "U2"])
    mine, theirs = policy.decide((0, 0)), other.decide((0, 7))
    before = policy.state()

    assert mine.reasons.spec is policy.spec
    assert Decision.from_json(mine.to_json()).reasons.spec is None
    with pytest.raises(OutsideDomain):
        policy.learn(theirs, 1.0)
    assert policy.state() == before
    policy.refresh(table())
    assert mine.reasons.spec is not policy.spec
    policy.learn(mine, 1.0)
    assert policy.n_learned == 1


@pytest.mark.parametrize("name", NAMES)
def test_beaten_arms_are_not_played_and_count_as_skipped(name: str) -> None:
    """3.8, for every policy; without an arm that beats them they are played."""
    beaten: dict[Pair, float] = {(c, arm, ARMS[3]): -0.01 for c in CONTEXTS for arm in ARMS[:2]}
    policy = make(name, prior=replace(table(None), contrasts=beaten))

    found = play(policy, fewer_for_oam(name, 60))

    assert {decision.arm for decision in found} <= set(ARMS[2:])
    assert all(d.skipped >= 2 and d.index.keys() <= set(ARMS[2:]) for d in found)
    assert policy.decide(CONTEXTS[0], arms=ARMS[:1]).arm == ARMS[0]
    assert policy.decide(CONTEXTS[0], arms=ARMS[:1]).skipped == 0


@pytest.mark.parametrize("name", NAMES)
def test_contrasts_that_rule_nothing_out_change_no_pull(name: str) -> None:
    said: dict[Pair, float] = {
        (c, a, b): 0.0 for c in CONTEXTS for a in ARMS for b in ARMS if a != b
    }
    plain, more = make(name, prior=table(None)), replace(table(None), contrasts=said)

    assert [d.arm for d in play(plain, fewer_for_oam(name, 60))] == [
        d.arm for d in play(make(name, prior=more), fewer_for_oam(name, 60))
    ]


@pytest.mark.parametrize("prior", [None, table(0.2)])
def test_a_policy_without_a_plan_ignores_what_is_observed(prior: object) -> None:
    policy = make("UCB", prior=prior)  # type: ignore[arg-type]

    policy.learn(policy.decide((0, 0)), 1.0, observed={"W": "whatever"})

    assert policy.n_learned == 1
    assert policy.observes == ()


@pytest.mark.parametrize("name", NAMES)
def test_an_adopted_decision_teaches_what_the_own_one_does(name: str) -> None:
    own, other = make(name, prior=table(0.2), seed=1), make(name, prior=table(0.2), seed=1)
    for i in range(30):
        decision = own.decide(CONTEXTS[i % len(CONTEXTS)], id=f"{i}")
        adopted = other.adopt(decision.context, decision.arm, id=f"{i}", branch=decision.branch)
        own.learn(decision, i % 2)
        other.learn(adopted, i % 2)

    assert other.state() == own.state()


def test_an_arm_that_is_not_held_is_adopted_only_if_it_was_passed() -> None:
    policy = LinUCB(arms=[1, 2], context=["Age"])

    policy.learn(policy.adopt((0.5,), (7,), id="a", passed=True), 1.0)

    assert policy.n_learned == 1
    with pytest.raises(BadArm, match="not held"):
        policy.adopt((0.5,), (7,), id="b")
