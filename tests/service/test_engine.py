import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from boundit.service.commands import (
    CloseWindows,
    CreatePolicy,
    Decide,
    DecideRequest,
    GiveRewards,
    RewardRequest,
)
from boundit.service.engine import Engine
from boundit.service.errors import (
    Conflict,
    FailedCommand,
    NoSuchDecision,
    NoSuchPolicy,
    StoreUnavailable,
    Unavailable,
    Unprocessable,
)
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore
from tests.service.kit import SetClock, count, decide, make_config, reward, run_engine


def test_a_stored_decision_comes_back_after_learning_and_after_a_restart(
    open_store: Callable[[], Store],
) -> None:
    with run_engine(open_store(), make_config()) as engine:
        first = decide(engine, "a")
        assert reward(engine, "a", 1.0).status == "learned"
        again = decide(engine, "a")
    with run_engine(open_store()) as engine:
        later = decide(engine, "a")

    assert (first.duplicate, again.duplicate, later.duplicate) == (False, True, True)
    for one in (again, later):
        assert (one.arm, one.propensities, one.position, one.decided_at) == (
            first.arm,
            first.propensities,
            first.position,
            first.decided_at,
        )


def test_without_an_id_every_visitor_gets_one(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        found = [decide(engine) for _ in range(20)]

    assert len({one.id for one in found}) == 20


def test_an_equal_policy_may_be_created_again_and_no_other(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        again = engine.run(CreatePolicy(make_config()))
        with pytest.raises(Conflict):
            engine.run(CreatePolicy(make_config(explore=0.5)))

    assert again.position == 1


def test_windows_close_in_the_order_they_were_due(store: Store, clock: SetClock) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(store, config) as engine:
        for i in range(3):
            decide(engine, f"{i}")
            clock.move(10)
        assert reward(engine, "2", 1.0).status == "pending"
        clock.move(45)
        assert engine.run(CloseWindows("ads")) == 2
        clock.move(60)
        assert engine.run(CloseWindows("ads")) == 1
        found = [engine.get_decision("ads", f"{i}") for i in range(3)]
        tallies = engine.list_daily_counts("ads")

    assert [one.learned_reward for one in found] == [0.0, 0.0, 1.0]
    assert sum(row.default_rewards for row in tallies) == 2


def test_commands_of_threads_and_tasks_are_answered(store: Store) -> None:
    with run_engine(store, make_config()) as engine:

        async def ask(n: int) -> set[str]:
            asked = [engine.ask(Decide("ads", [DecideRequest(f"{i}", 0)])) for i in range(n)]
            return {answer.decisions[0].id for answer in await asyncio.gather(*asked)}

        threads = [threading.Thread(target=decide, args=(engine, f"t{i}")) for i in range(8)]
        for thread in threads:
            thread.start()
        found = asyncio.run(ask(40))
        for thread in threads:
            thread.join()
        shown = engine.show_policy("ads")

    assert found == {f"{i}" for i in range(40)}
    assert shown.open_decisions == 48


def test_one_bad_command_fails_alone(store: Store) -> None:
    words = make_config("words", "UCB", bounds=None, arms=["A", "B"], context=["word"])
    with run_engine(store, make_config(), words) as engine:
        good = [engine.submit(Decide("ads", [DecideRequest(f"{i}", 0)])) for i in range(3)]
        bad = engine.submit(Decide("ads", [DecideRequest("x", 99)]))
        missing = engine.submit(Decide("none", [DecideRequest("x", 1)]))

        assert [one.result().decisions[0].id for one in good] == ["0", "1", "2"]
        with pytest.raises(Unprocessable):
            bad.result()
        with pytest.raises(NoSuchPolicy):
            missing.result()
        for name in ("x", "\0", "\ud800", ""):
            with pytest.raises(NoSuchDecision):
                engine.get_decision("ads", name)
        for name in ("a/b", "\0", "\ud800", ""):
            with pytest.raises(NoSuchPolicy):
                engine.run(Decide(name, [DecideRequest("x", 1)]))
            with pytest.raises(NoSuchPolicy):
                engine.show_policy(name)
        surrogate = engine.submit(Decide("words", [DecideRequest("s", "\ud800")]))
        other = engine.submit(Decide("words", [DecideRequest("t", "word")]))
        with pytest.raises((FailedCommand, Unprocessable)):
            surrogate.result()
        assert other.result().decisions[0].id == "t"


def test_a_full_queue_is_an_error_to_the_caller(open_store: Callable[[], Store]) -> None:
    nine = Decide("ads", [DecideRequest(None, 0)] * 9)
    with run_engine(open_store(), make_config(), queue=10) as engine:
        with open_store().write():  # so that the writer cannot begin
            waiting = engine.submit(nine)
            with pytest.raises(Unavailable):
                engine.submit(nine)
        assert len(waiting.result().decisions) == 9
        assert engine.n_waiting == 0
        assert len(engine.run(nine).decisions) == 9


def test_what_waits_is_written_before_the_engine_stops(
    open_store: Callable[[], Store],
) -> None:
    with run_engine(open_store(), make_config()) as engine:
        waiting = [engine.submit(Decide("ads", [DecideRequest(f"{i}", 0)])) for i in range(50)]
    assert all(one.result().decisions for one in waiting)
    with pytest.raises(Unavailable):
        engine.submit(Decide("ads", [DecideRequest()]))
    with pytest.raises(Unavailable):
        Engine(open_store()).submit(Decide("ads", [DecideRequest()]))
    with run_engine(open_store()) as engine:
        assert engine.show_policy("ads").open_decisions == 50


def test_a_store_that_fails_is_a_problem_until_it_works_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with run_engine(store, make_config()) as engine:
        assert engine.problem is None
        store._writer.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreUnavailable, match="readonly"):
            decide(engine, "a")
        assert "readonly" in (engine.problem or "")
        store._writer.execute("PRAGMA query_only = 0")
        assert not decide(engine, "a").duplicate
        assert engine.problem is None
        assert (count(engine, "store_failures"), count(engine, "written_rows")) == (1, 3)
    assert engine.problem == "the writer does not run"


def _visit(name: str) -> Decide:
    return Decide("ads", [DecideRequest(name, 0)])


async def _ask_many(engine: Engine, n: int, first: str) -> list[str]:
    found = await asyncio.gather(*(engine.ask(_visit(f"{first}{i}")) for i in range(n)))
    told = (GiveRewards("ads", [RewardRequest(f"{first}{i}", i % 2)]) for i in range(n))
    await asyncio.gather(*map(engine.ask, told))
    return [one.decisions[0].id for one in found]


def test_loops_and_threads_write_side_by_side_and_replay_agrees(store: Store) -> None:
    with run_engine(store, make_config(), tick=0.01) as engine:
        threads = [
            threading.Thread(target=lambda i=i: asyncio.run(_ask_many(engine, 30, f"{i}-")))
            for i in range(3)
        ]
        for thread in threads:
            thread.start()
        for i in range(30):
            decide(engine, f"own {i}")
            reward(engine, f"own {i}", 1.0)
        for thread in threads:
            thread.join()
        shown = engine.show_policy("ads")
        report = engine.replay("ads", decisions=True)

    assert (shown.open_decisions, shown.learned_decisions) == (0, 120)
    assert shown.position == 1 + 3 * 120
    assert report.differences == []


def test_a_loop_that_cannot_write_at_once_leaves_it_to_the_writer(tmp_path: Path) -> None:
    async def ask(engine: Engine) -> None:
        await engine.ask(_visit("first"))
        with SqliteStore(tmp_path).write():  # so that nobody can begin
            waiting = asyncio.ensure_future(engine.ask(_visit("second")))
            done, _ = await asyncio.wait([waiting], timeout=0.05)
            assert not done
        await waiting

    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        asyncio.run(ask(engine))
        assert engine.show_policy("ads").open_decisions == 2


def test_a_loop_that_ended_before_it_wrote_keeps_nobody_from_writing(tmp_path: Path) -> None:
    async def leave(engine: Engine) -> None:
        asyncio.ensure_future(engine.ask(_visit("left")))  # noqa: RUF006, nobody waits for it
        await asyncio.sleep(0)

    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        asyncio.run(leave(engine))
        assert asyncio.run(engine.ask(_visit("next"))).decisions[0].id == "next"
        assert not decide(engine, "own").duplicate
