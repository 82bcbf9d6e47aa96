"""Access control: API keys with roles, loopback without keys, and a rate for each key."""

import asyncio
import base64
import binascii
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address

from boundit.service.errors import RequestRefused
from boundit.service.keys import FRESH, OLD, ROLES, Key, KeyRing, Role

ANYONE = Key("", "anyone", ROLES, datetime.fromtimestamp(0, UTC))
"""The caller of a service without keys."""
_MOST_CALLERS = 10_000
"""How many callers a ``RateLimiter`` remembers; those who are idle are forgotten first."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a request: bytes and rows of its body, and seconds for it to arrive.

    ``rate`` is in rows a second for each key, 0 for no limit; ``connections`` are those open at
    once.
    """

    body: int = 16 * 1024 * 1024
    batch: int = 10_000
    rate: float = 0.0
    seconds: float = 30.0
    connections: int = 4_096


class RateLimiter:
    """A bucket of rows for each caller, which fills up at a rate.

    A request is a row, and every further context, reward or arm in it is one more. It is
    read before they are known, so that they may be more than the bucket has: the next
    request waits until it is filled again.

    >>> seconds = iter([0.0, 0.0, 0.0, 1.0])
    >>> limiter = RateLimiter(rate=2.0, clock=lambda: next(seconds))
    >>> limiter.take("key"), limiter.take("key")
    (None, None)
    >>> limiter.take("key")
    Traceback (most recent call last):
    boundit.service.errors.RequestRefused: this key may send 2 rows a second
    >>> limiter.take("key")
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._filled: dict[str, tuple[float, float]] = {}

    def take(self, caller: str, more: int = 0) -> None:
        """Take a request out of a caller's bucket, or what it has ``more`` than one row.

        Raises 429 where it has no row left, or where another request took more than there
        was.
        """
        now, most = self._clock(), max(self._rate, 1.0)
        left, since = self._filled.pop(caller, (most, now))
        left = min(most, left + (now - since) * self._rate)
        taken = left >= (0 if more else 1)
        # The caller goes to the end, so that the first ones are those longest idle.
        self._filled[caller] = (left - taken * (more or 1), now)
        if len(self._filled) > _MOST_CALLERS:
            self._filled.pop(next(iter(self._filled)))
        if not taken:
            wait = {"Retry-After": str(math.ceil((1 - left) / self._rate))}
            reason = f"this key may send {self._rate:g} rows a second"
            raise RequestRefused(429, "too_many_requests", reason, wait)


class Gatekeeper:
    """The keys there are, and the hosts that may be asked for.

    Where there never was a key, everything is allowed to requests for a loopback host;
    the server listens to no other address then. Revoking the last key lets no caller in.
    """

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys
        self._reading: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "boundit keys")

    async def admit(self, headers: Mapping[bytes, bytes], role: Role | None) -> Key:
        """Return the key of a request if it has a role, or raise ``RequestRefused``.

        None asks for no role, only for a valid key where there are keys.
        """
        age = time.monotonic() - self._keys.read_at
        if age >= FRESH:
            reading = self._refresh()
            if age >= OLD:
                await asyncio.shield(reading)
        if not self._keys.rows:
            if not _is_local(
                headers.get(b"host", b""), headers.get(b"sec-fetch-site", b"none")
            ):
                raise RequestRefused(
                    403,
                    "forbidden",
                    "Without keys only this machine may ask, by a loopback name, and no page of "
                    "another site. Add a key first.",
                )
            return ANYONE
        header = headers.get(b"authorization", b"").decode("latin-1")
        key = self._keys.check(_read_secret(header))
        if key is None:
            raise _refuse_key("Invalid API key")
        if role is not None and not key.may(role):
            roles = ", ".join(key.roles)
            reason = f"This key lacks the role '{role}' (roles: {roles}). Use another key."
            raise RequestRefused(403, "forbidden", reason)
        return key

    def _refresh(self) -> "asyncio.Future[None]":
        """Read the keys again, once for all who ask meanwhile, in a thread for nothing else."""
        if self._reading is None or self._reading.done():
            loop = asyncio.get_running_loop()
            self._reading = loop.run_in_executor(self._thread, self._keys.refresh)
            # Where no request waits for it, those that come when the keys are old get the error.
            self._reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._reading


def _refuse_key(reason: str) -> RequestRefused:
    # A browser asks for a name and a password, which is the key.
    return RequestRefused(
        401,
        "not_authorized",
        f"{reason}. Send a valid key in the header 'Authorization: Bearer KEY'.",
        {"WWW-Authenticate": 'Bearer, Basic realm="boundit"'},
    )


def _read_secret(header: str) -> str:
    """Read the secret of a header: a bearer's, or the password that a browser asks for."""
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    if scheme.lower() == "basic":
        try:
            text = base64.b64decode(token.strip(), validate=True).decode()
        except (binascii.Error, ValueError):
            raise _refuse_key("The header Authorization is broken") from None
        return text.partition(":")[2]
    raise _refuse_key("No API key")


@lru_cache(64)
def _is_local(host: bytes, site: bytes) -> bool:
    """Return True if a Host is this machine, and no page of another site sent the request."""
    text = host.decode("latin-1").rpartition("@")[2]
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    return is_loopback(name) and site in {b"none", b"same-origin"}


def is_loopback(host: str) -> bool:
    """Return True if a host names this machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback("example.org")
    (False, False)
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
