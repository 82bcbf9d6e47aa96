"""Refusals carry what callers need to go on."""

import json

import pytest

from boundit.service.errors import QueueFull, ServiceError, Unprocessable
from boundit.service.http.answers import write_error, write_json
from boundit.service.http.errors import (
    NoSuchPage,
    NotAuthorized,
    TooManyRequests,
    WrongMethod,
)


def test_a_refusal_is_one_object_with_code_line_place_and_row() -> None:
    answer = write_error(Unprocessable("no such level", where="$.context", row=3))

    assert answer.status_code == 422
    assert json.loads(bytes(answer.body)) == {
        "error": {
            "code": "unprocessable",
            "message": "no such level",
            "where": "$.context",
            "row": 3,
        }
    }


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (QueueFull(5), "retry-after", "1"),
        (TooManyRequests(2.0, 3), "retry-after", "3"),
        (NotAuthorized("who?"), "www-authenticate", 'Bearer, Basic realm="boundit"'),
        (WrongMethod(["GET"]), "allow", "GET"),
    ],
)
def test_headers_say_what_would_help(error: ServiceError, name: str, value: str) -> None:
    assert write_error(error).headers[name] == value


def test_others_have_no_such_header() -> None:
    assert "retry-after" not in write_error(NoSuchPage()).headers
    assert write_json({"a": 1}, status=201).status_code == 201


def test_a_header_of_its_own_stands_in_place_of_the_common_one() -> None:
    plain, own = write_json(1), write_json(1, headers={"Cache-Control": "no-cache"})

    assert plain.headers["cache-control"] == "no-store"
    assert own.headers.getlist("cache-control") == ["no-cache"]
    assert plain.headers["content-type"] == own.headers["content-type"] == "application/json"
    assert plain.headers["content-length"] == "1"
