from boundit.results.bound import Bound, Key
from boundit.results.bound_text import format_rows


def test_columns_line_up_and_a_rule_that_gave_both_ends_is_named_once() -> None:
    rows: dict[Key, Bound] = {
        (("A",), (0,)): Bound(0.1, 0.25, 0.1, 0.25, 1200, "one", "other"),
        (("long",), (1,)): Bound(0, 1, 0, 1, 0, "whole range", "whole range"),
    }

    assert format_rows(("X", "U"), rows).splitlines() == [
        "X     U  lower  upper  n      by",
        "A     0  0.1    0.25   1,200  one / other",
        "long  1  0      1      0      whole range",
    ]
