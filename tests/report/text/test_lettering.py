from hypothesis import example, given
from hypothesis import strategies as st

from boundit.report.text.lettering import (
    broken,
    count,
    cut,
    decimals,
    labelled,
    shown,
    text_width,
)


@given(st.text(max_size=20))
@example("")
@example("  ")
@example("a\nb")
def test_what_is_shown_can_be_printed_and_is_not_blank(text: str) -> None:
    assert shown(text).isprintable()
    assert shown(text).strip()


@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=60))
def test_a_broken_label_has_at_most_two_short_lines(text: str) -> None:
    lines = broken(text, 12)

    assert 1 <= len(lines) <= 2
    assert all(len(line) <= 12 for line in lines)
    assert lines == (text,) or len(text) > 12


def test_names_that_differ_in_their_end_stay_apart() -> None:
    names = [f"customer_lifetime_purchase_amount_{year}" for year in (2019, 2020)]

    assert broken(names[0], 18) != broken(names[1], 18)


def test_what_fits_is_never_cut() -> None:
    assert cut("12345", 5) == "12345"
    assert cut("123456", 5) == "1234…"


def test_wider_letters_and_more_of_them_take_more_room() -> None:
    assert text_width("ill", 10) < text_width("mmm", 10) < text_width("mmmm", 10)
    assert text_width("語", 10) > text_width("x", 10)
    assert text_width("é", 10) == text_width("e\u0301", 10)


def test_many_variables_are_named_and_one_is_not() -> None:
    assert labelled(("A", "B"), (1, "x")) == "A=1, B=x"
    assert labelled(("A",), (None,)) == "None"


def test_decimals_follow_the_range() -> None:
    assert [decimals(0, width) for width in (1e-6, 0.5, 1, 30, 5000, 1e9)] == [9, 4, 3, 2, 0, 0]
    assert decimals(0.2, 1.2) == 3, "a width that is 1 up to rounding"
    assert decimals(1, 1) == decimals(0, float("inf")) == 3


def test_rows_are_counted_and_shares_are_not_rounded_away() -> None:
    assert count(0) == "0"
    assert count(0.0004) == "0.0004"
