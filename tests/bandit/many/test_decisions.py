"""Decisions for many visitors are those of a loop, bit for bit, for every policy."""

import pickle
from typing import Any

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.many.decisions import Decisions, number_by_first
from boundit.bandit.policy import Policy
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import ARMS, CONTEXTS, NAMES, make, planned_table, play, table

PRIORS = {"none": None, "bounds": table(0.15), "plan": planned_table()}


def make_pair(name: str, prior: str, **options: object) -> tuple[Any, Any]:
    """Two policies that learned the same few rewards."""
    pair = tuple(make(name, prior=PRIORS[prior], **options) for _ in range(2))
    for policy in pair:
        play(policy, 12)
    return pair[0], pair[1]


def draw_contexts(n: int, seed: int = 0) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    return [CONTEXTS[i] for i in rng.integers(len(CONTEXTS), size=n)]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_a_loop(name: str, prior: str) -> None:
    one, many = make_pair(name, prior)
    contexts = [CONTEXTS[3], *(c for c in draw_contexts(20) if c != CONTEXTS[3])]

    expected = [one.decide(context) for context in contexts]
    decisions = many.decide_many(contexts)

    assert isinstance(many, Policy)
    assert list(decisions) == expected
    assert decisions.arms == [decision.arm for decision in expected]
    assert decisions.ids == [decision.id for decision in expected]
    assert many.state() == one.state()
    assert many.decide(contexts[0]) == one.decide(contexts[0])


@pytest.mark.parametrize("name", NAMES)
def test_some_explore_as_in_a_loop(name: str) -> None:
    one, many = make_pair(name, "bounds", explore=0.5)
    contexts, ids = draw_contexts(30), [f"v{i}" for i in range(30)]

    expected = [one.decide(c, id=name) for c, name in zip(contexts, ids, strict=True)]
    decisions = many.decide_many(contexts, ids)

    assert list(decisions) == expected
    assert decisions.arms == [decision.arm for decision in expected]
    assert [d.propensities for d in decisions] == [d.propensities for d in expected]
    assert len({decision.branch for decision in expected}) > 1
    rewards = np.linspace(0, 1, 30)
    for decision, reward in zip(expected, rewards, strict=True):
        one.learn(decision, reward)
    many.learn_many(decisions, rewards)
    assert many.state()["statistics"] == one.state()["statistics"]


@pytest.mark.parametrize("name", NAMES)
def test_arms_may_be_passed_for_the_call(name: str) -> None:
    one, many = make_pair(name, "bounds")
    contexts, arms = draw_contexts(6), [ARMS[3], ARMS[1]]

    expected = [one.decide(context, arms=arms) for context in contexts]

    assert list(many.decide_many(contexts, arms=arms)) == expected


@pytest.mark.parametrize("name", ["LinUCB", "TS"])
def test_what_was_decided_stays_as_it_was(name: str) -> None:
    one, many = make_pair(name, "bounds")
    contexts = draw_contexts(5)
    expected = [one.decide(context) for context in contexts]
    expected = [Decision.from_json(decision.to_json()) for decision in expected]

    decisions = many.decide_many(contexts)
    many.learn_many(decisions, np.ones(5))

    assert list(decisions) == expected


def test_they_are_a_sequence() -> None:
    decisions = make("TS").decide_many(draw_contexts(4), ids=list("abcd"))

    assert isinstance(decisions, Decisions)
    assert [decision.id for decision in decisions[1:3]] == ["b", "c"]
    assert decisions[-1] == decisions[3]
    assert decisions[2] in decisions
    assert repr(decisions).startswith("Decisions(4 in ")
    assert pickle.loads(pickle.dumps(decisions)) == list(decisions)
    with pytest.raises(IndexError):
        decisions[4]


def test_nobody_may_come() -> None:
    policy = make("TS")
    before = policy.state()

    decisions = policy.decide_many([])
    policy.learn_many(decisions, [])

    assert list(decisions) == decisions.arms == []
    assert policy.state() == before


@pytest.mark.parametrize("name", ["LinUCB", "LinTS", "OAM"])
def test_features_of_users_are_asked_for_each_context(name: str) -> None:
    def features(context: Any, arm: Any) -> list[float]:
        if context == (7,):
            raise BounditError("no seven")
        return [1.0, float(context[0] == arm[0])]

    options: dict[str, Any] = {"features": features, "arms": [0, 1], "context": ["U"]}
    one, many = make(name, **options), make(name, **options)

    expected = [one.decide(c) for c in (0, 1, 2, 0)]
    assert list(many.decide_many([0, 1, 2, 0])) == expected
    before = many.state()
    with pytest.raises(BounditError, match=r"^row 2: no seven"):
        many.decide_many([0, 1, 7, 7])
    assert many.state() == before


def test_kinds_are_numbered_as_they_come() -> None:
    firsts, numbers = number_by_first(np.array([], np.int64))
    assert firsts == []
    assert numbers.tolist() == []
