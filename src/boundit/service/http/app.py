"""The service as an ASGI app: every request is admitted, read, handled and answered alike."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

import boundit
from boundit.service.commands import (
    DecideBatchRequest,
    DecideRequest,
    RewardBatchRequest,
    read_request,
)
from boundit.service.engine import Engine
from boundit.service.errors import FailedCommand, ServiceError
from boundit.service.http.answers import SAFE_HEADERS, JsonAnswer, write_error
from boundit.service.http.authorize import Gatekeeper
from boundit.service.http.errors import NoSuchPage, WrongMethod
from boundit.service.http.limits import Limits, RateLimiter, read_body, require_few_values
from boundit.service.http.metrics import Metrics
from boundit.service.http.openapi import write_document
from boundit.service.http.operation import Call, Operation
from boundit.service.http.operations import OPERATIONS
from boundit.service.http.pages import PAGES
from boundit.service.keys import KeyRing
from boundit.service.writer.decide import MOST_ARMS, count_decisions

_log = logging.getLogger(__name__)
_POLICIES = "/v1/policies/"
_LARGE = 2**18
"""Bodies of more bytes are read in a thread, so that others are heard meanwhile."""
_MOST_VALUES, _MOST_SETTINGS = 100, 1000
"""How many values a body may have for each row of a batch, and how many one that has bounds."""
_MOST_ASKED = frozenset({"decide", "decideBatch", "reward", "rewardBatch"})


@dataclass(frozen=True)
class Door:
    """What every request passes: keys, rates, limits, and a count of it."""

    engine: Engine
    limits: Limits
    gatekeeper: Gatekeeper
    limiter: RateLimiter
    metrics: Metrics
    readers: ThreadPoolExecutor

    async def answer(self, operation: Operation, request: Request) -> Response:
        """Answer a request of an operation, and count it."""
        begun = time.perf_counter()
        response = await self._answer(operation, request)
        if not isinstance(response, JsonAnswer):
            for name, value in SAFE_HEADERS.items():
                response.headers.setdefault(name, value)
        seconds = time.perf_counter() - begun
        self.metrics.note(operation.name, response.status_code, seconds)
        return response

    async def _answer(self, operation: Operation, request: Request) -> Response:
        """Admit a request, read its body and handle it; what is raised becomes a refusal."""
        caller = ""
        try:
            if not operation.open:
                caller = (await self.gatekeeper.admit(request, operation.role)).id
                self.limiter.take(caller)
            if request.scope["query_string"]:
                operation.require_query(request)
            body: Any = None
            if operation.takes is not None:
                sent = await read_body(request, self.limits)
                room = _MOST_SETTINGS if operation.role == "admin" else _MOST_VALUES
                require_few_values(sent, room * max(self.limits.batch, MOST_ARMS))
                if len(sent) > _LARGE:
                    loop = asyncio.get_running_loop()
                    body = await loop.run_in_executor(
                        self.readers, read_request, operation.takes, sent
                    )
                else:
                    body = read_request(operation.takes, sent)
                if more := min(_count_rows(body), self.limits.batch) - 1:
                    self.limiter.take(caller, more)
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


@final
class ServiceApp(Starlette):
    """Starlette, with a short way to what visitors wait for.

    ``short`` has the endpoints that are asked for most, by what their paths have after the name
    of a policy: Starlette would try its routes one by one, within two layers of its own.
    """

    def __init__(self, routes: Sequence[Route], short: Mapping[str, Endpoint]) -> None:
        super().__init__(routes=routes, exception_handlers={HTTPException: _refuse_path})
        self.router.redirect_slashes = False  # a path is what the document says
        self._short = short

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the server calls it."""
        if scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path"):
            before, found, after = scope["path"].partition(_POLICIES)
            policy, _, rest = after.partition("/")
            endpoint = self._short.get(rest)
            if endpoint is not None and found and policy and not before:
                scope["app"], scope["path_params"] = self, {"policy": policy}
                await endpoint(scope, receive, send)
                return
        await super().__call__(scope, receive, send)


def make_app(engine: Engine, limits: Limits | None = None) -> ServiceApp:
    """Make the app of an engine, which is started by whoever made it."""
    limits = limits or Limits()
    gatekeeper = Gatekeeper(KeyRing(engine.store))
    readers = ThreadPoolExecutor(1, "boundit bodies")
    door = Door(engine, limits, gatekeeper, RateLimiter(limits.rate), Metrics(engine), readers)
    operations = (*OPERATIONS, *PAGES)
    endpoints = [(operation, Endpoint(door, operation)) for operation in operations]
    routes = [
        Route(operation.path.replace("{id}", "{id:path}"), endpoint, methods=[operation.method])
        for operation, endpoint in endpoints
    ]
    short = {
        operation.path.removeprefix(f"{_POLICIES}{{policy}}/"): endpoint
        for operation, endpoint in endpoints
        if operation.name in _MOST_ASKED
    }
    app = ServiceApp(routes, short)
    app.state.limits, app.state.metrics = limits, door.metrics
    app.state.exporting = asyncio.Lock()
    app.state.probes = ThreadPoolExecutor(1, "boundit probes")
    app.state.document = write_document(operations, boundit.__version__)
    return app


def _count_rows(body: object) -> int:
    match body:
        case DecideRequest():
            return count_decisions([body])
        case DecideBatchRequest(decisions):
            return max(count_decisions(decisions), 1)
        case RewardBatchRequest(rewards):
            return max(len(rewards), 1)
        case _:
            return 1


async def _refuse_path(request: Request, error: Exception) -> Response:
    """Refuse a path that is not there, or a method that it does not take.

    Starlette calls it.
    """
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return write_error(WrongMethod(_list_methods(request)))
    return write_error(NoSuchPage())


def _list_methods(request: Request) -> list[str]:
    """List the methods that a path takes, of all its routes; called by ``_refuse_path``."""
    found = set[str]()
    for route in request.app.routes:
        if route.matches(request.scope)[0] != Match.NONE:
            found |= route.methods
    return sorted(found)
