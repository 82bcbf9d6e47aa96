"""The calls that all policies share go through one door."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from boundit.bandit.base import BasePolicy
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadArm, BadFeatures, CannotMerge, NotADecision
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB

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
def test_no_policy_has_a_door_of_its_own(policy: type) -> None:
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
    assert "seed" not in UCB().fresh(seed=5).state()["options"]


def test_an_algorithm_without_its_steps_cannot_be_made() -> None:
    class Half(BasePolicy):  # type: ignore[type-arg]
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


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
        decision = replace(made.decide(), arm=arm)
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
    with pytest.raises(CannotMerge):
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
