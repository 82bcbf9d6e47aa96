"""Keys open what their roles say, and nothing else."""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from boundit.service.errors import RequestRefused
from boundit.service.http.access import ANYONE, Gatekeeper, RateLimiter, is_loopback
from boundit.service.keys import Key, KeyRing, Role, add_key, revoke_key
from boundit.service.store.sqlite import SqliteStore


def make_headers(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.lower().encode(): value.encode() for name, value in headers.items()}


def admit(store: SqliteStore, role: Role | None, **headers: str) -> Key:
    keeper = Gatekeeper(KeyRing(store))
    return asyncio.run(keeper.admit(make_headers(headers), role))


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path)


def test_a_key_opens_what_its_roles_say(store: SqliteStore) -> None:
    shop, boss = add_key(store, "shop", ["decide", "reward"]), add_key(store, "boss", ["admin"])

    assert admit(store, "decide", Authorization=f"Bearer {shop.secret}").name == "shop"
    assert admit(store, "read", Authorization=f"bearer {boss.secret}").name == "boss"
    with pytest.raises(RequestRefused, match="lacks the role"):
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
    with pytest.raises(RequestRefused):
        admit(store, "decide", Authorization=header)


def test_a_revoked_key_opens_nothing(store: SqliteStore) -> None:
    old, new = add_key(store, "old", ["admin"]), add_key(store, "new", ["admin"])
    revoke_key(store, old.key.id)

    with pytest.raises(RequestRefused, match="Invalid API key"):
        admit(store, "read", Authorization=f"Bearer {old.secret}")
    assert admit(store, "read", Authorization=f"Bearer {new.secret}").name == "new"


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1:8000", "[::1]:8000"])
def test_without_keys_this_machine_may_ask(store: SqliteStore, host: str) -> None:
    assert admit(store, "admin", Host=host) == ANYONE


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.ev"])
def test_without_keys_no_other_name_may_ask(store: SqliteStore, host: str) -> None:
    with pytest.raises(RequestRefused):
        admit(store, "read", Host=host)


def test_loopback_names() -> None:
    assert is_loopback("LOCALHOST.")
    assert not is_loopback("10.0.0.1")


def test_revoking_the_last_key_lets_nobody_in(store: SqliteStore) -> None:
    last = add_key(store, "last", ["admin"])
    revoke_key(store, last.key.id)

    with pytest.raises(RequestRefused):
        admit(store, "admin", Host="localhost")
    with pytest.raises(RequestRefused):
        admit(store, "read", Host="localhost", Authorization=f"Bearer {last.secret}")


def test_keys_are_read_once_for_all_who_ask_at_once(store: SqliteStore) -> None:
    class CountedRing(KeyRing):
        reads = 0

        def refresh(self, *, now: float | None = None) -> None:
            self.reads += 1
            super().refresh(now=now)

    ring = CountedRing(store)
    keeper, headers = Gatekeeper(ring), make_headers({"Host": "localhost"})

    async def ask_at_once() -> list[Key]:
        return await asyncio.gather(*(keeper.admit(headers, "decide") for _ in range(20)))

    assert asyncio.run(ask_at_once()) == [ANYONE] * 20
    assert ring.reads == 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_caller_gets_its_rate_and_others_theirs() -> None:
    clock = Clock()
    limiter = RateLimiter(5.0, clock)
    for _ in range(5):
        limiter.take("a")
    with pytest.raises(RequestRefused) as refused:
        limiter.take("a")
    limiter.take("b")
    clock.now = 0.2
    limiter.take("a")

    assert refused.value.headers["Retry-After"] == "1"


def test_over_a_long_time_no_more_than_the_rate_is_taken() -> None:
    clock, taken = Clock(), 0
    limiter = RateLimiter(3.0, clock)
    for _ in range(1000):
        clock.now += 0.01
        try:
            limiter.take("a")
            taken += 1
        except RequestRefused:
            pass

    assert 30 <= taken <= 33


def test_rows_are_counted_and_a_large_request_is_paid_for_later() -> None:
    clock = Clock()
    limiter = RateLimiter(5.0, clock)
    limiter.take("a")
    limiter.take("a", 20)
    with pytest.raises(RequestRefused) as refused:
        limiter.take("a")
    with pytest.raises(RequestRefused):  # one that was read meanwhile
        limiter.take("a", 20)
    clock.now = 3.3
    with pytest.raises(RequestRefused):
        limiter.take("a")
    clock.now = 3.5
    limiter.take("a")

    assert refused.value.headers["Retry-After"] == "4"


def test_callers_who_are_idle_are_forgotten() -> None:
    limiter = RateLimiter(1.0, Clock())
    for i in range(20_000):
        limiter.take(f"caller {i}")

    assert len(limiter._filled) <= 10_000
