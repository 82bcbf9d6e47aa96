"""Words that must fit: shortened, broken into lines, and still different."""

from hypothesis import example, given
from hypothesis import strategies as st

from boundit.report.lettering import (
    break_label,
    cut_middle,
    estimate_width,
    format_level,
    label_values,
    name_contexts,
    wrap_names,
    wrap_words,
)
from boundit.results.bound_table import BoundTable
from tests.report.examples import large_table

WORDS = st.text(st.characters(categories=("L", "N", "Zs")), max_size=60)
NAMES = st.lists(WORDS.map(str.strip).filter(bool), min_size=1, max_size=8, unique=True)


@given(st.text(max_size=20))
@example("")
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


def test_wider_letters_and_more_of_them_take_more_room() -> None:
    assert estimate_width("ill", 10) < estimate_width("mmm", 10) < estimate_width("mmmm", 10)
    assert estimate_width("語", 10) > estimate_width("x", 10)
    assert estimate_width("é", 10) == estimate_width("e\u0301", 10)


@given(WORDS)
@example("語" * 30)
@example("W" * 30)
def test_what_is_shortened_fits_and_what_fits_stays(text: str) -> None:
    short = cut_middle(text, 100, 10)

    assert estimate_width(short, 10) <= 100
    assert (short == text) == (estimate_width(text, 10) <= 100)


@given(NAMES)
@example([f"a name that is alike until the end {i}" for i in range(30)])
@example([f"{'very ' * 9}much {i} of {'very ' * 9}much" for i in range(30)])
def test_names_differ_in_any_width_and_have_three_lines_at_most(names: list[str]) -> None:
    names = list(dict.fromkeys(" ".join(name.split()) for name in names))
    found = wrap_names(names, 100, 10)

    assert len(set(found.values())) == len(names)
    assert all(1 <= len(lines) <= 3 for lines in found.values())
    assert all(estimate_width(line, 10) <= 100 for lines in found.values() for line in lines)


@given(WORDS)
def test_lines_fit_and_lose_nothing_but_what_no_line_can_hold(text: str) -> None:
    lines = wrap_words(text, 100, 10)

    assert all(estimate_width(line, 10) <= 100 for line in lines)
    if all(estimate_width(word, 10) <= 100 for word in text.split()):
        assert " ".join(lines).split() == text.split()


def test_of_forty_variables_only_those_that_differ_are_named() -> None:
    table = large_table(arms=1)
    names = name_contexts(table, table.contexts)

    assert names[5].startswith("Column0=1, Column1=0, Column2=1")
    assert names[5].count("=") == 6
    assert len(set(names)) == 40


def test_a_single_context_is_named_whole() -> None:
    rows = [{"X": 0, "U": 1, "lower": 0.1, "upper": 0.2}]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["U"], outcome_range=(0, 1)
    )
    assert name_contexts(table, [(1,)]) == ["U=1"]


def test_many_variables_are_named_and_one_is_not() -> None:
    assert label_values(("A", "B"), (1, "x")) == "A=1, B=x"
    assert label_values(("A",), (None,)) == "None"
