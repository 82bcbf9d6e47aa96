"""The service as an ASGI app: every request is admitted, read, handled and answered alike."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, NamedTuple, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

import boundit
from boundit.service.commands import (
    MOST_ARMS,
    DecideBatchRequest,
    DecideRequest,
    RewardBatchRequest,
    count_decisions,
    read_request,
)
from boundit.service.engine import Engine
from boundit.service.errors import FailedCommand, NotFound, RequestRefused, ServiceError
from boundit.service.http import operations, pages
from boundit.service.http.access import Gatekeeper, Limits, RateLimiter, read_body
from boundit.service.http.metrics import Metrics
from boundit.service.http.openapi import (
    OPERATIONS,
    SAFE_HEADERS,
    Call,
    Operation,
    write_answer,
    write_document,
    write_error,
)
from boundit.service.keys import KeyRing

_log = logging.getLogger(__name__)
DECLARED = operations, pages
"""The modules whose handlers declare operations."""
_LARGE = 2**18
"""Bodies of more bytes are read in a thread, so that others are heard meanwhile."""
_MOST_VALUES, _MOST_SETTINGS = 100, 1000
"""How many values a body may have for each row of a batch, and how many one that has bounds."""


class Shared(NamedTuple):
    """What all requests pass."""

    gatekeeper: Gatekeeper
    limiter: RateLimiter | None
    metrics: Metrics


@final
class Endpoint:
    """An operation behind keys, rates, limits and a count of it, as the ASGI app of a route."""

    def __init__(
        self, operation: Operation, engine: Engine, limits: Limits, shared: Shared
    ) -> None:
        self._operation, self._engine, self._limits = operation, engine, limits
        self._admit = None if operation.open else shared.gatekeeper.admit
        self._take = shared.limiter.take if shared.limiter else None
        self._note = shared.metrics.make_note(operation.name)
        room = _MOST_SETTINGS if operation.role == "admin" else _MOST_VALUES
        self._most_values = room * max(limits.batch, MOST_ARMS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and count it."""
        begun, request = time.perf_counter(), Request(scope, receive, send)
        try:
            response = await self._answer(request)
        except ServiceError as error:
            response = write_error(error)
        except Exception as error:  # noqa: BLE001, a bug must be an answer too
            _log.exception("%s failed", self._operation.name)
            response = write_error(FailedCommand(error))
        self._note(response.status_code, time.perf_counter() - begun)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        """Admit a request, read its body, and handle it."""
        operation, caller = self._operation, ""
        body: Any = None
        if self._admit is not None:
            caller = (await self._admit(request, operation.role)).id
            if self._take is not None:
                self._take(caller)
        if request.scope["query_string"]:
            operation.require_query(request)
        if operation.takes is not None:
            sent = await read_body(request, self._limits, self._most_values)
            if len(sent) > _LARGE:
                body = await asyncio.to_thread(read_request, operation.takes, sent)
            else:
                body = read_request(operation.takes, sent)
            if self._take is not None:
                self._take(caller, min(_count_rows(body), self._limits.batch) - 1)
        found = await operation.handler(Call(self._engine, request, body))
        if not isinstance(found, Response):
            return write_answer(found, operation.statuses[0])
        for name, value in SAFE_HEADERS.items():
            found.headers.setdefault(name, value)
        return found


def make_app(engine: Engine, limits: Limits | None = None) -> Starlette:
    """Make the app of an engine, which is started by whoever made it."""
    limits = limits or Limits()
    limiter = RateLimiter(limits.rate) if limits.rate else None
    shared = Shared(Gatekeeper(KeyRing(engine.store)), limiter, Metrics(engine))
    routes = [
        Route(
            one.path.replace("{id}", "{id:path}"),
            Endpoint(one, engine, limits, shared),
            methods=[one.method],
        )
        for one in OPERATIONS
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_path})
    app.router.redirect_slashes = False  # a path is what the document says
    app.state.limits, app.state.metrics = limits, shared.metrics
    app.state.document = write_document(boundit.__version__)
    app.state.exporting = asyncio.Lock()
    app.state.probes = ThreadPoolExecutor(1, "boundit probes")
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
    """Refuse a path that is not there, or a method that it does not take."""
    assert isinstance(error, HTTPException)
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        reason = "There is nothing here. /openapi.json lists all operations."
        return write_error(NotFound(reason))
    found = set[str]()
    for route in request.app.routes:
        if route.matches(request.scope)[0] != Match.NONE:
            found |= route.methods
    allowed = ", ".join(sorted(found))
    reason = f"this path takes {allowed}"
    return write_error(RequestRefused(405, "wrong_method", reason, {"Allow": allowed}))
