"""Policies are changed, deleted, and single decisions erased, by events that replicas follow."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from boundit.service.commands import (
    CloseWindows,
    CreatePolicy,
    UpdatePolicy,
    UpdateRequest,
    convert_request,
)
from boundit.service.engine import Engine
from boundit.service.errors import (
    Conflict,
    DecisionPruned,
    NoSuchDecision,
    PolicyDeleted,
    StoreUnavailable,
    Unprocessable,
)
from boundit.service.export import export_log
from boundit.service.show import read_policies
from boundit.service.store.base import Store
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from boundit.service.verify import replay_policy
from tests.service.kit import SetClock, decide, make_config, reward, run_engine


def update(engine: Engine, **fields: float | None) -> None:
    request = convert_request(UpdateRequest, fields)
    engine.run(UpdatePolicy("ads", request))


def test_fields_are_changed_for_all_replicas_and_after_a_restart(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(open_store(), config) as one, run_engine(open_store()) as two:
        decide(one, "a")
        update(one, window=600.0, explore=0.5, monitor=None, retention=9.0)
        position = one.show_policy("ads").position
        decide(two, "b")
        clock.move(61)
        assert two.run(CloseWindows("ads")) == 1
        shown = two.show_policy("ads")
        update(two, explore=0.5)
        assert one.show_policy("ads").position == shown.position
        least = min(p.propensity for p in decide(one, "c").propensities)
        assert one.replay("ads", decisions=True).agrees
    with run_engine(open_store()) as engine:
        again = engine.show_policy("ads")
        assert engine.replay("ads", decisions=True).agrees

    assert position == 3
    assert (shown.window, shown.explore, shown.monitor, shown.retention) == (600, 0.5, None, 9)
    assert (again.window, again.explore, again.open_decisions) == (600, 0.5, 2)
    assert least >= 0.5 / 3


def test_a_change_that_makes_no_sense_is_refused(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        for fields in ({}, {"window": 60.0}, {"explore": 2.0}, {"retention": -1.0}):
            with pytest.raises(Unprocessable):
                update(engine, **fields)
        assert engine.show_policy("ads").position == 1


def test_a_deleted_policy_is_gone_and_no_other_gets_its_name(
    open_store: Callable[[], Store],
) -> None:
    with run_engine(open_store(), make_config()) as one, run_engine(open_store()) as two:
        for i in range(30):
            decide(one, f"{i}")
        decide(two, "30")
        made = two.delete("ads")
        for ask in (decide, reward):
            with pytest.raises(PolicyDeleted):
                ask(one, "0")
        for look in (one.show_policy, one.list_events, one.replay, one.get_bounds):
            with pytest.raises(PolicyDeleted):
                look("ads")
        assert one.list_policies() == []
        with pytest.raises(Conflict, match="not given again"):
            one.run(CreatePolicy(make_config()))
        for _ in range(10):
            one._look_after()
        assert one.delete("ads") == made
        with one.store.read() as transaction:
            assert not transaction.has_deleted()
            head = transaction.get_head("ads")
            assert head is not None
            events = transaction.list_events(head.id, 0, 100)
    assert [(event.position, event.kind) for event in events] == [(made.position, "deleted")]


@pytest.mark.parametrize("window", [None, 60.0])
def test_one_decision_is_erased_at_once_and_its_lesson_stays(
    open_store: Callable[[], Store], window: float | None
) -> None:
    with run_engine(open_store(), make_config(window=window)) as one:
        for i in range(6):
            decide(one, f"visitor {i}", i % 3)
            if i < 3:
                reward(one, f"visitor {i}", 1.0)
        state = one._writer.folds["ads"].write_state()
        found = one.erase("ads", "visitor 1")
        assert found.decisions == 1
        one.erase("ads", "visitor 5")
        with pytest.raises(DecisionPruned):
            one.get_decision("ads", "visitor 1")
        with pytest.raises(DecisionPruned):
            one.erase("ads", "visitor 1")
        with pytest.raises(NoSuchDecision):
            one.erase("ads", "nobody")
        assert decide(one, "visitor 2", 2).duplicate
        assert one._writer.folds["ads"].write_state() == state
        decide(one, "visitor 6")
        reward(one, "visitor 6", 0.0)
        assert one.replay("ads", decisions=True).differences == []
    with run_engine(open_store()) as two:
        with pytest.raises(DecisionPruned):
            decide(two, "visitor 1")
        assert two.prune("ads", datetime(2023, 11, 14, tzinfo=UTC)).decisions == 0
        assert two.replay("ads", decisions=True).differences == []
        events = b"".join(bytes(one.body) for one in two.list_events("ads"))
    assert b"visitor 1" not in events
    assert b"visitor 2" in events


def test_what_is_erased_is_in_no_file(tmp_path: Path) -> None:
    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        decide(engine, "a rather long name")
        reward(engine, "a rather long name", 1.0)
        engine.erase("ads", "a rather long name")
        found = [path.name for path in tmp_path.iterdir() if b"rather" in path.read_bytes()]

    assert found == []


def test_an_export_starts_after_a_position(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        for i in range(4):
            decide(engine, f"{i}")
            reward(engine, f"{i}", 1.0)
        lines = [
            len(b"".join(engine.export("ads", "jsonl", after=after)).splitlines())
            for after in (0, 7, 10_000)
        ]

    assert lines == [4, 2, 0]


def test_a_copy_that_nobody_may_write_to_is_shown_exported_and_verified(
    tmp_path: Path,
) -> None:
    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
    for path in tmp_path.iterdir():
        path.chmod(0o400)
    tmp_path.chmod(0o500)
    before = (tmp_path / FILE_NAME).read_bytes()
    store = SqliteStore(tmp_path, read_only=True)
    [shown] = read_policies(store)

    assert shown.learned_decisions == 1
    assert b"".join(export_log(store, "ads", "csv")).count(b"\n") == 2
    assert replay_policy(store, "ads", decisions=True).agrees
    with pytest.raises(StoreUnavailable), store.write() as transaction:
        transaction.touch()
    store.close()
    assert (tmp_path / FILE_NAME).read_bytes() == before
    tmp_path.chmod(0o700)


def test_effects_are_those_of_the_bounds_in_force(store: Store) -> None:
    plain = make_config("plain", bounds=None, arms=["A"], context=[])
    with run_engine(store, make_config(), plain) as engine:
        found = engine.get_effects("ads", "A")
        assert engine.get_effects("ads").confidence is None
        with pytest.raises(Unprocessable):
            engine.get_effects("ads", "nothing")
        with pytest.raises(Unprocessable):
            engine.get_effects("plain")

    assert found.baseline == {"Ad": "A"}
    assert len(found.rows) == 2 * (3 + 1)
    assert found.rows[0].lower == pytest.approx(0.05 - 0.9)
    assert {row.direction for row in found.rows} == {"inconclusive"}
