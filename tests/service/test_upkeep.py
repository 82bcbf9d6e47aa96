import time
from collections.abc import Callable
from pathlib import Path

import pytest

from boundit.service import reward as close
from boundit.service.commands import CloseWindows, Decide, DecideRequest
from boundit.service.errors import StoreUnavailable
from boundit.service.http.metrics import make_metrics
from boundit.service.maintenance import Upkeep
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.kit import SetClock, decide, make_config, reward, run_engine, write_metrics


def test_policies_with_windows_that_are_due_are_listed(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config(window=60.0), make_config("other")) as engine:
        decide(engine, "a")
        decide(engine, "a", policy="other")
        upkeep = Upkeep(store, engine._writer)
        assert upkeep.list_closings() == []
        clock.move(60)
        assert upkeep.list_closings() == [CloseWindows("ads")]


def test_policies_that_others_wrote_to_are_listed(open_store: Callable[[], Store]) -> None:
    with run_engine(open_store(), make_config()) as one, run_engine(open_store()) as other:
        decide(other, "a")
        upkeep = Upkeep(other.store, other._writer)
        assert upkeep.list_closings() == []
        reward(one, "a", 1.0)
        assert upkeep.list_closings() == [CloseWindows("ads")]
        other.run(CloseWindows("ads"))
        assert upkeep.list_closings() == []


def test_more_windows_than_a_transaction_takes_are_closed_by_the_writer_itself(
    store: Store, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(close, "AT_ONCE", 10)
    monkeypatch.setattr("boundit.service.engine.AT_ONCE", 10)
    with run_engine(store, make_config(window=60.0), tick=0.02) as engine:
        engine.run(Decide("ads", [DecideRequest(None, 0)] * 55))
        clock.move(60)
        ends = time.monotonic() + PATIENCE
        while engine.show_policy("ads").open_decisions and time.monotonic() < ends:
            pass
        assert engine.show_policy("ads").open_decisions == 0


def test_a_snapshot_is_kept_after_enough_events(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        upkeep = Upkeep(store, engine._writer)
        for i in range(3):
            decide(engine, f"{i}")
            reward(engine, f"{i}", 1.0)
        upkeep.keep_snapshots(100)
        assert _count(store) == 0
        upkeep.keep_snapshots(5)
        upkeep.keep_snapshots(5)
        assert _count(store) == 1


def test_a_store_that_fails_is_no_end_of_upkeep(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        reward(engine, "a", 1.0)
        upkeep = Upkeep(store, engine._writer)
        with monkeypatch.context() as patch:

            def fail(_: object) -> None:
                raise StoreUnavailable("gone")

            patch.setattr(type(store), "read", fail)
            patch.setattr(type(store), "write", fail)
            assert upkeep.list_closings() == []
            upkeep.keep_snapshots(1)
        upkeep.keep_snapshots(1)
        assert _count(store) == 1


def _count(store: Store) -> int:
    with store.read() as transaction:
        return len(transaction.list_snapshots(transaction.list_heads()[0].id))


def test_a_clock_that_was_ahead_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = SetClock()
    with run_engine(SqliteStore(tmp_path, clock=clock), make_config()) as engine:
        clock.move(30)
        decide(engine, "a")
        clock.move(-20)
        upkeep = Upkeep(engine.store, engine._writer)
        for _ in range(2):
            upkeep.list_closings()
        make_metrics(engine)
        text = write_metrics(engine)
        decide(engine, "b")
        clock.move(20)
        after = write_metrics(engine)

    assert [m for m in caplog.messages if "20.0 s ahead of the clock" in m] == caplog.messages
    assert len(caplog.messages) == 1
    assert 'boundit_policy_last_event_age_seconds{policy="ads"} -20.0' in text
    assert 'boundit_policy_last_event_age_seconds{policy="ads"} 0.0' in after
