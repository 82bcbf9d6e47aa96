import random
from collections.abc import Callable
from threading import Event

import pytest

from boundit.service.commands import CloseWindows
from boundit.service.errors import DecisionPruned
from boundit.service.maintenance import Retention
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from tests.service.kit import SetClock, decide, make_config, reward, run_engine

DAY = 86_400.0


def test_what_is_over_for_so_many_days_is_erased_and_what_was_learned_stays(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    with run_engine(open_store(), make_config(retention=2.0)) as engine:
        retention = Retention(engine.store, engine.prune)
        for i in range(4):
            decide(engine, f"{i}")
            reward(engine, f"{i}", 1.0)
            clock.move(DAY)
            retention.erase_due()
        found = [event.kind for event in engine.list_events("ads")]
        for name in ("0", "1"):
            with pytest.raises(DecisionPruned):
                decide(engine, name)
            with pytest.raises(DecisionPruned):
                reward(engine, name, 1.0)
        assert decide(engine, "2").duplicate
        assert engine.show_policy("ads").learned_decisions == 4
        assert engine.replay("ads", decisions=True).differences == []

    assert found.count("pruned") == 2
    assert found.count("closed") == 2


def test_what_waits_for_its_window_stays(store: Store, clock: SetClock) -> None:
    config = make_config(retention=1.0, window=3 * DAY, default_reward=0.0)
    with run_engine(store, config) as engine:
        retention = Retention(store, engine.prune)
        decide(engine, "a")
        for _ in range(3):
            clock.move(DAY)
            retention.erase_due()
            assert decide(engine, "a").duplicate
        engine.run(CloseWindows("ads"))
        assert decide(engine, "a").duplicate
        clock.move(1.1 * DAY)
        retention.erase_due()
        with pytest.raises(DecisionPruned):
            decide(engine, "a")


def test_where_nothing_is_old_nothing_is_written(store: Store, clock: SetClock) -> None:
    """Else every look would add an event, and those would be too old some day."""
    with run_engine(store, make_config(retention=1.0), make_config("other")) as engine:
        retention = Retention(store, engine.prune)
        for policy in ("ads", "other"):
            decide(engine, "a", policy=policy)
        for _ in range(6):
            clock.move(DAY)
            retention.erase_due()
        kinds = [event.kind for event in engine.list_events("ads")]
        others = [event.kind for event in engine.list_events("other")]

    assert kinds == ["created", "pruned"]
    assert others == ["created", "decided"]


def test_an_engine_erases_by_itself(store: Store, clock: SetClock) -> None:
    """And leaves the random numbers of the program alone."""
    before = random.getstate()
    with run_engine(store, make_config(retention=1.0), erase_every=0.01) as engine:
        decide(engine, "a")
        clock.move(2 * DAY)
        for _ in range(6000):
            if (
                engine.show_policy("ads").open_decisions == 0
            ):  # after what it keeps from now on is said
                break
            Event().wait(0.01)
        with pytest.raises(DecisionPruned):
            engine.get_decision("ads", "a")

    # psycopg's pool draws from the shared generator; nothing of ours does.
    assert random.getstate() == before or isinstance(store, PostgresStore)


def test_a_store_that_fails_is_tried_again(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config(retention=1.0)) as engine:
        decide(engine, "a")
        clock.move(2 * DAY)

        def fail(name: str, _: object) -> None:
            raise OSError(name)

        Retention(store, fail).erase_due()
        assert decide(engine, "a").duplicate
        Retention(store, engine.prune).erase_due()
        with pytest.raises(DecisionPruned):
            decide(engine, "a")
