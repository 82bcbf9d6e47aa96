"""The service as an ASGI app: every request is admitted, read, handled and answered alike."""

import logging
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import boundit
from boundit.service.commands import read_request
from boundit.service.engine import Engine
from boundit.service.errors import FailedCommand, ServiceError
from boundit.service.http.answers import SAFE_HEADERS, JsonAnswer, write_error
from boundit.service.http.authorize import Gatekeeper
from boundit.service.http.errors import NoSuchPage, WrongMethod
from boundit.service.http.limits import Limits, RateLimiter, read_body
from boundit.service.http.metrics import Metrics
from boundit.service.http.openapi import write_document
from boundit.service.http.operation import Call, Operation
from boundit.service.http.operations import OPERATIONS
from boundit.service.http.pages import PAGES
from boundit.service.keys import KeyRing

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Door:
    """What every request passes: keys, rates, limits, and a count of it."""

    engine: Engine
    limits: Limits
    gatekeeper: Gatekeeper
    limiter: RateLimiter
    metrics: Metrics

    async def answer(self, operation: Operation, request: Request) -> Response:
        """Answer a request of an operation, and count it.

        Called by ``Endpoint``.
        """
        begun = time.perf_counter()
        response = await self._answer(operation, request)
        if not isinstance(response, JsonAnswer):
            for name, value in SAFE_HEADERS.items():
                response.headers.setdefault(name, value)
        seconds = time.perf_counter() - begun
        self.metrics.note(operation.name, response.status_code, seconds)
        return response

    async def _answer(self, operation: Operation, request: Request) -> Response:
        """Admit a request, read its body and handle it; what is raised becomes a refusal.

        Called by ``Door.answer``.
        """
        try:
            if not operation.open:
                key = await self.gatekeeper.admit(request, operation.role)
                self.limiter.take(key.id)
            body: Any = None
            if operation.takes is not None:
                body = read_request(operation.takes, await read_body(request, self.limits))
            return await operation.handler(Call(self.engine, request, body))
        except ServiceError as error:
            return write_error(error)
        except Exception as error:  # noqa: BLE001, a bug must be an answer too
            _log.exception("%s failed", operation.name)
            return write_error(FailedCommand(error))


@final
class Endpoint:
    """An operation behind the door, as the ASGI app that a route calls."""

    def __init__(self, door: Door, operation: Operation) -> None:
        self._door, self._operation = door, operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the route calls it."""
        response = await self._door.answer(self._operation, Request(scope, receive, send))
        await response(scope, receive, send)


def make_app(engine: Engine, limits: Limits | None = None) -> Starlette:
    """Make the app of an engine, which is started by whoever made it.

    Called by ``make_server``.
    """
    limits = limits or Limits()
    gatekeeper = Gatekeeper(KeyRing(engine.store))
    door = Door(engine, limits, gatekeeper, RateLimiter(limits.rate), Metrics(engine))
    operations = (*OPERATIONS, *PAGES)
    routes = [
        Route(
            operation.path.replace("{id}", "{id:path}"),
            Endpoint(door, operation),
            methods=[operation.method],
        )
        for operation in operations
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_path})
    app.state.limits, app.state.metrics = limits, door.metrics
    app.state.document = write_document(operations, boundit.__version__)
    return app


async def _refuse_path(_: Request, error: Exception) -> Response:
    """Refuse a path that is not there, or a method that it does not take.

    Starlette calls it.
    """
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "another method")
        return write_error(WrongMethod(allowed.split(", ")))
    return write_error(NoSuchPage())
