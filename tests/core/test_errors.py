import pytest

from boundit.core.errors import HasCycle, UnknownNode, hide_password, shorten


def test_the_near_name_is_suggested_even_in_another_case() -> None:
    assert "Did you mean 'REWARD'?" in str(UnknownNode("reward", ["REWARD", "X"]))


def test_long_listings_are_cut_so_that_a_message_stays_one_line() -> None:
    assert len(str(UnknownNode("?", [f"V{i}" for i in range(10_000)]))) < 200
    assert len(str(HasCycle([f"V{i}" for i in range(10_000)]))) < 200
    assert shorten("abc", 3) == "abc"


def test_facts_stay_on_the_error() -> None:
    error = UnknownNode("Z", {"X2", "X10"})

    assert (error.name, error.known) == ("Z", ["X2", "X10"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:sec/r@et@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?password=secret&x=1", "postgresql://host/db?password=***&x=1"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("--store=postgres://a:b@c", "--store=postgres://a:***@c"),
        ("Y | do(X), Z", "Y | do(X), Z"),
        ("a@b.c: d", "a@b.c: d"),
    ],
)
def test_no_message_shows_a_password(text: str, shown: str) -> None:
    assert hide_password(text) == shown
