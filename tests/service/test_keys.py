import pytest

from boundit.service.errors import NotFound, Unprocessable
from boundit.service.keys import (
    ROLES,
    KeyRing,
    add_key,
    hash_secret,
    list_keys,
    revoke_key,
)
from boundit.service.store.base import Store


def test_a_key_is_checked_by_its_secret_and_never_stored(store: Store) -> None:
    made = add_key(store, "shop", ["decide", "reward"])
    ring = KeyRing(store)
    ring.refresh()

    found = ring.check(made.secret)

    assert found == made.key
    assert [found.may(role) for role in ROLES] == [True, True, False, False]
    assert ring.check(made.secret + "x") is None
    assert ring.check("\ud800") is None
    with store.read() as transaction:
        (row,) = transaction.list_keys()
    assert made.secret not in str(row)
    assert row.hash == hash_secret(made.secret)
    assert len(made.secret) >= 46


def test_a_revoked_key_is_refused_within_a_second(store: Store) -> None:
    made, other = add_key(store, "a", ["admin"]), add_key(store, "b", ["read"])
    ring = KeyRing(store)
    ring.refresh(now=0.0)
    revoked = revoke_key(store, made.key.id)

    ring.refresh(now=0.5)
    assert ring.check(made.secret) is not None
    ring.refresh(now=1.5)
    assert ring.check(made.secret) is None
    assert ring.check(other.secret) is not None
    assert revoked.revoked_at is not None
    assert revoke_key(store, made.key.id) == revoked
    assert not revoked.may("read")
    assert [key.id for key in list_keys(store) if key.revoked_at is None] == [other.key.id]


def test_admin_may_do_everything_and_no_keys_are_said(store: Store) -> None:
    ring = KeyRing(store)
    ring.refresh()
    assert not ring.has_keys

    made = add_key(store, "root", ["admin"])
    ring.refresh(now=float("inf"))

    assert all(made.key.may(role) for role in ROLES)
    assert ring.has_keys


@pytest.mark.parametrize(("name", "roles"), [("a", []), ("a", ["boss"]), ("", ["read"])])
def test_keys_that_make_no_sense_are_refused(store: Store, name: str, roles: list[str]) -> None:
    with pytest.raises(Unprocessable):
        add_key(store, name, roles)
    with pytest.raises(NotFound):
        revoke_key(store, "none")
