"""Answers as JSON, and refusals that name the part of the project they are about."""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import PlainTextResponse, Response

from boundit.service.errors import ServiceError
from boundit.service.http.openapi import JSON
from boundit.studio.refusals import Refusal, make_refusal

_encode = msgspec.json.Encoder().encode


class RefusalAnswer(Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: Refusal


def write_answer(value: Any, *, status: int = 200) -> Response:
    """Write an answer; called by every handler."""
    return Response(_encode(value), status, media_type=JSON)


def write_refusal(error: ServiceError, *, as_text: bool = False) -> Response:
    """Write a refusal, as a sentence for people who open the page, else as JSON."""
    if as_text:
        line = str(error)
        return PlainTextResponse(f"{line[:1].upper()}{line[1:]}.\n", error.status)
    return write_answer(RefusalAnswer(make_refusal(error)), status=error.status)
