from hypothesis import example, given
from hypothesis import strategies as st

from boundit.report.text.lettering import (
    break_label,
    cut_to_length,
    estimate_width,
    format_level,
    format_n,
    label_values,
)


@given(st.text(max_size=20))
@example("")
@example("  ")
@example("a\nb")
def test_what_is_shown_can_be_printed_and_is_not_blank(text: str) -> None:
    assert format_level(text).isprintable()
    assert format_level(text).strip()


@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=60))
def test_a_broken_label_has_at_most_two_short_lines(text: str) -> None:
    lines = break_label(text, 12)

    assert 1 <= len(lines) <= 2
    assert all(len(line) <= 12 for line in lines)
    assert lines == (text,) or len(text) > 12


def test_names_that_differ_in_their_end_stay_apart() -> None:
    names = [f"customer_lifetime_purchase_amount_{year}" for year in (2019, 2020)]

    assert break_label(names[0], 18) != break_label(names[1], 18)


def test_what_fits_is_never_cut() -> None:
    assert cut_to_length("12345", 5) == "12345"
    assert cut_to_length("123456", 5) == "1234…"


def test_wider_letters_and_more_of_them_take_more_room() -> None:
    assert estimate_width("ill", 10) < estimate_width("mmm", 10) < estimate_width("mmmm", 10)
    assert estimate_width("語", 10) > estimate_width("x", 10)
    assert estimate_width("é", 10) == estimate_width("e\u0301", 10)


def test_many_variables_are_named_and_one_is_not() -> None:
    assert label_values(("A", "B"), (1, "x")) == "A=1, B=x"
    assert label_values(("A",), (None,)) == "None"


def test_rows_are_counted_and_shares_are_not_rounded_away() -> None:
    assert format_n(0) == "0"
    assert format_n(0.0004) == "0.0004"
