"""What one policy does, or one caller sends, keeps nobody else waiting."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from boundit.service.commands import (
    CreatePolicy,
    Decide,
    DecideRequest,
    RefreshBounds,
    RefreshRequest,
)
from boundit.service.engine import Engine
from boundit.service.errors import Unavailable
from boundit.service.http.access import Limits
from boundit.service.http.metrics import make_metrics
from boundit.service.keys import add_key
from boundit.service.state import Fold, load_fold
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.http.served import run_server
from tests.service.kit import (
    SetClock,
    count,
    decide,
    make_config,
    make_table,
    reward,
    run_engine,
    save,
    write_metrics,
)


@pytest.fixture
def locked(postgres_url: str) -> Iterator[Engine]:
    """Policies ``ads`` and ``other``, and the row of ``ads`` is held by somebody else."""
    store = PostgresStore(postgres_url)
    with (
        run_engine(store, make_config(), make_config("other")) as engine,
        psycopg.connect(postgres_url) as holder,
    ):
        holder.execute("SELECT * FROM boundit.policies WHERE name = 'ads' FOR UPDATE")
        yield engine


def test_a_locked_row_stops_its_own_policy_alone_and_is_told(locked: Engine) -> None:
    waiting = [locked.submit(Decide("ads", [DecideRequest(f"{i}", 0)])) for i in range(3000)]
    for i in range(5):
        assert not decide(locked, f"{i}", policy="other").duplicate
    assert not any(one.done() for one in waiting)
    for one in (waiting[0], waiting[-1]):
        with pytest.raises(Unavailable, match="another process") as caught:
            one.result(PATIENCE)
        assert caught.value.retry_after == 1
    assert locked.n_waiting == 0


def test_a_locked_policy_takes_no_room_of_others(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    with (
        run_engine(store, make_config(), make_config("other"), queue=100) as engine,
        psycopg.connect(postgres_url) as holder,
    ):
        holder.execute("SELECT * FROM boundit.policies WHERE name = 'ads' FOR UPDATE")
        waiting = [engine.submit(Decide("ads", [DecideRequest("first", 0)]))]
        decide(engine, "a", policy="other")  # by then it is known that the row is locked
        more = (engine.submit(Decide("ads", [DecideRequest(f"{i}", 0)])) for i in range(200))
        with pytest.raises(Unavailable, match="another process"):
            waiting.extend(more)
        for i in range(150):
            assert not decide(engine, f"{i}", policy="other").duplicate
        assert not any(one.done() for one in waiting)
        holder.rollback()
        for one in waiting:
            assert not one.result(PATIENCE).decisions[0].duplicate
        assert engine.n_waiting == 0


def test_whoever_looks_at_a_locked_policy_is_told_and_keeps_nobody_waiting(
    locked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boundit.service.engine.DEADLINE", 2.0)
    with run_server(locked) as served, ThreadPoolExecutor(50) as pool:
        looks = [pool.submit(served.ask, "GET", "/v1/policies/ads") for _ in range(50)]
        assert served.ask("GET", "/readyz").status == 200
        decided = served.post("/v1/policies/other/decide", {"context": {"Age": 1}})
        metrics = served.ask("GET", "/metrics").text.decode()
        listed = served.ask("GET", "/v1/policies")
        assert not all(one.done() for one in looks)
        answers = [one.result(PATIENCE) for one in looks]

    assert decided.status == 200
    assert [one["name"] for one in listed.json["policies"]] == ["ads", "other"]
    assert 'boundit_policy_position{policy="ads"} 1.0' in metrics
    assert {one.status for one in answers} == {503}
    assert {one.error["code"] for one in answers} == {"policy_locked"}


def test_a_row_that_is_free_again_is_written_in_its_turn(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    with run_engine(store, make_config()) as engine:
        with psycopg.connect(postgres_url) as holder:
            holder.execute("SELECT * FROM boundit.policies FOR UPDATE")
            waiting = engine.submit(Decide("ads", [DecideRequest("a", 0)]))
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
        assert waiting.result(PATIENCE).decisions[0].position == 2


def test_windows_of_many_policies_close_and_visitors_come_between(
    store: Store, clock: SetClock
) -> None:
    """More than one statement of PostgreSQL has parameters for."""
    n = 1200 if isinstance(store, PostgresStore) else 100
    names = [f"p{i}" for i in range(n)]
    plain: dict[str, Any] = {"bounds": None, "arms": ["A", "B"], "context": [], "window": 60.0}
    configs = [make_config(name, default_reward=0.0, **plain) for name in names]
    with run_engine(store, *configs) as engine:
        for one in [engine.submit(Decide(name, [DecideRequest()])) for name in names]:
            one.result(PATIENCE)
    clock.move(61)
    with run_engine(_again(store, clock), tick=0.01) as engine:
        for _ in range(3000):
            if not any(head.open_decisions for head in _list_heads(engine)):
                break
            threading.Event().wait(0.02)
        assert not any(head.open_decisions for head in _list_heads(engine))
        engine.require_ready()


def _list_heads(engine: Engine) -> list[Any]:
    with engine.store.read() as transaction:
        return list(transaction.list_heads())


def _again(store: Store, clock: SetClock) -> Store:
    if isinstance(store, PostgresStore):
        return PostgresStore(store._url, clock=clock)
    assert isinstance(store, SqliteStore)
    return SqliteStore(store.path.parent, clock=clock)


def test_a_locked_policy_whose_windows_wait_leaves_the_server_ready(
    postgres_url: str, clock: SetClock
) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(PostgresStore(postgres_url, clock=clock), config) as engine:
        decide(engine, "a")
    clock.move(600)
    with (
        psycopg.connect(postgres_url) as holder,
        run_engine(PostgresStore(postgres_url, clock=clock)) as engine,
    ):
        holder.execute("SELECT * FROM boundit.policies FOR UPDATE")
        for _ in range(2):
            engine._look_after()
        engine.require_ready()
        overdue = 'boundit_policy_overdue_seconds{policy="ads"} '
        make_metrics(engine)
        assert f"{overdue}540.0" in write_metrics(engine)
        holder.rollback()
        for _ in range(2):
            engine._look_after()
        engine.require_ready()
        assert f"{overdue}0.0" in write_metrics(engine)
        assert engine.show_policy("ads").learned_decisions == 1


def test_six_exports_leave_decisions_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, begun, go = SqliteStore(tmp_path), threading.Event(), threading.Event()
    secret = add_key(store, "all", ["admin"]).secret

    def export(*_: object, **__: object) -> Iterator[bytes]:
        begun.set()
        go.wait(PATIENCE)
        yield b"a\n"

    with (
        run_engine(store, make_config()) as engine,
        run_server(engine) as served,
        ThreadPoolExecutor(6) as pool,
    ):
        monkeypatch.setattr(engine, "export", export)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        exports: list[Future[Any]] = [
            pool.submit(served.ask, "GET", "/v1/policies/ads/export", b"", headers)
            for _ in range(6)
        ]
        assert begun.wait(PATIENCE)
        threading.Event().wait(1.2)  # so that the keys are read again
        try:
            answer = served.ask(
                "POST", "/v1/policies/ads/decide", b'{"context": {"Age": 1}}', headers
            )
            assert answer.status == 200
            assert not any(one.done() for one in exports)
        finally:
            go.set()
        assert {one.result(PATIENCE).status for one in exports} == {200}


def test_more_arms_than_a_call_may_have_are_refused(tmp_path: Path) -> None:
    with (
        run_engine(SqliteStore(tmp_path), make_config()) as engine,
        run_server(engine) as served,
    ):
        arms = ["A", *(f"n{i}" for i in range(1000))]
        path, visit = "/v1/policies/ads/decide", {"context": {"Age": 1}}
        refused = served.post(path, {**visit, "arms": arms})
        rows = [{**visit, "arms": arms[:1000]}] * 11
        batch = served.post(f"{path}/batch", {"decisions": rows})

    assert (refused.status, refused.error["field"]) == (422, "$.arms")
    assert "1,000 arms" in refused.error["message"]
    assert batch.status == 413


def test_arms_are_refused_and_counted_before_anybody_waits(tmp_path: Path) -> None:
    with (
        run_engine(SqliteStore(tmp_path), make_config(), queue=10) as engine,
        run_server(engine, Limits(rate=20)) as served,
    ):
        path, visit = "/v1/policies/ads/decide", {"context": {"Age": 1}}
        first = served.post(path, {**visit, "arms": ["A", "B"]})
        many = served.post(path, {**visit, "arms": ["A", *map(str, range(100_000))]})
        after = served.post(path, visit)

    assert [one.status for one in (first, many, after)] == [200, 422, 429]
    assert "rows a second" in after.error["message"]
    assert 60 < int(after.headers["retry-after"]) <= 501


@pytest.mark.parametrize(
    "body",
    [
        b'{"decisions": [' + b"{}," * 1_000_000 + b"{}]}",
        b'{"decisions": [{"arms": [' + b"1," * 4_000_000 + b"1]}]}",
    ],
    ids=["rows", "arms"],
)
def test_a_body_of_millions_of_values_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    """To read it would hold the lock that all threads need."""
    read = list[object]()
    monkeypatch.setattr("boundit.service.http.app.read_request", lambda *_: read.append(1))
    with run_engine(SqliteStore(tmp_path)) as engine, run_server(engine) as served:
        refused = served.ask("POST", "/v1/policies/ads/decide/batch", body)

    assert (refused.status, refused.error["code"]) == (413, "body_too_large")
    assert not read


def test_a_policy_is_made_and_shown_outside_of_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read a large table of bounds takes a while, in which nobody could be answered."""
    made, restore = list[str](), Fold.start.__func__  # type: ignore[attr-defined]

    def note(cls: type[Fold], *given: Any) -> Fold:
        made.append(threading.current_thread().name)
        found: Fold = restore(cls, *given)
        return found

    monkeypatch.setattr(Fold, "start", classmethod(note))
    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        assert engine.run(CreatePolicy(make_config())).position == 1
        decide(engine, "a")
        reward(engine, "a", 1.0)
        assert engine.replay("ads", decisions=True).agrees

    assert made
    assert "boundit writer" not in made


def test_a_store_that_cannot_be_written_keeps_the_event_loop_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, loops, write = SqliteStore(tmp_path), list[object](), SqliteStore.write

    def note(own: SqliteStore) -> Any:
        loops.append(asyncio._get_running_loop())
        return write(own)

    monkeypatch.setattr(SqliteStore, "write", note)
    with (
        run_engine(store, make_config()) as engine,
        run_server(engine) as served,
        closing(sqlite3.connect(store.path, isolation_level=None)) as holder,
        ThreadPoolExecutor(1) as pool,
    ):
        path, visit = "/v1/policies/ads/decide", {"context": {"Age": 1}}
        for _ in range(20):
            assert served.post(path, visit).status == 200
        holder.execute("BEGIN IMMEDIATE")
        asked = pool.submit(served.post, path, visit)
        with pytest.raises(TimeoutError):
            asked.result(0.2)
        for page in ("/healthz", "/readyz", "/metrics"):
            assert served.get(page).status == 200
        assert not asked.done()
        holder.execute("ROLLBACK")
        assert asked.result(PATIENCE).status == 200

    assert len(loops) >= 22
    assert set(loops) == {None}


def test_decisions_go_on_while_new_bounds_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from boundit.results.bound_table import BoundTable  # noqa: PLC0415

    begun, go, read = threading.Event(), threading.Event(), BoundTable.from_record

    def wait(*given: Any, **more: Any) -> Any:
        begun.set()
        go.wait(PATIENCE)
        return read(*given, **more)

    with (
        run_engine(SqliteStore(tmp_path), make_config(), make_config("other")) as engine,
        run_server(engine) as served,
        ThreadPoolExecutor(1) as pool,
    ):
        monkeypatch.setattr(BoundTable, "from_record", wait)
        refresh = RefreshBounds("ads", RefreshRequest(save(make_table(top=0.8))))
        body = {"bounds": refresh.request.bounds}
        asked = pool.submit(served.ask, "PUT", "/v1/policies/ads/bounds", body)
        assert begun.wait(PATIENCE)
        for name in ("other", "ads"):
            path = f"/v1/policies/{name}/decide"
            assert served.post(path, {"context": {"Age": 1}}).status == 200
        assert not asked.done()
        go.set()
        assert asked.result(PATIENCE).json["bounds_version"] == 2


def test_others_go_on_while_a_policy_is_read_into_memory(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a server begins, and where another one replaced the bounds."""
    with run_engine(open_store(), make_config(), make_config("other")) as first:
        decide(first, "a")
    begun, go, read = threading.Event(), threading.Event(), load_fold

    def wait(transaction: Any, head: Any, **more: Any) -> Fold:
        if head.name == "ads":
            begun.set()
            assert go.wait(PATIENCE)
        return read(transaction, head, **more)

    with (
        run_engine(open_store()) as first,
        run_engine(open_store(), patient=False) as second,
        ThreadPoolExecutor(1) as pool,
    ):
        decide(first, "b")
        monkeypatch.setattr("boundit.service.group.load_fold", wait)
        for i in range(2):
            asked = pool.submit(decide, second, f"c{i}")
            assert begun.wait(PATIENCE)
            assert not decide(second, f"d{i}", policy="other").duplicate
            assert not asked.done()
            go.set()
            assert asked.result(PATIENCE).bounds_version == i + 1
            begun.clear()
            go.clear()
            table = RefreshRequest(save(make_table(top=0.8)))
            first.run(RefreshBounds("ads", table))
        go.set()
        assert second.replay("ads", decisions=True).agrees


def test_readiness_takes_no_turn_and_sees_windows_that_do_not_close(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(open_store(), config) as engine:
        decide(engine, "a")
    clock.move(60 + 30)
    with run_engine(open_store()) as engine:
        rows = count(engine, "groups")
        engine.require_ready()
        assert count(engine, "groups") == rows
        engine._upkeep.list_closings()
        engine.require_ready()
        clock.move(60)
        engine._upkeep.list_closings()
        with pytest.raises(Unavailable, match="windows have not been closed"):
            engine.require_ready()
