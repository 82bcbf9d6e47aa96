import pytest

from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    GiveRewards,
    RewardRequest,
)
from boundit.service.config import PolicyConfig
from boundit.service.errors import Conflict, NoSuchDecision, Unprocessable
from boundit.service.store.base import Store
from tests.service.http.served import run_server
from tests.service.kit import (
    SetClock,
    decide,
    make_config,
    make_planned_table,
    reward,
    run_engine,
    save,
)


def test_an_equal_repeat_changes_nothing_and_another_is_refused(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        first = reward(engine, "a", 1.0)
        again = reward(engine, "a", 1.0)
        with pytest.raises(Conflict):
            reward(engine, "a", 0.0)
        shown = engine.show_policy("ads")

    assert (first.status, again.status) == ("learned", "duplicate")
    assert first.position == again.position
    assert (shown.position, shown.learned_decisions) == (4, 1)


def test_the_last_reward_replaces_while_the_window_is_open(
    store: Store, clock: SetClock
) -> None:
    with run_engine(store, make_config(window=60.0, reward_aggregation="last")) as engine:
        decide(engine, "a")
        told = [reward(engine, "a", one).status for one in (0.1, 0.7, 0.7, 0.1)]
        clock.move(60)
        engine.run(CloseWindows("ads"))
        late = [reward(engine, "a", one).status for one in (0.7, 0.2, 0.2)]
        assert reward(engine, "a", 0.3, reward_id="later").status == "late"
        found = engine.get_decision("ads", "a")

    assert told == ["pending", "pending", "duplicate", "duplicate"]  # a retry undoes nothing
    assert late == ["duplicate", "late", "duplicate"]
    assert (found.learned_reward, found.late_rewards) == (0.7, 2)


def test_a_reward_after_its_window_is_late_though_nobody_closed_it(
    store: Store, clock: SetClock
) -> None:
    with run_engine(store, make_config(window=60.0, default_reward=0.0)) as engine:
        for name in ("a", "b", "c"):
            decide(engine, name)
        reward(engine, "b", 1.0)
        clock.move(60)
        assert reward(engine, "c", 1.0).status == "pending"
        clock.move(0.001)
        assert [reward(engine, name, 1.0).status for name in "aab"] == [
            "late",
            "duplicate",
            "duplicate",
        ]
        engine.run(CloseWindows("ads"))
        found = [engine.get_decision("ads", name) for name in "abc"]
        shown = engine.show_policy("ads")

    assert [(one.learned_reward, one.late_rewards) for one in found] == [
        (0.0, 1),
        (1.0, 0),
        (1.0, 0),
    ]
    assert shown.learned_decisions == 3


def test_what_was_observed_as_true_is_not_one(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        engine.run(GiveRewards("ads", [RewardRequest("a", observed={"x": 1})]))
        with pytest.raises(Conflict):
            engine.run(GiveRewards("ads", [RewardRequest("a", observed={"x": True})]))


def test_what_comes_late_is_kept_and_not_learned(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config(window=60.0, default_reward=0.0)) as engine:
        decide(engine, "a")
        clock.move(60)
        engine.run(CloseWindows("ads"))
        before = engine.show_policy("ads").state_position
        assert reward(engine, "a", 1.0).status == "late"
        assert reward(engine, "a", 1.0).status == "duplicate"
        found = engine.get_decision("ads", "a")
        kinds = [event.kind for event in engine.list_events("ads")]
        tallies = engine.list_daily_counts("ads")

        assert engine.show_policy("ads").state_position == before
    assert (found.learned_reward, found.late_rewards) == (0.0, 1)
    assert kinds == ["created", "decided", "closed", "rewarded"]
    assert sum(row.late_rewards for row in tallies) == 1


def test_observations_come_with_the_reward_or_by_themselves(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        assert reward(engine, "a", observed={"Mood": 1}).status == "pending"
        assert reward(engine, "a", observed={"Mood": 1}).status == "duplicate"
        with pytest.raises(Conflict, match="Mood"):
            reward(engine, "a", observed={"Mood": 2})
        assert reward(engine, "a", 1.0, observed={"Mood": 1, "Sky": "x"}).status == "learned"
        assert reward(engine, "a", observed={"Late": 1}).status == "late"
        found = engine.get_decision("ads", "a")

    assert found.observed == {"Mood": 1, "Sky": "x", "Late": 1}


def test_an_unknown_decision_is_said(store: Store) -> None:
    with run_engine(store, make_config()) as engine, pytest.raises(NoSuchDecision):
        reward(engine, "nobody", 1.0)


def test_a_batch_of_rewards_is_taken_whole_or_not_at_all(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        batch = [RewardRequest("a", 1.0), RewardRequest("b", 1.0)]
        with pytest.raises(NoSuchDecision) as caught:
            engine.run(GiveRewards("ads", batch))
        assert caught.value.row == 1
        assert engine.show_policy("ads").position == 2
        twice = [RewardRequest("a", 1.0), RewardRequest("a", 1.0)]
        found = engine.run(GiveRewards("ads", twice)).rewards
    assert [one.status for one in found] == ["learned", "duplicate"]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (RewardRequest("a"), None),
        (RewardRequest("a", 1.5), "$.reward"),
        (RewardRequest("a", float("nan")), "$.reward"),
        (RewardRequest("a", 0.5, reward_id="x" * 300), "$.reward_id"),
        (RewardRequest("a", played="Z"), "$.played"),
        (RewardRequest("a", propensity=0.5), "$.propensity"),
    ],
)
def test_rewards_that_cannot_be_meant_are_refused(
    store: Store, request_: RewardRequest, field: str | None
) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        with pytest.raises(Unprocessable) as caught:
            engine.run(GiveRewards("ads", [request_]))
        assert caught.value.field == field
        assert engine.show_policy("ads").position == 2


def test_a_sum_beyond_the_range_is_refused(store: Store) -> None:
    with run_engine(store, make_config(window=60.0, reward_aggregation="sum")) as engine:
        decide(engine, "a")
        reward(engine, "a", 0.6, reward_id="one")
        with pytest.raises(Unprocessable, match="from 0 to 1"):
            reward(engine, "a", 0.6, reward_id="two")
        assert reward(engine, "a", 0.4, reward_id="two").status == "pending"


def test_the_arm_played_is_told_once(store: Store) -> None:
    with run_engine(store, make_config(shadow=True)) as engine:
        decide(engine, "a")
        assert reward(engine, "a", 1.0).status == "pending"
        assert reward(engine, "a", played="B").status == "learned"
        assert reward(engine, "a", played={"Ad": "B"}).status == "duplicate"
        with pytest.raises(Conflict):
            reward(engine, "a", played="C")


@pytest.mark.parametrize("late", [False, True])
def test_a_variable_that_the_policy_does_not_know_is_refused_and_nothing_changes(
    store: Store, clock: SetClock, *, late: bool
) -> None:
    config = PolicyConfig(
        name="ads", kind="Fused", bounds=save(make_planned_table()), window=60.0
    )
    with run_engine(store, config) as engine:
        asked = [DecideRequest(name, {"Age": 0}) for name in "ab"]
        engine.run(Decide("ads", asked))
        if late:
            clock.move(61)
            engine.run(CloseWindows("ads"))
        before = engine.show_policy("ads").position
        slip = RewardRequest("b", 1.0, observed={"WW": 0})
        with pytest.raises(Unprocessable, match=r"'WW'.*did you mean 'W'\? it uses W"):
            engine.run(GiveRewards("ads", [RewardRequest("a", 1.0), slip]))
        assert engine.show_policy("ads").position == before
        told = [reward(engine, "b", 1.0, observed={"W": 0}).status]
        told += [reward(engine, "a", 1.0).status]

    assert told == (["late"] if late else ["pending"]) * 2


def test_over_http_it_is_422_for_one_reward_and_for_many(store: Store) -> None:
    config = PolicyConfig(name="ads", kind="Fused", bounds=save(make_planned_table()))
    with run_engine(store, config) as engine, run_server(engine) as served:
        context = {"Age": 0}
        served.post("/v1/policies/ads/decide", {"id": "a", "context": context})
        slip = {"id": "a", "reward": 1, "observed": {"WW": 1}}
        answers = [
            served.post("/v1/policies/ads/reward", slip),
            served.post("/v1/policies/ads/reward/batch", {"rewards": [slip]}),
        ]
        shown = engine.show_policy("ads")

    assert [answer.status for answer in answers] == [422, 422]
    assert all(b"did you mean 'W'" in answer.text for answer in answers)
    assert shown.learned_decisions == 0
