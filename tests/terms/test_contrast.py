import pytest

from boundit.terms.bound import Arm
from boundit.terms.contrast import find_largest_contrast, find_rival
from boundit.terms.interval import Interval

A: Arm = ("a",)
B: Arm = ("b",)


def test_what_is_stored_counts_where_it_says_more() -> None:
    apart = Interval(0.1, 0.5), Interval(0.2, 0.4)

    assert find_largest_contrast({((), A, B): 0.1}, ((), A, B), apart) == 0.1
    assert find_largest_contrast({((), A, B): 0.9}, ((), A, B), apart) == pytest.approx(0.3)
    assert find_largest_contrast({((), B, A): -0.9}, ((), A, B), apart) == pytest.approx(0.3)


def test_an_arm_is_beaten_only_when_it_is_surely_worse() -> None:
    """Section 3.8: strictly, so that no two arms dominate each other."""
    alike = [0.1, 0.1, 0.1]

    assert find_rival(0.5, alike, {1: 0.0}) is None
    assert find_rival(0.5, alike, {1: -0.1, 2: -0.2}) == (2, 0.2)
    assert find_rival(0.25, [0.125, 0.5, 0.25], {}) == (1, 0.25)
    assert find_rival(0.3, [0.1, 0.3, 0.2], {}) is None
    assert find_rival(1, [0], {}) is None
