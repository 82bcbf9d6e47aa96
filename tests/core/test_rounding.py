"""Numbers that people read contain what they stand for."""

import math

from hypothesis import given
from hypothesis import strategies as st

from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING, choose_decimals, write_lower, write_upper

NUMBERS = st.floats(-1e9, 1e9) | st.floats(-1, 1) | st.floats(-1e-6, 1e-6)


def read(text: str) -> float:
    return float(text.replace(",", ""))


@given(NUMBERS, NUMBERS, st.integers(0, 12))
def test_a_printed_interval_contains_the_exact_one(
    one: float, two: float, decimals: int
) -> None:
    """Up to what rounding left behind a number with so few digits."""
    lower, upper = sorted((one, two))
    for signed in (False, True):
        low = write_lower(lower, decimals, signed=signed)
        high = write_upper(upper, decimals, signed=signed)
        slack = max(10**-decimals * ROUNDING, 8 * math.ulp(max(abs(lower), abs(upper))))
        assert read(low) <= lower + slack
        assert read(high) >= upper - slack
        assert lower - read(low) <= 10**-decimals + slack
        assert read(high) - upper <= 10**-decimals + slack
        assert "e" not in low + high


@given(NUMBERS, NUMBERS)
def test_an_interval_prints_itself_so(one: float, two: float) -> None:
    lower, upper = sorted((one, two))
    low, high = (part.strip() for part in Interval(lower, upper).write().rsplit(", ", 1))
    slack = 1e-9 * max(upper - lower, abs(upper)) + 8 * math.ulp(max(abs(lower), abs(upper)))

    assert read(low) - slack <= lower <= upper <= read(high) + slack
    assert read(high) - read(low) <= 1.02 * (upper - lower) + 2.1e-2 * abs(upper) + slack


@given(st.floats(-1, 1))
def test_a_sign_is_that_of_the_exact_number(number: float) -> None:
    for write in (write_lower, write_upper):
        sign = write(number, 3, signed=True)[0]
        assert sign == ("+" if number > 0 else "-" if number < 0 else "0")


def test_decimals_follow_the_range() -> None:
    assert [choose_decimals(0, width) for width in (1e-6, 0.5, 1, 30, 5000, 1e9)] == [
        9,
        4,
        3,
        2,
        0,
        0,
    ]
    assert choose_decimals(0.2, 1.2) == 3, "a width that is 1 up to rounding"
    assert choose_decimals(1, 1) == choose_decimals(0, float("inf")) == 3
