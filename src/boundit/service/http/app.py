"""The ASGI app: Starlette's routes, each behind one layer for keys, limits, errors and metrics."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from prometheus_client import Counter, Histogram
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

import boundit
from boundit.service.commands import MOST_ARMS, count_rows, read_request
from boundit.service.engine import Engine
from boundit.service.errors import (
    FailedCommand,
    MalformedRequest,
    NotFound,
    RequestRefused,
    ServiceError,
)
from boundit.service.http import operations, pages
from boundit.service.http.access import Gatekeeper, Limits, RateLimiter
from boundit.service.http.metrics import make_metrics
from boundit.service.http.openapi import (
    JSON,
    OPERATIONS,
    SAFE_HEADERS,
    Call,
    Operation,
    encode,
    write_document,
    write_error,
)
from boundit.service.keys import KeyRing

_log = logging.getLogger(__name__)
DECLARED = operations, pages
"""The modules whose handlers declare operations."""
_LARGE = 2**18
"""Larger bodies are decoded in a thread."""
_MOST_VALUES, _MOST_SETTINGS = 100, 1000
"""Values that a body may have for each row of a batch; those with bounds may have more."""
_HEADERS = [
    (b"content-type", JSON.encode()),
    *((name.encode(), value.encode()) for name, value in SAFE_HEADERS.items()),
]
_LATE = "the body is late"


@dataclass(frozen=True)
class Shared:
    """What all requests share."""

    engine: Engine
    limits: Limits
    gatekeeper: Gatekeeper
    limiter: RateLimiter | None
    requests: Counter
    seconds: Histogram
    document: dict[str, Any]
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)
    probes: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "boundit probes")
    )


class Bound(NamedTuple):
    """An operation with its own metrics and its limit of values in a body."""

    operation: Operation
    seconds: Histogram
    requests: dict[int, Counter]
    most_values: int


@final
class Resource:
    """The operations on one path, as the ASGI app of its route."""

    def __init__(self, path: str, shared: Shared) -> None:
        self._shared, self._bound = shared, dict[str, Bound]()
        for one in OPERATIONS:
            if one.path == path:
                each = _MOST_SETTINGS if one.role == "admin" else _MOST_VALUES
                most = each * max(shared.limits.batch, MOST_ARMS)
                bound = Bound(one, shared.seconds.labels(one.name), {}, most)
                self._bound |= dict.fromkeys(one.methods, bound)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, read its body, call the handler, and write and count the answer."""
        begun, shared, caller = time.perf_counter(), self._shared, ""
        bound = self._bound.get(scope["method"])
        if bound is None:
            allowed = ", ".join(sorted(self._bound))
            reason = f"this path takes {allowed}"
            refused = RequestRefused(405, "wrong_method", reason, {"Allow": allowed})
            await write_error(refused)(scope, receive, send)
            return
        operation, headers = bound.operation, dict(scope["headers"])
        body: Any = None
        try:
            if not operation.open:
                caller = (await shared.gatekeeper.admit(headers, operation.role)).id
                if shared.limiter is not None:
                    shared.limiter.take(caller)
            if scope["query_string"]:
                operation.require_query(QueryParams(scope["query_string"]))
            if operation.takes is not None:
                text = await _read_body(headers, receive, shared.limits, bound.most_values)
                if len(text) > _LARGE:
                    body = await asyncio.to_thread(read_request, operation.takes, text)
                else:
                    body = read_request(operation.takes, text)
                if shared.limiter is not None:
                    shared.limiter.take(caller, min(count_rows(body), shared.limits.batch) - 1)
            policy = scope["path_params"].get("policy", "")
            found = await operation.handler(Call(shared.engine, policy, body, scope, shared))
        except ServiceError as error:
            if not operation.is_batch:
                error.row = None
            found = write_error(error)
        except Exception as error:  # noqa: BLE001, a bug must be an answer too
            _log.exception("%s failed", operation.name)
            found = write_error(FailedCommand(error))
        is_response = isinstance(found, Response)
        status = found.status_code if is_response else operation.statuses[0]
        counter = bound.requests.get(status)
        if counter is None:
            counter = shared.requests.labels(operation.name, str(status))
            bound.requests[status] = counter
        counter.inc()
        bound.seconds.observe(time.perf_counter() - begun)
        if is_response:
            for name, value in SAFE_HEADERS.items():
                found.headers.setdefault(name, value)
            await found(scope, receive, send)
            return
        text = encode(found)
        length = (b"content-length", b"%d" % len(text))
        start = {"type": "http.response.start", "status": status}
        await send({**start, "headers": [*_HEADERS, length]})
        await send({"type": "http.response.body", "body": text})


async def _read_body(
    headers: dict[bytes, bytes], receive: Receive, limits: Limits, most_values: int
) -> bytes:
    """Read a JSON body, within limits of bytes, values and seconds.

    Values are counted before they are decoded; an object or a list counts as ten.
    """
    kind = headers.get(b"content-type", b"").decode("latin-1")
    if kind.partition(";")[0].strip().lower() != JSON:
        reason = "send the body as JSON, with the header Content-Type: application/json"
        raise RequestRefused(415, "wrong_media_type", reason)
    task = asyncio.current_task()
    assert task is not None
    # What asyncio.timeout does, at a tenth of its cost, which is a sixth of a request's.
    timer = asyncio.get_running_loop().call_later(limits.seconds, task.cancel, _LATE)
    parts, left = list[bytes](), limits.body
    # Python reads no more than some thousands of digits, and 2**64 has 20.
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 20 or int(length) > limits.body):
        left = -1
    try:
        more = left >= 0
        while more:
            message: Message = await receive()
            if message["type"] == "http.disconnect":
                raise MalformedRequest("the connection ended within the body")
            parts.append(message.get("body", b""))
            left -= len(parts[-1])
            more = left >= 0 and message.get("more_body", False)
    except asyncio.CancelledError as error:
        if error.args != (_LATE,):
            raise
        task.uncancel()
        reason = f"the body did not arrive within {limits.seconds:g} seconds"
        raise RequestRefused(408, "timeout", reason) from None
    finally:
        timer.cancel()
    if left < 0:
        raise _refuse_size(limits.body, "bytes")
    body = parts[0] if len(parts) == 1 else b"".join(parts)
    if body.count(b",") + 10 * (body.count(b"{") + body.count(b"[")) > most_values:
        raise _refuse_size(most_values, "values")
    return body


def _refuse_size(most: int, unit: str) -> RequestRefused:
    return RequestRefused(413, "body_too_large", f"the body is larger than {most:,} {unit}")


async def _refuse_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a path that does not exist."""
    error = NotFound("There is nothing here. /openapi.json lists all operations.")
    await write_error(error)(scope, receive, send)


def make_app(engine: Engine, limits: Limits | None = None) -> Router:
    """Make the app of an engine, which the caller starts."""
    limits = limits or Limits()
    shared = Shared(
        engine,
        limits,
        Gatekeeper(KeyRing(engine.store)),
        RateLimiter(limits.rate) if limits.rate else None,
        *make_metrics(engine),
        write_document(boundit.__version__),
    )
    routes = [
        Route(path.replace("{id}", "{id:path}"), Resource(path, shared))
        for path in dict.fromkeys(one.path for one in OPERATIONS)
    ]
    return Router(routes, redirect_slashes=False, default=_refuse_path)
