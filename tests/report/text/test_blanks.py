import re

from boundit.report.text.blanks import FILLER, FIRST, BlankLevel, Blanks
from boundit.terms.interval import Interval


def test_a_number_reckons_as_itself_and_is_written_as_a_blank() -> None:
    blanks = Blanks()
    lower, upper = (blanks.leave_number(x, n) for x, n in ((0.25, "lower"), (0.5, "upper")))

    assert upper - lower == 0.25
    assert str(Interval(lower, upper)) == f"[{chr(FIRST)}, {chr(FIRST + 1)}]"
    assert list(blanks.places) == [("lower", ".4g"), ("upper", ".4g")]


def test_another_format_is_another_blank_and_the_same_one_the_same() -> None:
    blanks = Blanks()
    number = blanks.leave_number(0.25, "lower")

    assert f"{number:.3f}" != f"{number:.4g}" != str(number)
    assert f"{number:.3f}" == f"{number:.3f}"
    assert blanks.leave("lower") == str(number)


def test_a_blank_is_as_long_as_what_it_stands_for() -> None:
    blank = Blanks().leave("arm", length=5)

    assert len(blank) == 5
    assert re.fullmatch(f".{FILLER}{{4}}", blank)
    assert repr(BlankLevel(blank)) == blank
