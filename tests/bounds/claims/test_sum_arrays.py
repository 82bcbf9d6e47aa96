"""Weights and worst sums against brute force over all assignments."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from boundit.bounds.claims.sum_arrays import add_up, multiply_onto, take_worst, trim, widen
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.named_array import NamedArray
from tests.bounds.claims.layouts import AXES, DrawnSum, draw_sum
from tests.bounds.claims.logs import Floats

Strategy = Mapping[str, Mapping[tuple[int, ...], int]]
"""For every variable of unknown law, its value by the values of what is summed outside."""


@pytest.mark.parametrize("n_worst", [0, 1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_weights_are_marginals_of_all_earlier_levels(n_worst: int, seed: int) -> None:
    """Levels that a weight leaves out sum to one."""
    rng = np.random.default_rng(seed)
    drawn = draw_sum(rng, n_worst=n_worst)
    arrays = drawn.make_arrays(rng)
    for place, where in enumerate(drawn.layout.cells):
        dense = np.ones(list(drawn.sizes.values()))
        for share in arrays.shares[:place]:
            dense = dense * share.align(drawn.names)[0]
        later = {name for level in drawn.levels[place:] for name in level.of}
        named = NamedArray(drawn.names, dense)
        # What is drawn later, or is not in the cell at all, does not matter: take the first.
        free = {
            name: 0
            for name in drawn.names
            if name not in where.axes
            and (name in later or name in drawn.layout.worst or name in AXES)
        }
        expected = named.at(free).marginalize([n for n in where.axes if n not in free])
        found = arrays.weights[place]
        full = np.broadcast_to(found, [drawn.sizes[axis] for axis in where.axes])
        np.testing.assert_allclose(full, expected.align(where.axes), atol=1e-12)


def list_strategies(drawn: DrawnSum) -> Iterator[Strategy]:
    """List every way to choose the unknown variables by what is summed outside each."""
    tables = list[list[dict[tuple[int, ...], int]]]()
    for depth in range(1, len(drawn.layout.worst) + 1):
        seen = find_outside(drawn, depth)
        places = list(product(*(range(drawn.sizes[name]) for name in seen)))
        tables.append(
            [
                dict(zip(places, choice, strict=True))
                for choice in product(range(2), repeat=len(places))
            ]
        )
    for chosen in product(*tables):
        yield dict(zip(drawn.layout.worst, chosen, strict=True))


def find_outside(drawn: DrawnSum, depth: int) -> list[str]:
    """Find what is summed outside an unknown variable."""
    return [name for name, at in drawn.layout.drawn.items() if at < depth]


def play(drawn: DrawnSum, strategy: Strategy, values: Floats, axes: tuple[str, ...]) -> Floats:
    """Add up the cells that a strategy comes to, for each row of the table."""
    total = np.zeros([drawn.sizes[axis] for axis in AXES])
    worst = drawn.layout.worst
    summed = [axis for axis in axes if axis not in AXES and axis not in worst]
    full = np.broadcast_to(values, [drawn.sizes[axis] for axis in axes])
    for place in product(*(range(drawn.sizes[name]) for name in summed)):
        at = dict(zip(summed, place, strict=True))
        for depth, name in enumerate(worst, start=1):
            if name in axes:
                key = tuple(at[other] for other in find_outside(drawn, depth))
                at[name] = strategy[name][key]
        total += full[tuple(at.get(axis, slice(None)) for axis in axes)]
    return total


@pytest.mark.parametrize("n_worst", [0, 1, 2])
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_worst_is_that_of_the_best_strategy(n_worst: int, fixed: bool, seed: int) -> None:
    """Minima cell by cell are the least over all choices by what is summed outside."""
    rng = np.random.default_rng(seed)
    drawn = draw_sum(rng, n_worst=n_worst, fixed=fixed)
    while (
        2
        ** sum(
            np.prod([drawn.sizes[n] for n in find_outside(drawn, depth)], dtype=int)
            for depth in range(1, n_worst + 1)
        )
        > 300
    ):
        drawn = draw_sum(rng, n_worst=n_worst, fixed=fixed)
    cells = drawn.layout.cells
    leaf, *levels = (
        rng.normal(size=[drawn.sizes[axis] for axis in where.axes])
        for where in (cells[-1], *cells[:-1])
    )
    each = [
        play(drawn, strategy, leaf, cells[-1].axes)
        + sum(
            play(drawn, strategy, paid, where.axes)
            for paid, where in zip(levels, cells, strict=False)
        )
        for strategy in list_strategies(drawn)
    ]
    for upper, end in ((False, np.min(each, axis=0)), (True, np.max(each, axis=0))):
        found = take_worst(drawn.layout, leaf, levels, upper=upper)
        np.testing.assert_allclose(found, end, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_shares_of_a_cell_add_up_to_one_whatever_is_chosen(seed: int) -> None:
    """For every strategy the branches that read the same rows share them out."""
    rng = np.random.default_rng(seed)
    drawn = draw_sum(rng, n_worst=2)
    arrays = drawn.make_arrays(rng)
    worst = drawn.layout.worst
    for place, where in enumerate(drawn.layout.cells):
        shares = arrays.share_branches(place)
        assert (shares > 0).all()
        if not where.shared:
            assert shares.size == 1
            continue
        named = NamedArray(where.axes, shares)
        # They do not hang on unknown variables, so each strategy sees the same shares.
        assert all(named.n_levels[name] == 1 for name in worst if name in where.axes)
        left = [axis for axis in where.axes if axis not in where.shared]
        total = named.marginalize(left).values
        np.testing.assert_allclose(total, 1.0, atol=1e-9)


def test_branches_without_weight_take_next_to_nothing() -> None:
    """An exact law may rule a branch out: what it reads must stay a number."""
    rng = np.random.default_rng(0)
    drawn = next(
        found
        for found in (draw_sum(rng, n_worst=1) for _ in range(100))
        if found.layout.cells[-1].shared
    )
    arrays = drawn.make_arrays(rng)
    none = replace(arrays, weights=tuple(weight * 0 for weight in arrays.weights))
    assert (none.share_branches(len(drawn.levels) - 1) > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_values_of_draws_are_sums_over_the_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = draw_sum(rng, n_worst=0)
    arrays = drawn.make_arrays(rng)
    end = drawn.layout.cells[-1].axes
    last = rng.random([drawn.sizes[axis] for axis in end])
    for place, where in enumerate(drawn.layout.cells[:-1]):
        dense = NamedArray(end, last).align(drawn.names) * np.ones(list(drawn.sizes.values()))
        for other, share in enumerate(arrays.shares):
            if other != place:
                dense = dense * share.align(drawn.names)[0]
        kept = (*where.axes, *where.draws)
        unread = {name: 0 for name in AXES if name not in kept}
        expected = NamedArray(drawn.names, dense).at(unread).marginalize(kept).align(kept)
        found = arrays.value_draws(place, last, upper=False, most=False)
        np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected)


def test_axes_of_length_one_are_left_out_of_products() -> None:
    rng = np.random.default_rng(1)
    settings = draw_sum(rng, n_worst=0).make_arrays(rng).settings
    factor = trim(("x", "c"), np.array([[1.0, 2.0]]))
    assert factor.axes == ("c",)
    found = multiply_onto(
        [factor, ProductTable(("x",), (np.array([3.0, 4.0]),))], ("c",), settings
    )
    assert found.tolist() == [7.0, 14.0]


def test_sums_and_rows_of_the_table() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert add_up(values, ("x", "z"), ("x",)).tolist() == [3.0, 12.0]
    assert widen(np.arange(2.0), 3).shape == (2, 1, 1)
