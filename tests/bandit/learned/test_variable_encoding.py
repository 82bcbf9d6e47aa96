import numpy as np
import pytest

from boundit.bandit.errors import ForeignBounds
from boundit.bandit.learned.variable_encoding import LARGEST, VariableEncoding

AGES = ("< 30", "[30, 50)", ">= 50")


def test_a_number_in_bins_is_its_bin_and_itself() -> None:
    age = VariableEncoding.of(AGES, (30.0, 50.0))

    assert age.levels == ("< 30", ">= 50", "[30, 50)")
    assert age.encode(41.5) == [0.0, 1.0, 41.5]
    assert age.encode("[30, 50)") == [0.0, 1.0, 40.0]
    assert age.encode("< 30") == [0.0, 0.0, 30.0]
    assert age.size == 3


def test_edges_too_large_for_a_feature_leave_the_bin_alone() -> None:
    edge = 2 * LARGEST
    income = VariableEncoding.of((f"< {edge:.0f}", f">= {edge:.0f}"), (edge,))

    assert income.encode(3e6) == [1.0]
    assert income.size == 1


@pytest.mark.parametrize("levels", [("a", "b"), (1, 2), ()])
def test_unknown_text_is_refused_unless_let_through(levels: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="has 'x'"):
        VariableEncoding.of(levels).encode("x")
    if not levels:
        with pytest.raises(ValueError, match="which is no number and of no known domain"):
            VariableEncoding.of(levels, lenient=True).encode("x")


def test_what_is_let_through_is_the_first_of_its_domain() -> None:
    assert VariableEncoding.of(("c", "a", "b"), lenient=True).encode("x") == [0.0, 0.0]
    assert VariableEncoding.of((3, 2), lenient=True).encode(None) == [2.0]
    assert VariableEncoding.of((3, 2), lenient=True).encode(7) == [7.0]
    age = VariableEncoding.of(AGES, (30.0, 50.0), lenient=True)
    assert age.encode(None) == age.encode("< 30")
    assert age.encode(60) == [1.0, 0.0, 60.0]


def test_a_binned_variable_maps_into_more_bins() -> None:
    old, new = (
        VariableEncoding.of(AGES, (30.0, 50.0)),
        VariableEncoding.of((*AGES, "?"), (30.0,)),
    )
    units = np.eye(1 + old.size)

    turn = np.array(old.map_into(new, units[0], units[1:]))

    for age in (17, 41.5, 66):
        assert (turn @ [1.0, *old.encode(age)])[-1] == age
    with pytest.raises(ForeignBounds, match="other levels"):
        old.map_into(VariableEncoding.of(AGES), units[0], units[1:])
