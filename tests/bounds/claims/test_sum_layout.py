"""Where penalties are paid: the cells of forms whose layout can be said by hand."""

import numpy as np
import pytest

from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.sum_layout import LevelNames, lay_out, lay_out_form
from boundit.estimand.language.expression import P
from tests.bounds.claims.layouts import AXES, draw_sum
from tests.nodes import make_nodes


def name(of: str, given: str = "", depth: int = 0) -> LevelNames:
    return LevelNames(frozenset(of.split()), frozenset(given.split()), depth)


def test_cells_of_the_front_door() -> None:
    """The mediator's cells are the row's own arm; the value's that of the other."""
    found = lay_out([name("x'"), name("m", "x"), name("", "x' m")], ("x",))
    assert [where.axes for where in found.cells] == [("x",), ("x",), ("x", "m", "x'")]
    assert [where.draws for where in found.cells] == [("x'",), ("m",), ()]
    assert [where.before for where in found.cells] == [(), (), (0, 1)]
    assert not any(where.shared for where in found.cells)


def test_branches_outside_a_minimum_share_cells() -> None:
    """``sum_a P(a) min_b sum_c P(c | a) m(b, c)``: the value's cell is read for every a."""
    levels = [name("a"), name("c", "a", 1), name("", "b c", 1)]
    found = lay_out(levels, (), ("b",))
    # What hangs on no unknown variable is paid outside the minimum.
    assert [where.depth for where in found.cells] == [0, 0, 1]
    assert found.cells[1].axes == ("a",)
    assert found.cells[2].axes == ("a", "b", "c")
    assert found.cells[2].shared == ("a",)


def test_weights_inside_a_minimum_count_what_is_summed_outside() -> None:
    """``sum_a P(a) min_b sum_c P(c | b) m(a, c)``: each a has its part of the cells of b."""
    levels = [name("a"), name("c", "b", 1), name("", "a c", 1)]
    found = lay_out(levels, (), ("b",))
    assert found.cells[1].axes == ("a", "b")
    assert found.cells[1].shared == ("a",)
    assert found.cells[1].before == (0,)


def test_a_level_that_reaches_an_unknown_variable_through_another() -> None:
    levels = [name("a", "b", 1), name("d", "a", 2), name("", "d w", 2)]
    found = lay_out(levels, (), ("b", "w"))
    assert [where.depth for where in found.cells] == [1, 1, 2]
    assert found.cells[1].axes == ("a", "b")
    # Branches that differ in b alone never occur together.
    assert found.cells[1].shared == ()


def test_outcome_and_idle_variables_have_no_axes() -> None:
    last = Level(P(make_nodes("Y"), frozenset("XZI")), {})
    form = LevelForm((Level(P(make_nodes("Z")), {}), last), ("X",), "Y", idle=("I",))
    found = lay_out_form(form)
    assert [where.axes for where in found.cells] == [("X",), ("X", "Z")]


@pytest.mark.parametrize("seed", range(20))
def test_axes_of_cells(seed: int) -> None:
    """The table's axes, what a level is given, and all that is chosen or summed outside it."""
    drawn = draw_sum(np.random.default_rng(seed), n_worst=2, fixed=True)
    layout = drawn.layout
    for level, where in zip(drawn.levels, layout.cells, strict=True):
        assert where.axes[: len(AXES)] == AXES
        assert layout.keep_outside(where.depth) - level.of <= {*where.axes}
        assert level.given <= {*where.axes}
        assert not level.of & {*where.axes} - {*AXES}
        assert {*where.shared} == {
            axis for axis in where.axes if axis in layout.drawn and axis not in level.given
        }
