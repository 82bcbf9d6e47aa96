import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.interval import EmptyInterval, Interval

numbers = st.floats(-1e6, 1e6)


@given(numbers, numbers, numbers, numbers)
def test_the_intersection_holds_what_both_hold(a: float, b: float, c: float, d: float) -> None:
    one, other = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    if max(one.lower, other.lower) > min(one.upper, other.upper):
        with pytest.raises(EmptyInterval):
            _ = one & other
        return
    both = one & other
    for number in (a, b, c, d):
        assert (number in both) == (number in one and number in other)


@pytest.mark.parametrize("ends", [(1, 0), (math.nan, 1), (0, math.nan)])
def test_ends_that_cross_or_are_no_numbers_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(
        EmptyInterval, match="is not an interval; the lower endpoint comes first"
    ):
        Interval(*ends)


def test_a_point_is_an_interval_and_both_ends_belong() -> None:
    point = Interval(0.5, 0.5)

    assert 0.5 in point
    assert point.width == 0
    assert str(Interval(0.123456, 1)) == "[0.123, 1.000]"
