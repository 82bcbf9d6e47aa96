import numpy as np
import pytest

from boundit.bandit.bins import find_bin, find_middle, list_bins
from boundit.terms.scalars import name_bins


@pytest.mark.parametrize("number", [-3, 17.99, 18, 18.0, 29, 30, 49.9, 50, 1e9])
def test_a_number_is_in_the_bin_that_the_log_counts_it_in(number: float) -> None:
    edges = (18.0, 30.0, 50.0)
    place = int(np.searchsorted(edges, number, side="right"))

    assert find_bin(edges, number) == name_bins(edges)[place]


def test_what_is_no_number_stays_what_it_is() -> None:
    assert [find_bin((1.0,), value) for value in ("< 1", None, True)] == ["< 1", None, True]
    assert list_bins(()) == ()
    assert find_bin((), 3) == 3


def test_a_bin_stands_for_its_middle() -> None:
    edges = (10.0, 20.0, 60.0)

    assert [find_middle(edges, name) for name in list_bins(edges)] == [10, 15, 40, 60]
    assert find_middle(edges, "of another table") == 35


def test_what_is_no_number_is_in_no_bin() -> None:
    nan = float("nan")
    assert find_bin((10.0,), nan) is nan
    assert [find_bin((10.0,), value) for value in (True, "9", None)] == [True, "9", None]
