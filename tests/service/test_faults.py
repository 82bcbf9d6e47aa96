"""Disks that are full, files that are damaged, databases that go and come back."""

import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from boundit.service.commands import CloseWindows
from boundit.service.engine import Engine
from boundit.service.errors import StoreUnavailable, Unavailable
from boundit.service.events import to_datetime
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from tests.cli.service.served import Caller, run_serve
from tests.postgres import run_server as run_database
from tests.service.http.served import Served, run_server
from tests.service.kit import SetClock, decide, make_config, reward, run_engine

PAGE = 4096


@contextmanager
def fill(folder: Path) -> Iterator[Path]:
    """A small disk, and a file on it that takes all the room but some pages."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("a disk of its own may not be mounted here")
    try:
        yield folder / "ballast"
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


class Visitors:
    """Ask for one decision after the other, and note which were acknowledged."""

    def __init__(self, served: Served) -> None:
        self.served, self.n = served, 0
        self.acknowledged: dict[str, object] = {}
        self.refusals: list[tuple[int, str]] = []
        self.pending: list[str] = []

    def come(self) -> bool:
        """One more comes; gives whether it was acknowledged."""
        self.n += 1
        return self.ask(f"v{self.n}")

    def ask(self, name: str) -> bool:
        """Ask under an id; a refusal must be an honest one."""
        body = {"id": name, "context": {"Age": 1}}
        answer = self.served.post("/v1/policies/ads/decide", body)
        if answer.status == 200:
            assert self.acknowledged.setdefault(name, answer.json["arm"]) == answer.json["arm"]
            return True
        self.refusals.append((answer.status, answer.error["code"]))
        assert int(answer.headers["retry-after"]) >= 1
        self.pending.append(name)
        return False

    def check(self, engine: Engine) -> None:
        """All that was acknowledged is there, as it was answered, and replay agrees."""
        for name, arm in self.acknowledged.items():
            assert engine.get_decision("ads", name).decision.arm == arm
        assert engine.replay("ads", decisions=True).differences == []


def test_a_disk_without_room_refuses_and_the_service_goes_on_when_there_is_some(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        ballast = stack.enter_context(fill(tmp_path))
        store = SqliteStore(tmp_path)
        engine = stack.enter_context(run_engine(store, make_config(kind="UCB"), tick=0.05))
        served = stack.enter_context(run_server(engine))
        visitors = Visitors(served)
        assert visitors.come()
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        while visitors.come():
            pass
        assert not any(visitors.come() for _ in range(5))
        assert served.get("/healthz").status == 200
        assert served.get("/readyz").status == 503
        ballast.unlink()
        for _ in range(6000):  # the engine finds out by itself
            if served.get("/readyz").status == 200:
                break
            threading.Event().wait(0.01)
        for name in visitors.pending:
            assert visitors.ask(name)
        assert all(visitors.come() for _ in range(20))
        visitors.check(engine)

    assert set(visitors.refusals) == {(503, "store_unavailable")}


def test_a_file_that_may_not_grow_refuses_under_load(tmp_path: Path) -> None:
    """As a quota does: SIGXFSZ and EFBIG, in a server of its own."""
    with run_engine(SqliteStore(tmp_path), make_config("p", "UCB", bounds=None, arms=["A"])):
        pass
    with run_serve(("--store", str(tmp_path))) as server:
        first = Caller(server, "first")
        assert first.begun.wait(120)
        pid, log = server.process.pid, tmp_path / f"{FILE_NAME}-wal"
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (log.stat().st_size, limits[1]))
        first.thread.join(120)
        status, refused = server.ask("POST", "/v1/policies/p/decide", {"id": "later"})
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        again, _ = server.ask("POST", "/v1/policies/p/decide", {"id": "later"})
        second = Caller(server, "second")
        assert second.begun.wait(120)
        second.stop()
        code = server.stop()
    with run_engine(SqliteStore(tmp_path)) as engine:
        for name in (*first.decided, *second.decided, "later"):
            assert engine.get_decision("p", name).decision.id == name
        assert engine.replay("p", decisions=True).differences == []

    assert first.refused == [503]
    assert (status, refused["error"]["code"], again, code) == (503, "store_unavailable", 200, 0)


def test_a_read_only_file_refuses_and_tells_that_it_is_not_ready(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with run_engine(store, make_config(kind="UCB")) as engine, run_server(engine) as served:
        visitors = Visitors(served)
        assert visitors.come()
        for connection in (store._writer,):
            connection.execute("PRAGMA query_only = 1")
        assert not visitors.come()
        assert served.get("/readyz").status == 503
        assert served.get("/v1/policies/ads/events").status == 200
        for connection in (store._writer,):
            connection.execute("PRAGMA query_only = 0")
        assert visitors.ask("v2")
        assert served.get("/readyz").status == 200
        visitors.check(engine)


@pytest.mark.full
def test_a_database_that_is_stopped_and_started_under_load() -> None:
    with (
        run_database() as database,
        database.make_database() as url,
        run_engine(PostgresStore(url), make_config(kind="UCB"), tick=0.05) as engine,
        run_server(engine) as served,
    ):
        crowd = [Visitors(served) for _ in range(3)]
        end = threading.Event()

        def call(visitors: Visitors, first: int) -> None:
            visitors.n = first
            while not end.is_set():
                visitors.come()

        threads = [
            threading.Thread(target=call, args=(one, i * 1_000_000))
            for i, one in enumerate(crowd)
        ]
        for thread in threads:
            thread.start()
        _wait_until(lambda: all(len(one.acknowledged) > 5 for one in crowd))
        database.stop()
        _wait_until(lambda: all(one.refusals for one in crowd))
        assert served.get("/healthz").status == 200
        assert served.get("/readyz").status == 503
        database.start()
        before = [len(one.acknowledged) for one in crowd]
        _wait_until(
            lambda: all(len(one.acknowledged) > n for one, n in zip(crowd, before, strict=True))
        )
        end.set()
        for thread in threads:
            thread.join(60)
        for visitors in crowd:
            for name in visitors.pending[:50]:
                assert visitors.ask(name)
            visitors.check(engine)
            assert {status for status, _ in visitors.refusals} == {503}


def _wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if is_so():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never happened")


def test_a_clock_that_was_ahead_delays_only_what_was_decided_then(
    store: Store, clock: SetClock
) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(store, config) as engine:
        clock.move(3600)
        decide(engine, "ahead")
        clock.move(-3600)
        decide(engine, "b")
        reward(engine, "b", 1.0)
        clock.move(61)
        assert engine.run(CloseWindows("ads")) == 1
        assert engine.get_decision("ads", "b").learned_reward == 1.0
        assert engine.get_decision("ads", "ahead").status == "open"
        assert engine.replay("ads", decisions=True).differences == []
        erased = engine.prune("ads", to_datetime(clock.now))
        clock.move(3600)
        engine.run(CloseWindows("ads"))
        clock.move(1)
        later = engine.prune("ads", to_datetime(clock.now))
        assert engine.replay("ads", decisions=True).differences == []

    assert (erased.decisions, later.decisions) == (0, 2)


def test_a_clock_that_is_set_back_reorders_nothing(
    open_store: Callable[[], Store], clock: SetClock
) -> None:
    config = make_config(window=60.0, default_reward=0.0)
    with run_engine(open_store(), config) as engine:
        decide(engine, "a")
        clock.move(-3600)
        decide(engine, "b")
        reward(engine, "a", 1.0)
        assert engine.run(CloseWindows("ads")) == 0
        moments = [event.at for event in engine.list_events("ads")]
        assert [event.position for event in engine.list_events("ads")] == [1, 2, 3, 4]
    with run_engine(open_store()) as engine:
        clock.move(3660)
        assert engine.run(CloseWindows("ads")) == 2
        assert engine.get_decision("ads", "a").learned_reward == 1.0
        assert engine.replay("ads", decisions=True).differences == []

    assert (moments[1] - moments[2]).total_seconds() == 3600


def test_a_damaged_page_is_an_error_and_never_a_guess(tmp_path: Path) -> None:
    """Whatever page it is: a refusal that says so, or an answer that is still right."""
    with run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine:
        names = [f"v{i}" for i in range(200)]
        arms = {name: decide(engine, name, i % 3).arm for i, name in enumerate(names)}
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    said = set[str]()
    for page in range(1, len(whole) // PAGE):
        path.write_bytes(whole[: page * PAGE] + b"\xa5" * PAGE + whole[(page + 1) * PAGE :])
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        try:
            with run_engine(SqliteStore(tmp_path)) as engine:
                found = {name: engine.get_decision("ads", name).decision for name in names}
        except Unavailable as error:
            said.add(str(error))
        else:
            assert {name: one.arm for name, one in found.items()} == arms

    assert any("malformed" in one for one in said)


def test_a_damaged_event_is_told_and_others_go_on(store: Store) -> None:
    with run_engine(store, make_config(), make_config("other")) as engine:
        decide(engine, "a")
        decide(engine, "b")
        with store.write() as transaction:
            transaction._run(
                "UPDATE events SET body = '{\"id' WHERE policy = 1 AND position = 2"
            )
        with pytest.raises(StoreUnavailable, match="damaged; restore a backup"):
            decide(engine, "a")
        with pytest.raises(StoreUnavailable, match="damaged; restore a backup"):
            engine.get_decision("ads", "a")
        assert decide(engine, "b").duplicate
        assert not decide(engine, "a", policy="other").duplicate


def test_a_damaged_file_is_refused_in_a_line_at_the_start(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    path.write_bytes(b"\xa5" * path.stat().st_size)
    ran = subprocess.run(
        [sys.executable, "-m", "boundit", "serve", "--store", tmp_path, "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "not a database" in ran.stderr
