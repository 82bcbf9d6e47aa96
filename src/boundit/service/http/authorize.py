"""Who may do what: keys with roles, and pages of other sites kept out."""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address

from starlette.requests import Request

from boundit.service.http.errors import NotAllowed, NotAuthorized
from boundit.service.http.limits import read_headers
from boundit.service.keys import ROLES, Key, KeyRing, Role

NOBODY = Key("", "nobody", ROLES, datetime.fromtimestamp(0, UTC))
"""Who calls where there are no keys."""


class Gatekeeper:
    """The keys there are, and the hosts that may be asked for.

    Where there never was a key, everything is allowed to whoever asks for a loopback host;
    the server listens to no other address then. Revoking the last key lets nobody in.
    """

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys
        self._reading: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "boundit keys")

    async def admit(self, request: Request, role: Role | None) -> Key:
        """Give the key of a request that may do what ``role`` may, or raise.

        None asks for nothing but that the caller is known, if callers must be.
        """
        if not self._keys.is_fresh:
            reading = self._refresh()
            if self._keys.is_old:
                await asyncio.shield(reading)
        headers = read_headers(request)
        if not self._keys.asks_for_keys:
            _require_loopback(headers)
            return NOBODY
        header = headers.get(b"authorization", b"").decode("latin-1")
        key = self._keys.check(_read_secret(header))
        if key is None:
            raise NotAuthorized("nobody knows this key")
        if role is not None and not key.may(role):
            raise NotAllowed(f"this key has not the role {role}; it has {', '.join(key.roles)}")
        return key

    def _refresh(self) -> "asyncio.Future[None]":
        """Read the keys again, once for all who ask meanwhile, in a thread for nothing else."""
        if self._reading is None or self._reading.done():
            loop = asyncio.get_running_loop()
            self._reading = loop.run_in_executor(self._thread, self._keys.refresh)
            # Where nobody waits for it, those who come when the keys are old are told.
            self._reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._reading


def _read_secret(header: str) -> str:
    """Read the secret of a header: a bearer's, or the password that a browser asks for."""
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    if scheme.lower() == "basic":
        try:
            text = base64.b64decode(token.strip(), validate=True).decode()
        except (binascii.Error, ValueError):
            raise NotAuthorized("the header Authorization is broken") from None
        return text.partition(":")[2]
    raise NotAuthorized("this service asks for a key")


def _require_loopback(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a request whose Host is not this machine, as a page of another site would send."""
    if not _names_loopback(headers.get(b"host", b"")):
        raise NotAllowed(
            "without keys only this machine may ask, by a loopback name; add a key first"
        )
    if headers.get(b"sec-fetch-site", b"none") not in {b"none", b"same-origin"}:
        raise NotAllowed("a page of another site may not ask")


@lru_cache(64)
def _names_loopback(host: bytes) -> bool:
    """Tell whether the header Host, with a port or without, names this machine alone."""
    text = host.decode("latin-1").rsplit("@", 1)[-1]
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    return is_loopback(name)


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Tell whether a host names this machine alone.

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
