import numpy as np
import pytest

from boundit.core.names import name_bins, unwrap_scalar


@pytest.mark.parametrize("value", [np.int64(3), np.float32(3), np.array(3), 3])
def test_numbers_become_those_of_python(value: object) -> None:
    found = unwrap_scalar(value)

    assert found == 3
    assert type(found) in (int, float)


@pytest.mark.parametrize("value", ["x", None, (1, 2), frozenset("ab")])
def test_what_is_no_numpy_scalar_stays(value: object) -> None:
    assert unwrap_scalar(value) is value


def test_arrays_stay_whole() -> None:
    for value in (np.array([3]), np.array([1, 2])):
        assert unwrap_scalar(value) is value


def test_bins_are_named_by_their_edges_as_levels_are_written() -> None:
    assert name_bins((2.5,)) == ("< 2.5", ">= 2.5")
    assert name_bins((-1e-7, 5.0, 1_000_000.0, 2.0**60))[1:] == (
        "[-1e-07, 5)",
        "[5, 1000000)",
        "[1000000, 1.152921504606847e+18)",
        ">= 1.152921504606847e+18",
    )
