"""Keys of callers: long random texts, of which only hashes are stored."""

import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from boundit.core.errors import shorten
from boundit.service.errors import NotFound, Unprocessable
from boundit.service.events import to_datetime
from boundit.service.store.base import KeyRow, Store

Role: TypeAlias = Literal["decide", "reward", "read", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
PREFIX = "bk_"
FRESH = 1.0
"""For how many seconds keys are known before the store is asked again."""
OLD = 5.0
"""For how many seconds callers go by the keys at hand while the store is asked."""


class Key(Struct, frozen=True):
    """A key without its secret: who has it, and what it may do; ``admin`` may do all."""

    id: str
    name: str
    roles: tuple[Role, ...]
    created_at: datetime
    revoked_at: datetime | None = None

    def may(self, role: Role) -> bool:
        """Tell whether the key has a role; the HTTP layer calls it for every request."""
        return self.revoked_at is None and (role in self.roles or "admin" in self.roles)


class NewKey(Struct, frozen=True):
    """A key that was just made; ``secret`` is shown this once."""

    key: Key
    secret: str


def add_key(store: Store, name: str, roles: Iterable[str]) -> NewKey:
    """Make a key with some roles.

    256 random bits, of which the hash is stored.
    """
    wanted = tuple(dict.fromkeys(roles))
    if not wanted or not set(wanted) <= set(ROLES):
        shown = ", ".join(map(str, wanted)) or "none"
        raise Unprocessable(f"a key has roles of {', '.join(ROLES)}; found {shown}")
    if not (0 < len(name) <= 100 and name.isprintable()):
        raise Unprocessable(f"a key's name is 1 to 100 characters, found {shorten(name, 40)!r}")
    secret = f"{PREFIX}{token_urlsafe(32)}"
    with store.write() as transaction:
        row = KeyRow(
            token_hex(6), name, ",".join(wanted), hash_secret(secret), transaction.now, None
        )
        transaction.add_key(row)
    return NewKey(_read(row), secret)


def list_keys(store: Store) -> list[Key]:
    """List all keys, those revoked too, without their secrets."""
    with store.read() as transaction:
        return [_read(row) for row in transaction.list_keys()]


def revoke_key(store: Store, id: str) -> Key:  # noqa: A002, the word users know
    """Revoke a key for good, by its id.

    Servers that run refuse it within a second or two.
    """
    with store.write() as transaction:
        found = [row for row in transaction.list_keys() if row.id == id]
        if not found:
            reason = f"no key has the id {shorten(repr(id), 40)}"
            raise NotFound(reason, code="no_such_key")
        if found[0].revoked_at is None:
            transaction.revoke_key(id)
        row = next(row for row in transaction.list_keys() if row.id == id)
    return _read(row)


class KeyRing:
    """The keys of a store as a server knows them, a second old, or five where it is slow.

    ``rows`` are all keys there ever were: a caller needs one also when all are revoked, else
    revoking the last would open the service to everybody. They were read at ``read_at``.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self.rows: Sequence[KeyRow] = ()
        self.read_at = float("-inf")

    def refresh(self, *, now: float | None = None) -> None:
        """Read the keys again if they are older than a second."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            if moment - self.read_at < FRESH:
                return
            with self._store.read() as transaction:
                self.rows = transaction.list_keys()
            self.read_at = moment

    @property
    def has_keys(self) -> bool:
        """Whether there is any key that is not revoked."""
        return any(row.revoked_at is None for row in self.rows)

    def check(self, secret: str) -> Key | None:
        """Find the key of a secret, None if there is none.

        Hashes are compared in constant time, and all of them: how long it takes tells nothing.
        """
        wanted, found = hash_secret(secret), None
        for row in self.rows:
            if compare_digest(row.hash, wanted) and row.revoked_at is None:
                found = row
        return None if found is None else _read(found)


def hash_secret(secret: str) -> str:
    """Hash a secret to what is stored.

    It has 256 random bits, so that no slow hash is needed.
    """
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _read(row: KeyRow) -> Key:
    """Read a stored key."""
    roles: tuple[Role, ...] = tuple(role for role in ROLES if role in row.roles.split(","))
    revoked = None if row.revoked_at is None else to_datetime(row.revoked_at)
    return Key(row.id, row.name, roles, to_datetime(row.created_at), revoked)
