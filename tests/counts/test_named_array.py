"""Arrays that meet by name."""

import numpy as np
import pytest

from boundit.core.errors import DataError
from boundit.counts.log import read_log
from boundit.counts.named_array import NamedArray, SeenCells, find_distinct

LAW = NamedArray(("X", "Y", "Z"), np.arange(1, 13).reshape(2, 3, 2) / 78)


def test_marginals_sum_out_what_is_not_named_and_keep_the_order() -> None:
    assert LAW.marginalize({"Z", "X"}).axes == ("X", "Z")
    assert np.allclose(LAW.marginalize({"Z", "X"}).values, LAW.values.sum(axis=1))
    assert float(LAW.marginalize(())) == pytest.approx(1)


def test_conditionals_add_up_to_one_for_every_condition() -> None:
    assert np.allclose(LAW.condition_on("Y").marginalize("Y").values, 1)
    assert np.allclose(LAW.condition_on({"X", "Z"}).values.sum(axis=1), 1)


def test_a_condition_that_never_holds_gives_nan() -> None:
    law = NamedArray(("X", "Y"), np.array([[0.0, 0.0], [0.25, 0.75]]))

    assert np.isnan(law.condition_on("X").at({"X": 0}).values).all()
    assert law.condition_on("X").at({"X": 1}).values.tolist() == [0.25, 0.75]


def test_alignment_moves_axes_by_name() -> None:
    moved = LAW.align(("Z", "W", "X", "Y"))

    assert moved.shape == (2, 1, 2, 3)
    assert moved[1, 0, 0, 2] == LAW.values[0, 2, 1]


def test_a_gap_stretches_each_side_over_the_axes_it_lacks() -> None:
    one = NamedArray(("X",), np.array([1.0, 2.0]))
    other = NamedArray(("Y",), np.array([1.0, 2.5, 4.0]))

    assert one.measure_gap(one) == 0
    assert one.measure_gap(other) == 3
    assert np.isnan(one.measure_gap(NamedArray((), np.array(np.nan))))


def test_numbers_cannot_be_changed_from_outside() -> None:
    values = np.array([0.5, 0.5])
    law = NamedArray(("X",), values)
    values[0] = 9

    assert law.values[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        law.values[0] = 9


@pytest.mark.parametrize("axes", [("X",), ("X", "X"), ("X", "Y", "Z")])
def test_axes_fit_the_numbers(axes: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="2 axes cannot be named"):
        NamedArray(axes, np.ones((2, 2)))


def test_strangers_are_refused() -> None:
    with pytest.raises(DataError, match="no variable 'W'; it has X, Y, Z"):
        LAW.marginalize("W")
    with pytest.raises(DataError, match="'Y'"):
        LAW.align(("X", "Z"))
    with pytest.raises(DataError, match="'Y' has 3 levels in one table and 2 in another"):
        LAW.measure_gap(NamedArray(("Y",), np.ones(2)))
    with pytest.raises(TypeError, match="X, Y, Z is free"):
        float(LAW)


@pytest.mark.parametrize("value", [-1, 3, 1.0, "1", None])
def test_levels_are_whole_numbers_in_range(value: int) -> None:
    with pytest.raises(DataError, match="the whole numbers 0 to 2"):
        LAW.at({"Y": value})


def test_levels_may_be_numpy_integers_and_booleans() -> None:
    assert LAW.at({"X": True, "Y": 2, "Z": int(np.int64(0))}).values == LAW.values[1, 2, 0]


ROWS = {"A": [0, 1, 1, 1], "B": [2, 0, 0, 2], "Y": [1, 0, 1, 0]}


def make_dict(cells: SeenCells, *names: str) -> dict[tuple[int, ...], float]:
    codes = cells.select(names)
    return {
        tuple(map(int, code)): float(w) for code, w in zip(codes, cells.weights, strict=True)
    }


def test_a_table_an_array_and_rewards_list_the_same_cells() -> None:
    table = read_log(ROWS).count(["A", "B"], reward="Y")
    seen = {(0, 1): 1.0, (1, 0): 2.0, (1, 1): 1.0}

    assert make_dict(table.list_seen(["A", "B"]), "A", "B") == seen
    assert make_dict(table.marginalize(["A", "B"]).list_seen(["A", "B"]), "A", "B") == seen
    assert make_dict(table.list_rewards("B"), "B") == {(0,): 1.0, (1,): 1.0}


def test_no_variables_are_one_cell() -> None:
    cells = read_log(ROWS).count(["A"]).list_seen([])
    assert (cells.codes.shape, cells.weights.tolist()) == ((1, 0), [4.0])


def test_distinct_lines_are_found_whatever_their_codes_multiply_to() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (50, 5)) * 10**9
    first, group = find_distinct(codes, [2 * 10**9] * 5)

    assert (codes[first][group] == codes).all()
    assert len(first) == len(np.unique(codes, axis=0))
