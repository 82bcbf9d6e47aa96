import sqlite3
import threading
import time
from pathlib import Path

import pytest

from boundit.service.commands import Decide, DecideRequest
from boundit.service.engine import Engine
from boundit.service.errors import StoreUnavailable
from boundit.service.events import to_datetime
from boundit.service.store.sqlite import FILE_NAME, SqliteStore
from tests.patience import PATIENCE
from tests.service.kit import SetClock, decide, make_config, reward, run_engine


def test_commits_are_on_disk_before_they_are_answered(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with store.read() as transaction:
        found = [
            transaction._run(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        ]
    store.close()

    assert found == ["wal", 2]


def test_a_full_disk_is_an_error_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with run_engine(store, make_config()) as engine:
        acknowledged = [decide(engine).id for _ in range(5)]
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(StoreUnavailable, match="full"):
            engine.run(Decide("ads", [DecideRequest(None, 0)] * 1000))
        store._writer.execute("PRAGMA max_page_count = 1000000")
        acknowledged += [decide(engine).id for _ in range(5)]
        found = [engine.get_decision("ads", name).status for name in acknowledged]

    assert found == ["open"] * 10


def test_a_locked_database_is_an_error(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with run_engine(store, make_config()) as engine:
        store._writer.execute("PRAGMA busy_timeout = 10")
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            decide(engine, "a")
        other.execute("ROLLBACK")
        other.close()
        assert not decide(engine, "a").duplicate


@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_file_that_was_removed_acknowledges_nothing(tmp_path: Path, end: str) -> None:
    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        decide(engine, "a")
        (tmp_path / f"{FILE_NAME}{end}").unlink()
        with pytest.raises(StoreUnavailable, match="removed or replaced"):
            decide(engine, "b")


def test_a_store_of_another_form_is_refused(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE boundit_store SET value = '99'")
    connection.close()

    with pytest.raises(StoreUnavailable, match="form 99"):
        SqliteStore(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all, " * 100)

    with pytest.raises(StoreUnavailable, match="not a database"):
        SqliteStore(tmp_path)


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch(0o644)
    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        decide(engine, "a")
        found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}

    assert found == dict.fromkeys((FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"), 0o600)


def test_what_was_pruned_is_in_no_file(tmp_path: Path) -> None:
    """While the store is open: closing it empties the write-ahead log by itself."""
    clock = SetClock()
    with run_engine(SqliteStore(tmp_path, clock=clock), make_config()) as engine:
        _play_secretly(engine)
        clock.move(60)
        engine.prune("ads", to_datetime(clock.now))
        found = _find_secret(tmp_path)

    assert found == []


def test_what_was_pruned_while_somebody_read_is_in_no_file_soon(tmp_path: Path) -> None:
    clock = SetClock()
    store = SqliteStore(tmp_path, clock=clock)
    with run_engine(store, make_config(), erase_every=0.01) as engine:
        _play_secretly(engine)
        clock.move(60)
        with store.read() as transaction:
            transaction.list_heads()
            engine.prune("ads", to_datetime(clock.now))
            assert _find_secret(tmp_path)
        until = time.monotonic() + PATIENCE
        while _find_secret(tmp_path) and time.monotonic() < until:
            threading.Event().wait(0.01)
        assert not decide(engine, "b").duplicate
        found = _find_secret(tmp_path)

    assert found == []


_SECRET = "visitor-9f3c1e"


def _play_secretly(engine: Engine) -> None:
    for i in range(50):
        decide(engine, f"{_SECRET}-{i}")
        reward(engine, f"{_SECRET}-{i}", 1.0)


def _find_secret(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if _SECRET.encode() in p.read_bytes()]
