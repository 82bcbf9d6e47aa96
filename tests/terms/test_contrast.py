import pytest

from boundit.terms.bound import Arm
from boundit.terms.contrast import (
    find_dominated_arms,
    find_largest_contrast,
)
from boundit.terms.interval import Interval

A: Arm = ("a",)
B: Arm = ("b",)
C: Arm = ("c",)


def test_what_is_stored_counts_where_it_says_more() -> None:
    apart = Interval(0.1, 0.5), Interval(0.2, 0.4)

    assert find_largest_contrast({((), A, B): 0.1}, ((), A, B), apart) == 0.1
    assert find_largest_contrast({((), A, B): 0.9}, ((), A, B), apart) == pytest.approx(0.3)
    assert find_largest_contrast({((), B, A): -0.9}, ((), A, B), apart) == pytest.approx(0.3)


def test_an_arm_is_dominated_only_when_it_is_surely_worse() -> None:
    """Section 3.8: strictly, so that no two arms dominate each other."""
    alike: dict[Arm, Interval] = {arm: Interval(0.1, 0.5) for arm in (A, B, C)}

    assert find_dominated_arms({((), A, B): 0.0}, (), alike) == {}
    assert find_dominated_arms({((), A, B): -0.1, ((), A, C): -0.2}, (), alike) == {A: C}
    assert find_dominated_arms({((1,), A, B): -0.1}, (), alike) == {}
    apart: dict[Arm, Interval] = {
        A: Interval(0.1, 0.2),
        B: Interval(0.3, 0.4),
        C: Interval(0.2, 0.3),
    }
    assert find_dominated_arms({}, (), apart) == {A: B}
    assert find_dominated_arms({}, (), {A: Interval(0, 1)}) == {}
