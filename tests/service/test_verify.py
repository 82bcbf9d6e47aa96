from collections.abc import Callable
from pathlib import Path

import pytest

from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    RefreshBounds,
    RefreshRequest,
)
from boundit.service.errors import NoSuchPolicy
from boundit.service.events import to_datetime
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore
from boundit.service.verify import describe_replay, replay_policy
from tests.service.kit import (
    KINDS,
    SetClock,
    decide,
    make_config,
    make_table,
    reward,
    run_engine,
    save,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_replay_agrees_with_memory_snapshots_and_every_decision(
    open_store: Callable[[], Store], clock: SetClock, kind: str
) -> None:
    config = make_config(kind=kind, window=60.0, default_reward=0.0, explore=0.1)
    wider = save(make_table(top=0.95, arms=("A", "B", "C", "D")))
    for part in range(2):
        with run_engine(open_store(), config) as engine:
            for i in range(15):
                decide(engine, f"{part} {i}", i % 3)
                if i % 2:
                    reward(engine, f"{part} {i}", 1.0)
                clock.move(7)
                engine.run(CloseWindows("ads"))
            batch = [DecideRequest(f"{part} b{i}", i % 3, ["A", "B"]) for i in range(5)]
            engine.run(Decide("ads", batch))
            engine.run(RefreshBounds("ads", RefreshRequest(wider)))
            found = engine.replay("ads", decisions=True)
            assert found.differences == []
            assert found.decisions == 20 * (part + 1)
    store = open_store()
    assert len(replay_policy(store, "ads").snapshots) == 2


def test_a_changed_event_shows(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        for i in range(6):
            decide(engine, f"{i}")
            reward(engine, f"{i}", 1.0)
        with store.write() as transaction:
            transaction._run(
                "UPDATE events SET body = replace(body, '\"reward\":1.0', '\"reward\":0.5') "
                "WHERE kind = 'closed' AND position = 10"
            )
        found = engine.replay("ads", decisions=True)

        assert any("state in memory" in one for one in found.differences)
        assert any("would be another" in one for one in found.differences)
        assert "DIFFERS" in describe_replay(found)


def test_an_event_that_is_gone_shows(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        for i in range(4):
            decide(engine, f"{i}")
        with store.write() as transaction:
            transaction._run("DELETE FROM events WHERE position = 3")
        found = engine.replay("ads", decisions=True)

        assert not found.agrees
        assert "are gone" in describe_replay(found)


def test_a_decision_closed_twice_shows(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
        with store.write() as transaction:
            transaction._run(
                "INSERT INTO events SELECT policy, 5, at, kind, body FROM events "
                "WHERE kind = 'closed'"
            )
        found = engine.replay("ads")

        assert any("closed at 5" in one for one in found.differences)


def test_a_damaged_snapshot_shows(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config()) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
    store = open_store()
    with store.write() as transaction:
        transaction._run("UPDATE snapshots SET state = replace(state, '1', '2')")

    assert replay_policy(store, "ads").differences == ["the snapshot at 4 is damaged"]


def test_another_release_is_told_and_not_compared(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config()) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
    store = open_store()
    with store.write() as transaction:
        transaction._run("UPDATE snapshots SET boundit = '9.9'")
    found = replay_policy(store, "ads")

    assert found.agrees
    assert "boundit 9.9" in describe_replay(found)
    with pytest.raises(NoSuchPolicy):
        replay_policy(store, "none")


def test_a_late_reward_of_what_was_pruned_is_no_difference(tmp_path: Path) -> None:
    clock = SetClock()
    config = make_config(window=10.0, default_reward=0.0)
    with run_engine(SqliteStore(tmp_path, clock=clock), config) as engine:
        decide(engine, "old")
        clock.move(20)
        engine.run(CloseWindows("ads"))
        clock.move(20)
        moment = to_datetime(clock.now)
        decide(engine, "new")
        assert reward(engine, "old", 1.0).status == "late"
        decide(engine, "newer")
        assert engine.prune("ads", moment).decisions == 1
        report = engine.replay("ads", decisions=True)

    assert report.differences == []
    assert f"position {report.position:,} with the server's" in describe_replay(report)
