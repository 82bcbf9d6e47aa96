"""Slow, endless and half-open connections cost the others nothing."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest

from boundit.service.http.limits import Limits
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.http.served import Served, run_server
from tests.service.kit import make_config, run_engine

PATIENT = Limits(
    header_seconds=PATIENCE, body_seconds=PATIENCE, header_bytes=4096, connections=400
)
"""Nobody is late, however slow the machine: a test shortens the one wait that it is about."""


@contextmanager
def run(folder: Path, limits: Limits) -> Iterator[Served]:
    with (
        run_engine(SqliteStore(folder), make_config(kind="UCB")) as engine,
        run_server(engine, limits) as found,
    ):
        yield found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with run(tmp_path, PATIENT) as found:
        yield found


def read_all(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE)
    parts = list[bytes]()
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def connect(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)


def test_headers_that_do_not_come_end_the_connection(tmp_path: Path) -> None:
    with (
        run(tmp_path, replace(PATIENT, header_seconds=0.5)) as served,
        connect(served) as silent,
        connect(served) as slow,
    ):
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")

        assert b"408" in read_all(silent).splitlines()[0]
        assert b"the headers did not arrive in time" in read_all(slow)


def test_a_body_that_does_not_come_is_refused(tmp_path: Path) -> None:
    with run(tmp_path, replace(PATIENT, body_seconds=0.5)) as served, connect(served) as slow:
        slow.sendall(
            b"POST /v1/policies/ads/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
        )
        answer = read_all(slow)

    assert b"408" in answer.splitlines()[0]
    assert b"too_slow" in answer


def test_headers_without_end_are_refused(served: Served) -> None:
    with connect(served) as endless:
        endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000)
        # What is sent after the refusal is read and dropped: it does not cost the answer.
        for _ in range(50):
            endless.sendall(b"a" * 20_000)
        answer = read_all(endless)

    assert b"431" in answer.splitlines()[0]
    assert answer.count(b"headers_too_large") == 1


def test_large_headers_are_taken_in_pieces(served: Served) -> None:
    n = PATIENT.header_bytes * 9 // 100
    with connect(served) as large:
        large.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
        for i in range(10):
            large.sendall(b"X-%d: " % i + b"a" * (n - 10) + b"\r\n")
            time.sleep(0.01)  # so that they arrive one by one
        large.sendall(b"\r\n")
        answer = read_all(large)

    assert b"200" in answer.splitlines()[0]


def test_what_is_no_http_is_refused_as_json(served: Served) -> None:
    with connect(served) as odd:
        odd.sendall(b"\x16\x03\x01\x02\x00\x01\x00 hello\r\n\r\n")
        answer = read_all(odd)

    assert b"400" in answer.splitlines()[0]
    assert b'"code":"no_http"' in answer


def test_half_open_connections_do_not_keep_others_out(tmp_path: Path) -> None:
    # So patient that all of them are still held while the other is answered.
    with run(tmp_path, PATIENT) as served, ExitStack() as held:
        for _ in range(300):
            held.enter_context(connect(served))
        answer = served.post("/v1/policies/ads/decide", {"context": {"Age": 1}})

    assert answer.status == 200


def test_more_connections_than_are_taken_get_an_answer(tmp_path: Path) -> None:
    # Patient enough that none of them ends before the last is made.
    limits = replace(PATIENT, connections=20)
    with run(tmp_path, limits) as served, ExitStack() as held:
        for _ in range(limits.connections):
            held.enter_context(connect(served))
        with connect(served) as late:
            assert b"503" in read_all(late).splitlines()[0]


def test_a_connection_serves_one_request_after_another(served: Served) -> None:
    kept = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    kept.connect()
    own_port = kept.sock.getsockname()[1]
    for _ in range(3):
        kept.request("GET", "/healthz")
        answer = kept.getresponse()
        answer.read()
        assert answer.status == 200
        assert kept.sock.getsockname()[1] == own_port
    kept.close()
