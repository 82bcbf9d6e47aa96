from dataclasses import fields

import pytest

from boundit.terms.bound import MEASURES, Bound
from boundit.terms.interval import EmptyInterval, Interval


def test_every_column_of_a_row_is_a_field_of_its_bound() -> None:
    assert [field.name for field in fields(Bound)][: len(MEASURES)] == list(MEASURES)


def test_both_ends_travel_as_an_interval() -> None:
    bound = Bound(0.1, 0.4, 0.2, 0.3, 12, "range", "exact recovery")

    assert bound.interval == Interval(0.1, 0.4)
    assert bound.marks == bound.lower_cells == bound.upper_cells == ()


def test_ends_that_cross_are_no_bound() -> None:
    with pytest.raises(EmptyInterval):
        Bound(0.4, 0.1, 0.2, 0.3, 12, "range", "range")
