"""Keys open what their roles say, and nothing else."""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.requests import Request

from boundit.service.http.authorize import NOBODY, Gatekeeper, is_loopback
from boundit.service.http.errors import NotAllowed, NotAuthorized
from boundit.service.keys import Key, KeyRing, Role, add_key, revoke_key
from boundit.service.store.sqlite import SqliteStore


def make_request(headers: Mapping[str, str]) -> Request:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": raw})


def admit(store: SqliteStore, role: Role | None, **headers: str) -> Key:
    keeper = Gatekeeper(KeyRing(store))
    return asyncio.run(keeper.admit(make_request(headers), role))


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path)


def test_a_key_opens_what_its_roles_say(store: SqliteStore) -> None:
    shop, boss = add_key(store, "shop", ["decide", "reward"]), add_key(store, "boss", ["admin"])

    assert admit(store, "decide", Authorization=f"Bearer {shop.secret}").name == "shop"
    assert admit(store, "read", Authorization=f"bearer {boss.secret}").name == "boss"
    with pytest.raises(NotAllowed, match="has not the role admin; it has decide, reward"):
        admit(store, "admin", Authorization=f"Bearer {shop.secret}")


def test_a_browser_sends_the_key_as_a_password(store: SqliteStore) -> None:
    key = add_key(store, "page", ["read"])
    word = base64.b64encode(f"anyone:{key.secret}".encode()).decode()

    assert admit(store, "read", Authorization=f"Basic {word}").name == "page"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic x", "Basic eDp5", "Bearer wrong", "Digest a"]
)
def test_without_a_key_that_is_known_nothing_opens(store: SqliteStore, header: str) -> None:
    add_key(store, "shop", ["decide"])
    with pytest.raises(NotAuthorized):
        admit(store, "decide", Authorization=header)


def test_a_revoked_key_opens_nothing(store: SqliteStore) -> None:
    old, new = add_key(store, "old", ["admin"]), add_key(store, "new", ["admin"])
    revoke_key(store, old.key.id)

    with pytest.raises(NotAuthorized, match="nobody knows this key"):
        admit(store, "read", Authorization=f"Bearer {old.secret}")
    assert admit(store, "read", Authorization=f"Bearer {new.secret}").name == "new"


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1:8000", "[::1]:8000"])
def test_without_keys_this_machine_may_ask(store: SqliteStore, host: str) -> None:
    assert admit(store, "admin", Host=host) == NOBODY


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.ev"])
def test_without_keys_no_other_name_may_ask(store: SqliteStore, host: str) -> None:
    with pytest.raises(NotAllowed):
        admit(store, "read", Host=host)


def test_loopback_names() -> None:
    assert is_loopback("LOCALHOST.")
    assert not is_loopback("10.0.0.1")


def test_revoking_the_last_key_lets_nobody_in(store: SqliteStore) -> None:
    last = add_key(store, "last", ["admin"])
    revoke_key(store, last.key.id)

    with pytest.raises(NotAuthorized):
        admit(store, "admin", Host="localhost")
    with pytest.raises(NotAuthorized):
        admit(store, "read", Host="localhost", Authorization=f"Bearer {last.secret}")


def test_keys_are_read_once_for_all_who_ask_at_once(store: SqliteStore) -> None:
    class CountedRing(KeyRing):
        reads = 0

        def refresh(self, *, now: float | None = None) -> None:
            self.reads += 1
            super().refresh(now=now)

    ring = CountedRing(store)
    keeper, request = Gatekeeper(ring), make_request({"Host": "localhost"})

    async def ask_at_once() -> list[Key]:
        return await asyncio.gather(*(keeper.admit(request, "decide") for _ in range(20)))

    assert asyncio.run(ask_at_once()) == [NOBODY] * 20
    assert ring.reads == 1
