"""Slow, half-open and broken connections cost the others nothing."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from boundit.service.http.access import Limits
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.http.served import Served, run_server
from tests.service.kit import count, make_config, run_engine


@contextmanager
def run(folder: Path, limits: Limits) -> Iterator[Served]:
    with (
        run_engine(SqliteStore(folder), make_config(kind="UCB")) as engine,
        run_server(engine, limits) as found,
    ):
        yield found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with run(tmp_path, Limits(seconds=PATIENCE)) as found:
        yield found


def connect(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)


def read_all(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.read()


def write_decide(name: str, *more: str) -> bytes:
    body = f'{{"id": "{name}", "context": {{"Age": 1}}}}'
    lines = ["POST /v1/policies/ads/decide HTTP/1.1", "Host: localhost", *more]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
    return "\r\n".join(lines).encode()


def list_statuses(answer: bytes) -> list[int]:
    return [int(line.split()[1]) for line in answer.split(b"\r\n") if b"HTTP/1.1 " in line]


def test_a_body_that_does_not_come_is_refused(tmp_path: Path) -> None:
    with run(tmp_path, Limits(seconds=0.5)) as served, connect(served) as slow:
        slow.sendall(write_decide("a", "Connection: close")[:-1])
        answer = read_all(slow)

    assert list_statuses(answer) == [408]
    assert b'"code":"timeout"' in answer


@pytest.mark.parametrize("length", ["0" * 4998 + "34", "9" * 5000])
def test_a_length_of_many_digits_is_refused(served: Served, length: str) -> None:
    with connect(served) as caller:
        head = write_decide("a", "Connection: close").partition(b"Content-Length")[0]
        caller.sendall(head + f"Content-Length: {length}\r\n\r\n".encode())
        answer = read_all(caller)

    assert list_statuses(answer) in ([400], [413])
    assert count(served.engine, "bugs") == 0


@pytest.mark.parametrize("before", [[], ["a"], ["a", "b"]])
def test_a_body_that_is_broken_is_refused_and_nothing_done(
    served: Served, before: list[str]
) -> None:
    with connect(served) as odd:
        head = write_decide("c").partition(b"Content-Length")[0]
        broken = b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\nno\r\n'
        odd.sendall(b"".join(map(write_decide, before)) + head + broken)
        read_all(odd)

    with connect(served) as other:
        other.sendall(write_decide("d", "Connection: close"))
        assert list_statuses(read_all(other)) == [200]
    found = [event.kind for event in served.engine.list_events("ads")]
    assert len(found) <= 2 + len(before)


def test_half_open_connections_do_not_keep_others_out(served: Served) -> None:
    with ExitStack() as held:
        for _ in range(300):
            held.enter_context(connect(served))
        answer = served.post("/v1/policies/ads/decide", {"context": {"Age": 1}})

    assert answer.status == 200


def test_more_connections_than_are_taken_get_an_answer(tmp_path: Path) -> None:
    limits = Limits(seconds=PATIENCE, connections=20)
    with run(tmp_path, limits) as served, ExitStack() as held:
        for _ in range(limits.connections):
            held.enter_context(connect(served))
        assert served.get("/healthz").status == 503


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
