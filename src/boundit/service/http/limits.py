"""How much one caller may send, and how fast."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from boundit.service.errors import MalformedRequest
from boundit.service.http.errors import (
    BodyTooLarge,
    TooManyRequests,
    TooSlow,
    WrongMediaType,
)

_MOST_CALLERS = 10_000
"""How many callers a ``RateLimiter`` remembers; those who are idle are forgotten first."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is taken of one caller; ``rate`` is in requests a second, 0 for no limit."""

    body: int = 16 * 1024 * 1024
    batch: int = 10_000
    rate: float = 0.0
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    header_bytes: int = 65_536
    connections: int = 4_096


async def read_body(request: Request, limits: Limits) -> bytes:
    """Read the body of a request that must be JSON, within the limits of size and time.

    Called by ``Door._answer`` for every request that has one.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WrongMediaType
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limits.body:
        raise BodyTooLarge(limits.body)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _read_stream(request, limits.body)
    except TimeoutError:
        raise TooSlow(limits.body_seconds) from None
    except ClientDisconnect:
        raise MalformedRequest("the connection ended within the body") from None


async def _read_stream(request: Request, most: int) -> bytes:
    """Read what comes until it ends or is too much; called by ``read_body``."""
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise BodyTooLarge(most)
        parts.append(part)
    return b"".join(parts) if len(parts) != 1 else parts[0]


class RateLimiter:
    """A bucket of requests for each caller, which fills up at a rate.

    >>> seconds = iter([0.0, 0.0, 0.0, 1.0])
    >>> limiter = RateLimiter(rate=2.0, clock=lambda: next(seconds))
    >>> limiter.take("key"), limiter.take("key")
    (None, None)
    >>> limiter.take("key")
    Traceback (most recent call last):
    boundit.service.http.errors.TooManyRequests: this key may send 2 requests a second
    >>> limiter.take("key")
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._filled: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> None:
        """Take one request of a caller out of its bucket, or raise ``TooManyRequests``.

        Called by ``Door._answer`` for every request.
        """
        if not self._rate:
            return
        now, most = self._clock(), max(self._rate, 1.0)
        left, since = self._filled.pop(caller, (most, now))
        left = min(most, left + (now - since) * self._rate)
        taken = left >= 1
        # The caller goes to the end, so that the first ones are those longest idle.
        self._filled[caller] = (left - taken, now)
        if len(self._filled) > _MOST_CALLERS:
            self._filled.pop(next(iter(self._filled)))
        if not taken:
            raise TooManyRequests(self._rate, math.ceil((1 - left) / self._rate))
