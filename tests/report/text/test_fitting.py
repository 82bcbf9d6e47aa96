"""Words shortened and broken: they fit, and no two become one."""

from hypothesis import example, given
from hypothesis import strategies as st

from boundit.report.text.fitting import (
    cut_middle,
    cut_to_width,
    shorten_distinctly,
    wrap_headings,
    wrap_words,
)
from boundit.report.text.lettering import estimate_width

WORDS = st.text(st.characters(categories=("L", "N", "Zs")), max_size=60)
NAMES = st.lists(WORDS.map(str.strip).filter(bool), min_size=1, max_size=8, unique=True)


@given(WORDS)
@example("語" * 30)
@example("W" * 30)
def test_what_is_shortened_fits_and_what_fits_stays(text: str) -> None:
    for shorten in (cut_to_width, cut_middle):
        short = shorten(text, 100, 10)

        assert estimate_width(short, 10) <= 100
        assert (short == text) == (estimate_width(text, 10) <= 100)


@given(NAMES)
@example([f"a name that is alike until the end {i}" for i in range(30)])
@example([f"{i} in the middle of {'very ' * 9}much" for i in range(30)])
@example([f"{'very ' * 9}much {i} of {'very ' * 9}much" for i in range(30)])
def test_names_are_told_apart_in_any_width(names: list[str]) -> None:
    short = shorten_distinctly(names, 100, 10)

    assert len(set(short)) == len(names)
    assert all(estimate_width(name, 10) <= 100 for name in short)


@given(WORDS)
def test_lines_fit_and_lose_nothing_but_what_no_line_can_hold(text: str) -> None:
    lines = wrap_words(text, 100, 10)

    assert all(estimate_width(line, 10) <= 100 for line in lines)
    if all(estimate_width(word, 10) <= 100 for word in text.split()):
        assert " ".join(lines).split() == text.split()


@given(NAMES)
@example([f"{'very ' * 9}much {i}" for i in range(12)])
def test_headings_have_two_lines_at_most_and_differ(names: list[str]) -> None:
    found = wrap_headings([" ".join(name.split()) for name in names], 100, 10)

    assert all(name.count("\n") <= 1 for name in found)
    assert all(estimate_width(line, 10) <= 100 for name in found for line in name.split("\n"))
    assert len({name.replace("\n", " ") for name in found}) == len(
        {" ".join(name.split()) for name in names}
    )
