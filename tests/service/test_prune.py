from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from boundit.service import lifecycle as prune
from boundit.service.commands import CloseWindows
from boundit.service.errors import (
    DecisionPruned,
    NoSuchPolicy,
    StoreUnavailable,
    Unprocessable,
)
from boundit.service.events import to_datetime
from boundit.service.store.base import Store
from boundit.service.verify import replay_policy
from tests.service.kit import SetClock, decide, make_config, reward, run_engine


def _play(engine: object, clock: SetClock, name: str, n: int) -> None:
    for i in range(n):
        decide(engine, f"{name} {i}", i % 3)  # type: ignore[arg-type]
        reward(engine, f"{name} {i}", i % 2)  # type: ignore[arg-type]
        clock.move(1)


def _now(clock: SetClock) -> datetime:
    return to_datetime(clock.now)


@pytest.mark.parametrize("at_once", [4, 1000])
def test_what_is_pruned_is_gone_and_what_was_learned_stays(
    open_store: Callable[[], Store],
    clock: SetClock,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    monkeypatch.setattr(prune, "AT_ONCE", at_once)
    with run_engine(open_store(), make_config()) as engine:
        _play(engine, clock, "old", 10)
        moment = _now(clock)
        clock.move(5)
        _play(engine, clock, "new", 5)
        before = engine.replay("ads")
        state = engine._writer.folds["ads"].write_state()
        tallies = engine.list_daily_counts("ads")
        found = engine.prune("ads", moment)
        after = engine.replay("ads", decisions=True)

        assert (found.decisions, found.events, found.position) == (10, 30, 31)
        assert before.agrees
        assert after.differences == []
        assert after.decisions == 5
        for call in (decide, reward, lambda engine, name: engine.get_decision("ads", name)):
            with pytest.raises(DecisionPruned):
                call(engine, "old 3")
        assert decide(engine, "new 3").duplicate
        assert engine.list_daily_counts("ads") == tallies
        assert engine.prune("ads", moment).decisions == 0
        assert engine.show_policy("ads").pruned_before == moment
    with run_engine(open_store()) as engine:
        assert engine.show_policy("ads").learned_decisions == 15
        assert engine._writer.folds["ads"].write_state() == state


def test_decisions_that_are_open_stay_until_they_are_closed(
    store: Store, clock: SetClock
) -> None:
    with run_engine(store, make_config(window=60.0, default_reward=0.0)) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
        clock.move(10)
        assert engine.prune("ads", _now(clock)).decisions == 0
        assert decide(engine, "a").duplicate
        clock.move(60)
        engine.run(CloseWindows("ads"))
        clock.move(1)
        assert engine.prune("ads", _now(clock)).decisions == 1
        kinds = [event.kind for event in engine.list_events("ads")]
        assert engine.replay("ads", decisions=True).differences == []
        with pytest.raises(DecisionPruned):
            decide(engine, "a")

    assert kinds == ["created", "pruned", "pruned"]


def test_decisions_without_a_window_are_not_waited_for(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        clock.move(10)
        assert engine.prune("ads", _now(clock)).decisions == 1
        with pytest.raises(DecisionPruned):
            reward(engine, "a", 1.0)
        assert engine.show_policy("ads").open_decisions == 0


def test_another_engine_that_missed_what_was_pruned_starts_anew(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    with run_engine(open_store(), make_config()) as one, run_engine(open_store()) as other:
        decide(other, "seen by both")
        _play(one, clock, "old", 8)
        one.prune("ads", _now(clock))
        _play(one, clock, "new", 3)
        again = decide(other, "x", 1)
        assert again.state_position == one.show_policy("ads").state_position
        assert other.replay("ads").differences == []
        assert other._writer.folds["ads"].n_unlearned == 0


def test_a_damaged_base_is_an_error_and_no_guess(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    with run_engine(open_store(), make_config()) as engine:
        _play(engine, clock, "old", 4)
        engine.prune("ads", _now(clock))
    with open_store().write() as transaction:
        transaction._run("UPDATE snapshots SET state = replace(state, '1', '2')")
    with run_engine(open_store()) as engine, pytest.raises(StoreUnavailable, match="damaged"):
        decide(engine, "x")
    with pytest.raises(StoreUnavailable, match="damaged"):
        replay_policy(open_store(), "ads")


def test_the_future_is_not_pruned(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config()) as engine:
        with pytest.raises(Unprocessable, match="happened"):
            engine.prune("ads", _now(clock) + timedelta(days=1))
        with pytest.raises(NoSuchPolicy):
            engine.prune("none", _now(clock))
        assert engine.prune("ads", _now(clock)).position == 0
