"""Passwords that no message shows."""

import pytest

from boundit.counts.databases.passwords import hide_password


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:sec/r@et@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?password=secret&x=1", "postgresql://host/db?password=***&x=1"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("--connection=postgres://a:b@c", "--connection=postgres://a:***@c"),
        ("Y | do(X), Z", "Y | do(X), Z"),
        ("a@b.c: d", "a@b.c: d"),
    ],
)
def test_passwords_are_replaced(text: str, shown: str) -> None:
    assert hide_password(text) == shown
