"""Which levels both arms of a difference share, and how their numbers stand side by side."""

import numpy as np
import pytest

from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.contrasts.two_sides import SIDE, find_sides, name_other, show
from boundit.estimand.language.expression import P


def read(of: str, given: str = "", depth: int = 0, **names: str) -> Level:
    """Make a level of logged columns, each a letter."""
    return Level(P(frozenset(of), frozenset(given), logged=True), names, depth)


def test_what_the_arms_do_not_change_is_shared() -> None:
    """In two steps the strata are shared, and all that follows has two sides."""
    form = LevelForm((read("Z"), read("W", "XZ"), read("Y", "WXZ")), ("X",), "Y")
    sides = find_sides(form, ("X",), {})
    assert sides is not None
    assert sides.sided == (False, True, True)
    layout = sides.lay_out()
    assert layout.axes == ("X", name_other("X"))
    assert SIDE not in layout.cells[1].axes
    assert SIDE in layout.cells[2].axes
    assert sides.count_cells({"X": 3, "Z": 4, "W": 2}) == 2 * 3 * 3 * 4 * 2


@pytest.mark.parametrize(
    "levels",
    [
        (read("X", X="X'"), read("M", "X"), read("Y", "XM", X="X'")),
        (read("Z"), read("X", "Z"), read("Y", "XZ")),
        (read("Z"), read("Y", "Z")),
    ],
)
def test_shared_rows_with_other_weights_are_no_sum(levels: tuple[Level, ...]) -> None:
    """The front door, an arm that is drawn, and a formula without the arm have no two sides."""
    assert find_sides(LevelForm(levels, ("X",), "Y"), ("X",), {}) is None


@pytest.mark.parametrize(
    ("treatments", "depth"),
    [({"A": "", "B": ""}, 2), ({"A": "", "B": "X"}, 1), ({"A": "X", "B": ""}, 0), ({}, 0)],
)
def test_unknown_laws_are_shared_up_to_the_first_that_differs(
    treatments: dict[str, str], depth: int
) -> None:
    """Within a law of each arm's own nothing is shared any more."""
    form = LevelForm((read("Y", "ABX", 2),), ("X",), "Y", ("A", "B"))
    known = {name: frozenset(value) for name, value in treatments.items()}
    sides = find_sides(form, ("X",), known)
    assert sides is not None
    assert sides.depth == depth


def test_other_treatments_are_like_a_context() -> None:
    """Arms that differ in one treatment share what hangs on the other alone."""
    form = LevelForm((read("Z", "V"), read("Y", "VXZ")), ("V", "X"), "Y")
    sides = find_sides(form, ("X",), {})
    assert sides is not None
    assert sides.sided == (False, True)
    both = find_sides(form, ("V", "X"), {})
    assert both is not None
    assert both.sided == (True, True)


def test_arrays_are_shown_by_the_names_of_their_axes() -> None:
    """Axes along which nothing varies are left out, and come back with length 1."""
    values = np.arange(6.0).reshape(2, 1, 3)
    shown = show(values, ("A", "B", "C"), ("C", "D", "A"))
    assert shown.shape == (3, 1, 2)
    np.testing.assert_array_equal(shown[:, 0], values[:, 0].T)
