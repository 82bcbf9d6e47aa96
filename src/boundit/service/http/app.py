"""The service as an ASGI app: every request is admitted, read, handled and answered alike."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

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
_SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Headers of every answer that has not its own."""


class Service:
    """What every request passes: keys, rates, limits, and a count of it."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self.engine, self.limits = engine, limits
        self.metrics = Metrics(engine)
        self._gatekeeper = Gatekeeper(KeyRing(engine.store))
        self._limiter = RateLimiter(limits.rate) if limits.rate else None

    def make_endpoint(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        """Make the endpoint of an operation, as Starlette calls it."""
        note = self.metrics.make_note(operation.name)

        async def answer(request: Request) -> Response:
            begun = time.perf_counter()
            try:
                response = await self._answer(operation, request)
            except ServiceError as error:
                response = write_error(error)
            except Exception as error:  # noqa: BLE001, a bug must be an answer too
                _log.exception("%s failed", operation.name)
                response = write_error(FailedCommand(error))
            for name, value in _SAFE_HEADERS.items():
                response.headers.setdefault(name, value)
            note(response.status_code, time.perf_counter() - begun)
            return response

        return answer

    async def _answer(self, operation: Operation, request: Request) -> Response:
        """Admit a request, read its body, and handle it."""
        caller = ""
        if not operation.open:
            caller = (await self._gatekeeper.admit(request, operation.role)).id
            if self._limiter is not None:
                self._limiter.take(caller)
        if request.scope["query_string"]:
            operation.require_query(request)
        body: Any = None
        if operation.takes is not None:
            room = _MOST_SETTINGS if operation.role == "admin" else _MOST_VALUES
            most_values = room * max(self.limits.batch, MOST_ARMS)
            sent = await read_body(request, self.limits, most_values)
            if len(sent) > _LARGE:
                body = await asyncio.to_thread(read_request, operation.takes, sent)
            else:
                body = read_request(operation.takes, sent)
            if self._limiter is not None:
                rows = min(_count_rows(body), self.limits.batch)
                self._limiter.take(caller, rows - 1)
        found = await operation.handler(Call(self.engine, request, body))
        if isinstance(found, Response):
            return found
        return write_answer(found, operation.statuses[0])


def make_app(engine: Engine, limits: Limits | None = None) -> Starlette:
    """Make the app of an engine, which is started by whoever made it."""
    service = Service(engine, limits or Limits())
    routes = [
        Route(
            one.path.replace("{id}", "{id:path}"),
            service.make_endpoint(one),
            methods=[one.method],
        )
        for one in OPERATIONS
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_path})
    app.router.redirect_slashes = False  # a path is what the document says
    app.state.limits, app.state.metrics = service.limits, service.metrics
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
