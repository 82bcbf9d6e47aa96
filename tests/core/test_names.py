from hypothesis import given
from hypothesis import strategies as st

from boundit.core.names import is_name, join_names, read_nodes, sort_names, write_name
from tests.strategies import odd_names


def test_numbers_in_names_count() -> None:
    assert join_names({"X10", "X9", "X1", "A"}) == "A, X1, X9, X10"


def test_a_lone_string_is_one_name() -> None:
    assert read_nodes("X1") == {"X1"}


@given(st.sets(odd_names))
def test_order_is_total_and_stable(names: set[str]) -> None:
    assert sort_names(names) == sort_names(sorted(names, reverse=True))
    assert set(sort_names(names)) == names


@given(odd_names)
def test_spelling_quotes_what_text_could_not_read(name: str) -> None:
    assert is_name(name)
    assert write_name(name) in {
        name,
        '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"',
    }


def test_what_cannot_be_written_down_is_no_name() -> None:
    assert not any(map(is_name, ["", " a", "a\n", "\ud800", "\x00", 3, None]))
