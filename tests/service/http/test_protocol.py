"""Slow, endless and half-open connections cost the others nothing."""

import socket
import time
from collections.abc import Callable, Iterator
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


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


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


@pytest.mark.parametrize("length", [b"0" * 4998 + b"34", b"9" * 5000])
def test_a_length_of_many_digits_is_refused_in_a_line(tmp_path: Path, length: bytes) -> None:
    head, _, rest = write_decide("a").partition(b"Content-Length: ")
    with run(tmp_path, Limits(header_seconds=PATIENCE)) as served, connect(served) as caller:
        caller.sendall(head + b"Content-Length: " + length + rest[rest.index(b"\r\n") :])
        answer = read_all(caller)

    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 ")), answer
    assert answer.count(b'{"error":') == 1
    assert served.engine.counts.bugs == 0


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


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def write_decide(name: str, more: bytes = b"") -> bytes:
    """A request to decide for a visitor of this name."""
    body = b'{"id": "%b", "context": {"Age": 1}}' % name.encode()
    head = b"POST /v1/policies/ads/decide HTTP/1.1\r\nHost: localhost\r\n" + more
    length = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    return head + length + body


@pytest.mark.parametrize(
    ("asked", "then"),
    [
        pytest.param(HEALTH + b"\r\n", b"\r\n", id="empty line"),
        pytest.param(HEALTH + b"Content-Length: 9\r\n\r\n", b"x", id="part of a body"),
        pytest.param(
            HEALTH + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n", id="part of a chunk"
        ),
    ],
)
def test_a_connection_cannot_be_parked_after_an_answer(
    tmp_path: Path, asked: bytes, then: bytes
) -> None:
    with (
        run(tmp_path, replace(PATIENT, header_seconds=0.5)) as served,
        connect(served) as parked,
    ):
        parked.sendall(asked)
        answer = parked.recv(65_536)
        parked.sendall(then)
        rest = read_all(parked)

    assert b"200" in answer.splitlines()[0]
    assert b"HTTP" not in rest


def test_whoever_does_not_read_is_cut_off(tmp_path: Path) -> None:
    """However much is left to read: more than is kept back for it, or the last few bytes."""
    page = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with run(tmp_path, replace(PATIENT, body_seconds=0.5)) as served, ExitStack() as held:
        for pages in (*range(50, 75), 500):
            deaf = held.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", served.port))
            deaf.sendall(page * pages + HEALTH + b"Connection: close\r\n\r\n")
        wait_until(lambda: bool(served.connections))
        wait_until(lambda: not served.connections)
        assert served.get("/healthz").status == 200


def test_what_came_whole_is_answered_before_the_rest_is_refused(served: Served) -> None:
    with connect(served) as odd:
        odd.sendall(write_decide("a") + write_decide("b") + b"x\r\n\r\n")
        answer = read_all(odd)

    assert [line.split()[1] for line in answer.split(b"\r\n") if b"HTTP/1.1" in line] == [
        b"200",
        b"200",
        b"400",
    ]
    assert served.get("/v1/policies/ads/decisions/b").status == 200


def list_statuses(answer: bytes) -> list[int]:
    return [int(line.split()[1]) for line in answer.split(b"\r\n") if b"HTTP/1.1 " in line]


def test_the_rest_of_a_body_after_its_answer_does_no_harm(served: Served) -> None:
    head = b"PUT /v1/policies/ads/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000"
    with connect(served) as early:
        early.sendall(head + b"\r\n\r\n")
        first = early.recv(65_536)
        for _ in range(6):
            early.sendall(b"x" * 50_000)
            time.sleep(0.02)
        early.sendall(HEALTH + b"Connection: close\r\n\r\n")
        rest = read_all(early)

    assert list_statuses(first) == [405]
    assert list_statuses(rest) == [200]


def test_the_body_of_a_refused_request_is_not_taken_for_that_of_another(
    served: Served,
) -> None:
    large = write_decide("b", b"".join(b"X-%d: %b\r\n" % (i, b"a" * 500) for i in range(20)))
    with connect(served) as odd:
        odd.sendall(write_decide("a") + large)
        answer = read_all(odd)

    assert list_statuses(answer) == [200, 431]
    assert served.get("/v1/policies/ads/decisions/a").status == 200


def test_a_caller_who_sends_no_more_is_answered(served: Served) -> None:
    with connect(served) as half:
        half.sendall(write_decide("a") + write_decide("b"))
        half.shutdown(socket.SHUT_WR)
        answer = read_all(half)

    assert list_statuses(answer) == [200, 200]


def test_what_is_wrong_in_the_rest_of_a_request_has_no_second_answer(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    with connect(served) as odd:
        odd.sendall(HEALTH + chunked)
        answer = odd.recv(65_536)
        odd.sendall(b"ZZ\r\n")
        answer += read_all(odd)
    with connect(served) as expecting:
        head = write_decide("a", b"Expect: 100-continue\r\n").partition(b"Content-Length")[0]
        expecting.sendall(head + chunked + b"ZZ\r\n")
        refused = read_all(expecting)

    assert list_statuses(answer) == [200]
    assert list_statuses(refused) == [400]
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("before", [[], ["a"], ["a", "b"]])
def test_a_body_that_is_broken_is_refused_and_nothing_done(
    served: Served, before: list[str]
) -> None:
    with connect(served) as odd:
        head = write_decide("c").partition(b"Content-Length")[0]
        broken = b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\nno\r\n'
        odd.sendall(b"".join(map(write_decide, before)) + head + broken)
        answer = read_all(odd)

    assert list_statuses(answer) == [*[200] * len(before), 400]
    assert served.get("/v1/policies/ads").json["position"] == 1 + len(before)


@pytest.mark.parametrize("pause", [0, 0.1])
def test_another_protocol_that_is_asked_for_is_ignored(served: Served, pause: float) -> None:
    more = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n"
    with connect(served) as modern:
        for name in ("a", "b"):
            head, end, body = write_decide(name, more).partition(b"\r\n\r\n")
            modern.sendall(head + end)
            time.sleep(pause)
            modern.sendall(body)
            assert modern.recv(65_536).startswith(b"HTTP/1.1 200")
        modern.sendall(b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert read_all(modern).startswith(b"HTTP/1.1 405")


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
            answer = read_all(late)
            assert b"503" in answer.splitlines()[0]
            assert b"\r\nretry-after: 1\r\n" in answer


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
