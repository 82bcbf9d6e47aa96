import logging
import resource
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path

import pytest

from boundit.results.bound_table import BoundTable
from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    GiveRewards,
    RefreshBounds,
    RefreshRequest,
    RewardRequest,
)
from boundit.service.errors import StoreUnavailable
from boundit.service.group import GroupWriter
from boundit.service.kinds import compile_kind
from boundit.service.lifecycle import NewBounds, NewPolicy
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore
from tests.service.kit import (
    decide,
    make_config,
    make_table,
    reward,
    run_engine,
    save,
)


@pytest.fixture(autouse=True)
def compiled() -> None:
    """A writer compiles nothing."""
    for kind in ("TS", "UCB"):
        compile_kind(kind).result()


def test_decisions_of_a_group_see_the_state_before_it(
    open_store: Callable[[], Store],
) -> None:
    with run_engine(open_store(), make_config()) as engine:
        decide(engine, "a")
    writer = GroupWriter(open_store())

    answers = writer.process(
        [
            GiveRewards("ads", [RewardRequest("a", 1.0)]),
            Decide("ads", [DecideRequest("b", 0)]),
        ]
    )

    assert answers[1].decisions[0].position == 3
    assert answers[1].decisions[0].state_position == 1
    assert answers[0].rewards[0].position == 4
    assert writer.folds["ads"].state_position == 1
    writer.settle()
    assert writer.folds["ads"].state_position == 5


def test_new_bounds_come_alone_and_the_rest_waits(store: Store) -> None:
    refresh = RefreshBounds("ads", RefreshRequest(save(make_table(top=0.8))))
    with run_engine(store, make_config()) as engine:
        writer = GroupWriter(engine.store)
        answers = writer.process([Decide("ads", [DecideRequest("a", 0)]), NewBounds(refresh)])
        assert answers[0] is None
        assert answers[1].bounds_version == 2
        futures = [
            engine.submit(refresh),
            engine.submit(Decide("ads", [DecideRequest("a", 0)])),
        ]
        wait(futures)
        assert futures[1].result().decisions[0].id == "a"


def test_two_commands_with_one_new_id_follow_each_other(store: Store) -> None:
    with run_engine(store, make_config()) as engine:
        writer = GroupWriter(engine.store)
        same = [Decide("ads", [DecideRequest("a", 0)])] * 2
        answers = writer.process(same)
        assert answers[1] is None
        assert writer.process(same[:1])[0].decisions[0].duplicate


def test_a_refutation_is_an_event_once(store: Store) -> None:
    rows = make_config(kind="UCB", monitor=0.2, arms=["C"])
    with run_engine(store, rows) as engine:
        for i in range(60):
            decide(engine, f"{i}", 0)
            reward(engine, f"{i}", 1.0)
        found = [event for event in engine.list_events("ads") if event.kind == "refuted"]
        shown = engine.show_policy("ads")
        engine.run(CloseWindows("ads"))

    assert len(found) == 1
    assert shown.refuted is not None
    assert "refuted at level" in shown.refuted


def test_logs_tell_of_a_refutation_without_the_context(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The event has it, and whoever asks for the log of everything."""
    secret = 1_234_567
    cells = [{"Ad": "C", "Age": age, "lower": 0, "upper": 0.5} for age in (0, secret)]
    names = {"outcome": "Click", "treatments": ["Ad"], "context": ["Age"]}
    table = BoundTable.from_rows(cells, **names, outcome_range=(0, 1))  # type: ignore[arg-type]
    config = make_config(kind="UCB", monitor=0.05, bounds=save(table))
    with caplog.at_level(logging.INFO), run_engine(store, config) as engine:
        for i in range(60):
            decide(engine, f"{i}", secret)
            reward(engine, f"{i}", 1.0)
        shown = engine.show_policy("ads").refuted

    assert str(secret) in str(shown)
    assert "refuted at level" in caplog.text
    assert str(secret) not in caplog.text


def test_a_policy_that_was_not_committed_is_not_remembered(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    writer = GroupWriter(store)
    new = NewPolicy(make_config(kind="UCB"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.path.stat().st_size, limits[1]))
    try:
        with pytest.raises(StoreUnavailable):
            writer.process([new, Decide("ads", [DecideRequest("a", 0)])])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with run_engine(SqliteStore(tmp_path), make_config(kind="TS")):
        pass  # another process takes the name, and the number that was given back

    answers = writer.process([Decide("ads", [DecideRequest("a", 0)])])

    assert writer.folds["ads"].config.kind == "TS"
    assert answers[0].decisions[0].position == 2
    store.close()
