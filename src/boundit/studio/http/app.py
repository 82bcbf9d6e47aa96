"""The studio as an ASGI app: every call is admitted, read, handled and answered alike."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from boundit.core.errors import BounditError
from boundit.service.errors import FailedCommand, RequestRefused, ServiceError
from boundit.service.http.access import Limits, read_body
from boundit.studio.errors import NoSuchPart, RefusedRequest
from boundit.studio.http.answers import write_answer, write_refusal
from boundit.studio.http.calls import CALLS, PageCall, Studio
from boundit.studio.http.gate import Gate, StartToken
from boundit.studio.http.pages import show_file, show_index
from boundit.studio.read_json import read_json

_log = logging.getLogger(__name__)


def make_app(studio: Studio, token: StartToken) -> Gate:
    """Make the app of a studio behind its gate; called by ``StudioServer``."""
    routes = [
        Route("/", _refuse_well(show_index), methods=["GET"]),
        Route("/page/{name}", _refuse_well(show_file), methods=["GET"]),
        *(
            Route(call.path, _refuse_well(_answer(studio, call)), methods=[call.method])
            for call in CALLS
        ),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_path})
    return Gate(app, token)


def _answer(studio: Studio, call: PageCall) -> Callable[[Request], Awaitable[Response]]:
    """Make the endpoint of a call; called by ``make_app`` for each."""
    limits = Limits(body=studio.limits.body)

    async def answer(request: Request) -> Response:
        body: Any = None
        if call.takes is not None:
            body = read_json(call.takes, await read_body(request, limits))
        found = await call.handler(studio, request, body)
        return found if isinstance(found, Response) else write_answer(found)

    return answer


def _refuse_well(
    endpoint: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Make of whatever an endpoint raises an answer in one line; called by ``make_app``."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ServiceError as error:
            return write_refusal(error)
        except BounditError as error:
            return write_refusal(RefusedRequest(str(error)))
        except Exception as error:  # noqa: BLE001, a bug must be an answer too
            _log.exception("%s failed", request.url.path)
            return write_refusal(FailedCommand(error))

    return answer


async def _refuse_path(_: Request, error: Exception) -> Response:
    """Refuse a path that is not there, or a method that it does not take.

    Starlette calls it.
    """
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "another method")
        reason = f"this path takes {allowed}"
        return write_refusal(RequestRefused(405, "wrong_method", reason))
    return write_refusal(NoSuchPart("there is nothing here"))
