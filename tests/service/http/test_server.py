"""The server listens where it may, and stops with everything on disk."""

import threading
from http.client import HTTPException
from pathlib import Path

import pytest

from boundit.service.errors import RequestRefused
from boundit.service.http.access import Limits
from boundit.service.http.server import Address, make_server, raise_file_limit
from boundit.service.store.sqlite import SqliteStore
from tests.service.http.served import Served, run_server
from tests.service.kit import make_config, run_engine


def test_an_address_that_others_reach_needs_keys(tmp_path: Path) -> None:
    with (
        run_engine(SqliteStore(tmp_path)) as engine,
        pytest.raises(RequestRefused, match="boundit keys add, or listen on"),
    ):
        make_server(engine, Address("0.0.0.0", 0), Limits())


def test_what_was_answered_is_there_after_a_stop(tmp_path: Path) -> None:
    with (
        run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine,
        run_server(engine) as served,
    ):
        body = {"id": "a", "context": {"Age": 1}}
        arm = served.post("/v1/policies/ads/decide", body).json["arm"]
    with run_engine(SqliteStore(tmp_path)) as engine, run_server(engine) as served:
        again = served.post("/v1/policies/ads/decide", body).json

    assert (again["arm"], again["duplicate"]) == (arm, True)


def test_files_for_connections_are_asked_for() -> None:
    raise_file_limit(16)


def test_a_stop_in_the_middle_of_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    acknowledged, refused = list[str](), list[int]()
    begun = threading.Event()

    def call(served: Served, worker: int) -> None:
        for i in range(10_000):
            name = f"{worker}-{i}"
            try:
                body = {"id": name, "context": {"Age": i % 3}}
                answer = served.post("/v1/policies/ads/decide", body)
            except (OSError, HTTPException):
                return
            if answer.status != 200:
                refused.append(answer.status)
                return
            acknowledged.append(name)
            begun.set()

    with run_engine(SqliteStore(tmp_path), make_config()) as engine:
        with run_server(engine) as served:
            threads = [threading.Thread(target=call, args=(served, i)) for i in range(6)]
            for thread in threads:
                thread.start()
            assert begun.wait(60)
        for thread in threads:
            thread.join(60)
    with run_engine(SqliteStore(tmp_path)) as engine:
        found = [engine.get_decision("ads", name).decision.id for name in acknowledged]
        report = engine.replay("ads", decisions=True)

    assert found == acknowledged
    assert set(refused) <= {503}
    assert report.agrees
