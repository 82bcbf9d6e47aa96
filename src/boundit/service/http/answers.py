"""Answers as JSON: what was asked for, or one line that says why not."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from boundit.core.errors import shorten
from boundit.service.errors import ServiceError
from boundit.service.http.errors import NotAuthorized, WrongMethod

JSON = "application/json"
_LONGEST = 1000
"""How long a line of an error is at most: it may show what was sent."""
SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Headers of every answer that has not its own."""
_JSON_HEADERS = [
    (name.encode(), value.encode())
    for name, value in {"content-type": JSON, **SAFE_HEADERS}.items()
]
_encode = msgspec.json.Encoder().encode


class ErrorDetail(Struct, frozen=True):
    """What is wrong: a code for programs, one line for people, where, and in which row."""

    code: str
    message: str
    where: str | None = None
    row: int | None = None


class ErrorAnswer(Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: ErrorDetail


class JsonAnswer(Response):
    """JSON with the headers of every answer, which are written once for all of them."""

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str] | None) -> None:
        self.body, self.status_code, self.background = body, status, None
        length = (b"content-length", str(len(body)).encode())
        if headers is None:
            self.raw_headers = [length, *_JSON_HEADERS]
            return
        own = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        names = {name for name, _ in own}
        common = [pair for pair in _JSON_HEADERS if pair[0] not in names]
        self.raw_headers = [length, *common, *own]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send it; the endpoint calls it, and Starlette for a path that is not there."""
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": self.body})


def write_json(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Write an answer; called by every handler."""
    return JsonAnswer(_encode(value), status, headers)


def write_error(error: ServiceError) -> Response:
    """Write a refusal: its status, its line, and when to try again if that helps."""
    where = None if error.where is None else shorten(error.where, _LONGEST)
    detail = ErrorDetail(error.code, shorten(str(error), _LONGEST), where, error.row)
    return write_json(ErrorAnswer(detail), status=error.status, headers=_list_headers(error))


def _list_headers(error: ServiceError) -> dict[str, str]:
    """List the headers that a refusal needs; called by ``write_error``."""
    found = dict[str, str]()
    seconds = getattr(error, "retry_after", None)
    if seconds is not None:
        found["Retry-After"] = str(seconds)
    if isinstance(error, NotAuthorized):
        # A browser asks for a name and a password, which is the key.
        found["WWW-Authenticate"] = 'Bearer, Basic realm="boundit"'
    if isinstance(error, WrongMethod):
        found["Allow"] = ", ".join(error.allowed)
    return found
