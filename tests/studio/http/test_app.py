"""Whatever is sent, the answer is one clear line."""

import json
import socket

import pytest

from boundit.studio.http.calls import CALLS
from tests.patience import PATIENCE
from tests.studio.served import ServedStudio

POSTS = [call.path for call in CALLS if call.takes is not None]


@pytest.mark.parametrize("path", POSTS)
def test_changes_are_posts_of_json_alone(studio: ServedStudio, path: str) -> None:
    assert studio.get(path).status == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = studio.ask("POST", path, b"{}", {**studio.own, "Content-Type": kind})
        assert (answer.status, answer.error["code"]) == (415, "wrong_media_type")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'{"ghost": 1}', b"[" * 100_000, b"\xff", b'{"a":' * 50_000],
    ids=["empty", "cut", "null", "list", "field", "deep", "bytes", "deep objects"],
)
def test_what_is_no_such_body_is_refused_in_one_line(
    studio: ServedStudio, path: str, body: bytes
) -> None:
    answer = studio.post(path, body)

    assert (answer.status, answer.error["code"]) == (400, "malformed")
    assert "\n" not in answer.error["message"]


def test_a_body_that_is_too_large_is_refused(studio: ServedStudio) -> None:
    body = json.dumps({"text": "x" * (9 * 1024 * 1024)}).encode()

    assert studio.post("/api/graph/read", body).status == 413


def test_a_body_that_says_it_is_larger_is_refused_before_it_comes(studio: ServedStudio) -> None:
    head = (
        f"POST /api/graph/read HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
        f"Cookie: {studio.cookie}\r\nOrigin: {studio.origin}\r\n"
        "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode())
        with connection.makefile("rb") as answer:
            assert b" 413 " in answer.readline()


def test_a_field_within_is_named_with_its_place(studio: ServedStudio) -> None:
    body = {"project": {"graph": {"nodes": [{"name": "X"}, {"name": 3}]}}}
    answer = studio.post("/api/draft", body)

    assert answer.status == 400
    assert answer.error["where"] == "graph.nodes[1].name"


@pytest.mark.parametrize("path", ["/api", "/api/nix", "/nix", "/api/start/x", "//api/start"])
def test_what_is_not_there_is_said_to_be_so(studio: ServedStudio, path: str) -> None:
    assert studio.get(path).status == 404


def test_other_methods_are_refused(studio: ServedStudio) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert studio.ask(method, "/api/start", None, studio.own).status == 405
