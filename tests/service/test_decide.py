from collections.abc import Callable

import pytest

from boundit.service.commands import Decide, DecideRequest
from boundit.service.config import PolicyConfig, make_policy
from boundit.service.decide import make_id
from boundit.service.errors import Conflict, Unprocessable
from boundit.service.store.base import Store
from tests.service.kit import KINDS, decide, make_config, reward, run_engine


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_are_those_of_the_library(store: Store, kind: str) -> None:
    config = make_config(kind=kind, explore=0.1)
    policy = make_policy(config)
    with run_engine(store, config) as engine:
        for i in range(12):
            found = decide(engine, f"{i}", i % 3)
            made = policy.decide({"Age": i % 3}, id=f"{i}")
            assert (found.arm, found.propensity) == ({"Ad": made.arm}, made.propensity)
            assert [one.propensity for one in found.propensities] == list(
                made.propensities.values()
            )
            reward(engine, f"{i}", i % 2)
            policy.learn(made, i % 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_decides_as_its_rows_alone(store: Store, kind: str) -> None:
    policy = make_policy(make_config(kind=kind, explore=0.2))
    requests = [DecideRequest(f"{i}", i % 3) for i in range(30)]
    with run_engine(store, make_config(kind=kind, explore=0.2)) as engine:
        found = engine.run(Decide("ads", requests)).decisions

    made = [policy.decide((i % 3,), id=f"{i}") for i in range(30)]
    assert [one.arm["Ad"] for one in found] == [one.arm for one in made]
    assert [one.position for one in found] == list(range(2, 32))
    assert {one.state_position for one in found} == {1}


def test_another_payload_under_an_id_is_refused(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a", arms=["A", "B"])
        assert decide(engine, "a", arms=["B", "A"]).duplicate
        for change in ({"age": 1}, {"arms": None}, {"arms": ["A"]}, {"played": "A"}):
            with pytest.raises(Conflict):
                decide(engine, "a", **{"arms": ["A", "B"], **change})  # type: ignore[arg-type]
        with pytest.raises(Conflict):
            decide(engine, "a", 99, arms=["A", "B"])
        assert engine.show_policy("ads").position == 2


def test_true_is_another_payload_than_one(store: Store) -> None:
    config = make_config(kind="LinUCB", bounds=None, arms=["A", "B"], context=["t"])
    with run_engine(store, config) as engine:
        engine.run(Decide("ads", [DecideRequest("a", [1])]))
        engine.run(Decide("ads", [DecideRequest("a", [1.0])]))
        for batch in (
            [DecideRequest("a", [True])],
            [DecideRequest("b", [x]) for x in (1, True)],
        ):
            with pytest.raises(Conflict, match="context"):
                engine.run(Decide("ads", batch))


def test_a_batch_is_decided_whole_or_not_at_all(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        with pytest.raises(Unprocessable) as caught:
            engine.run(Decide("ads", [DecideRequest("a", 0), DecideRequest("b", 99)]))
        assert caught.value.row == 1
        assert engine.show_policy("ads").position == 1


def test_a_visitor_named_twice_in_a_batch_is_decided_once(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        twice = [DecideRequest("a", 0), DecideRequest("b", 0), DecideRequest("a", 0)]
        found = engine.run(Decide("ads", twice)).decisions
        with pytest.raises(Conflict):
            engine.run(Decide("ads", [DecideRequest("c", 0), DecideRequest("c", 1)]))
    assert [one.duplicate for one in found] == [False, False, True]
    assert found[0].arm == found[2].arm


def test_what_the_caller_played_is_learned_and_what_the_policy_would_do_is_told(
    store: Store,
) -> None:
    with run_engine(store, make_config()) as engine:
        found = [decide(engine, f"{i}", played={"Ad": "C"}, propensity=0.25) for i in range(20)]
        for i in range(20):
            reward(engine, f"{i}", 1.0)
        rows = engine.list_daily_counts("ads")

    assert {one.played["Ad"] for one in found} == {"C"}
    assert {one.propensity for one in found} == {0.25}
    assert len({one.arm["Ad"] for one in found}) > 1
    assert [(row.arm, row.rewards) for row in rows] == [({"Ad": "C"}, 20)]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (DecideRequest("", 0), "$.id"),
        (DecideRequest("x" * 201, 0), "$.id"),
        (DecideRequest("a\0", 0), "$.id"),
        (DecideRequest("a", 0, arms=[]), "$.arms"),
        (DecideRequest("a", 0, arms=[["A", "B"]]), "$.arms"),
        (DecideRequest("a", 0, played="Z"), "$.played"),
        (DecideRequest("a", 0, propensity=0.5), "$.propensity"),
        (DecideRequest("a", 0, played="A", propensity=0.0), "$.propensity"),
        (DecideRequest("a", 0, played="A", propensity=1.5), "$.propensity"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    store: Store, request_: DecideRequest, field: str
) -> None:
    with run_engine(store, make_config()) as engine:
        with pytest.raises(Unprocessable) as caught:
            engine.run(Decide("ads", [request_]))
        assert caught.value.field == field


def test_large_whole_numbers_are_kept_whole(store: Store) -> None:
    config = make_config(kind="UCB", bounds=None, arms=["A"], context=["n"])
    with run_engine(store, config) as engine:
        for _ in range(2):
            found = engine.run(Decide("ads", [DecideRequest("a", 2**70 + 1)])).decisions[0]
            assert found.context == {"n": 2**70 + 1}


def test_ids_made_later_come_later() -> None:
    found = [make_id() for _ in range(5)]

    assert len({*found}) == 5
    assert [one[:12] for one in found] == sorted(one[:12] for one in found)


def test_distinct_contexts_are_limited_and_known_ones_still_decided(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boundit.service.values.MOST_CONTEXTS", 3)
    config = PolicyConfig(
        name="open", kind="UCB", arms=["A"], context=["Age"], reward_range=(0, 1)
    )
    with run_engine(open_store(), config) as engine:
        for i in range(3):
            decide(engine, f"{i}", i, policy="open")
        reward(engine, "0", 1.0, policy="open")
        with pytest.raises(Unprocessable, match="3 distinct contexts at most") as refused:
            decide(engine, "3", 3, policy="open")
        assert refused.value.field == "$.context"
        assert not decide(engine, "4", 0, policy="open").duplicate
        reward(engine, "1", 1.0, policy="open")
        reward(engine, "2", 1.0, policy="open")
        decide(engine, "open", 1, policy="open")
    with run_engine(open_store()) as engine:
        assert decide(engine, "2", 2, policy="open").duplicate
        with pytest.raises(Unprocessable, match="3 distinct contexts"):
            decide(engine, "5", 5, policy="open")
