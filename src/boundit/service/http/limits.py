"""How much one caller may send, and how fast."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Receive

from boundit.service.errors import MalformedRequest
from boundit.service.http.errors import (
    BodyTooLarge,
    TooManyRequests,
    TooSlow,
    WrongMediaType,
)

WHOLE = "boundit.whole"
"""What the scope of a request has once all of its body was received."""
_JSON = b"application/json"
_MOST_CALLERS = 10_000
"""How many callers a ``RateLimiter`` remembers; those who are idle are forgotten first."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is taken of one caller; ``rate`` is in rows a second, 0 for no limit."""

    body: int = 16 * 1024 * 1024
    batch: int = 10_000
    rate: float = 0.0
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    header_bytes: int = 65_536
    connections: int = 4_096


def read_headers(request: Request) -> dict[bytes, bytes]:
    """Read the headers of a request by name; of one that comes twice the first counts."""
    return dict(reversed(request.scope["headers"]))


async def read_body(request: Request, limits: Limits) -> bytes:
    """Read the body of a request that must be JSON, within the limits of size and time."""
    headers = read_headers(request)
    kind = headers.get(b"content-type", b"")
    if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
        raise WrongMediaType
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limits.body:
        raise BodyTooLarge(limits.body)
    if WHOLE in request.scope:
        return await _read_stream(request.receive, limits.body)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _read_stream(request.receive, limits.body)
    except TimeoutError:
        raise TooSlow(limits.body_seconds) from None


def require_few_values(body: bytes, most: int) -> None:
    """Refuse a body of more values than are taken, before it is read: all threads wait for that.

    An object or a list takes as long as ten values.
    """
    n = body.count(b",") + 10 * (body.count(b"{") + body.count(b"["))
    if n > most:
        raise BodyTooLarge(most, "values")


async def _read_stream(receive: Receive, most: int) -> bytes:
    """Read what comes until it ends or is too much; called by ``read_body``."""
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise MalformedRequest("the connection ended within the body")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            raise BodyTooLarge(most)
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts) if len(parts) != 1 else parts[0]


class RateLimiter:
    """A bucket of rows for each caller, which fills up at a rate.

    A request is a row, and every further visitor, reward or arm in it is one more. It is
    read before they are known, so that they may be more than the bucket has: whoever comes
    then waits until it is filled again.

    >>> seconds = iter([0.0, 0.0, 0.0, 1.0])
    >>> limiter = RateLimiter(rate=2.0, clock=lambda: next(seconds))
    >>> limiter.take("key"), limiter.take("key")
    (None, None)
    >>> limiter.take("key")
    Traceback (most recent call last):
    boundit.service.http.errors.TooManyRequests: this key may send 2 rows a second
    >>> limiter.take("key")
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._filled: dict[str, tuple[float, float]] = {}

    def take(self, caller: str, more: int = 0) -> None:
        """Take a request out of a caller's bucket, or what it has ``more`` than one row.

        Raises ``TooManyRequests`` where there is no row for it, or where another request took
        more than there was.
        """
        if not self._rate:
            return
        now, most = self._clock(), max(self._rate, 1.0)
        left, since = self._filled.pop(caller, (most, now))
        left = min(most, left + (now - since) * self._rate)
        taken = left >= (0 if more else 1)
        # The caller goes to the end, so that the first ones are those longest idle.
        self._filled[caller] = (left - taken * (more or 1), now)
        if len(self._filled) > _MOST_CALLERS:
            self._filled.pop(next(iter(self._filled)))
        if not taken:
            raise TooManyRequests(self._rate, math.ceil((1 - left) / self._rate))
