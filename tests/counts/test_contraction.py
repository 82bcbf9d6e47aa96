"""Sums of products of tables: the same numbers as multiplying everything out, in any order."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.core.errors import OutOfTime
from boundit.core.long_work import TimeBudget
from boundit.counts.errors import TooLarge
from boundit.counts.formula import (
    ProductTable,
    eliminate,
    merge_factors,
    multiply_out,
)
from boundit.counts.memory import Workspace
from boundit.estimand.expression import order_elimination

LEVELS = {name: 2 + i % 3 for i, name in enumerate("ABCDEF")}
ROOM = Workspace(2**30)


def draw_factor(axes: str, rng: np.random.Generator, holes: float = 0.0) -> ProductTable:
    shape = [LEVELS[axis] for axis in axes]
    arrays = [rng.random(shape) for _ in range(2)]
    for array in arrays:
        array[rng.random(shape) < holes] = np.nan
    return ProductTable(tuple(axes), (arrays[0], arrays[1]))


SCOPES = st.lists(
    st.lists(st.sampled_from("ABCDEF"), unique=True, max_size=3).map("".join),
    min_size=1,
    max_size=5,
)


@given(SCOPES, st.sets(st.sampled_from("ABCDEF")), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150, deadline=None)
def test_elimination_is_multiplying_out_and_summing(
    scopes: list[str], summed: set[str], seed: int, holes: bool
) -> None:
    rng = np.random.default_rng(seed)
    factors = [draw_factor(scope, rng, 0.1 if holes else 0.0) for scope in scopes]
    held = frozenset("".join(scopes))
    gone = sorted(summed & held)
    kept = tuple(sorted(held.difference(gone)))

    left = eliminate(factors, gone, LEVELS, ROOM)
    found = multiply_out(left, kept, LEVELS, ROOM)

    order = (*kept, *gone)
    for end in range(2):
        whole = np.ones([LEVELS[axis] for axis in order])
        for factor in factors:
            whole = whole * factor.align(order)[end]
        by_hand = whole.sum(axis=tuple(range(len(kept), len(order))))
        shown = np.broadcast_to(found[end], by_hand.shape)
        assert np.allclose(shown, by_hand, rtol=1e-12, equal_nan=True)


def test_a_large_product_is_summed_level_by_level_to_the_same_numbers() -> None:
    rng = np.random.default_rng(1)
    levels = {"A": 60, "B": 60, "C": 40}
    one = ProductTable(("A", "B"), (rng.random((60, 60)),))
    other = ProductTable(("B", "C"), (rng.random((60, 40)),))

    (left,) = eliminate([one, other], "B", levels, ROOM)

    assert np.allclose(left.align(("A", "C"))[0], one.arrays[0] @ other.arrays[0], rtol=1e-12)


def test_a_long_chain_never_has_a_large_product() -> None:
    names = [f"V{i}" for i in range(300)]
    levels = dict.fromkeys(names, 3)
    chain = [ProductTable(pair, (np.full((3, 3), 1 / 3),)) for pair in pairwise(names)]

    order = order_elimination([f.axes for f in chain], names[1:-1], levels)
    left = eliminate(chain, names[1:-1], levels, ROOM)

    assert order.largest == 27
    assert multiply_out(left, ("V0", "V299"), levels, ROOM)[0] == pytest.approx(1 / 3)


def test_what_would_not_fit_is_refused_before_it_is_made() -> None:
    names = [f"V{i}" for i in range(40)]
    levels = dict.fromkeys(names, 2)
    star = [ProductTable(("V0", name), (np.ones((2, 2)),)) for name in names[1:]]
    joined = [ProductTable(pair, (np.ones((2, 2)),)) for pair in combinations(names, 2)]

    with pytest.raises(TooLarge, match="memory_limit allows"):
        eliminate(joined, names[1:], levels, ROOM)
    assert len(eliminate(star, names[1:], levels, ROOM)) == 39


def test_it_stops_when_time_is_over() -> None:
    factor = ProductTable(("A",), (np.ones(2),))
    with pytest.raises(OutOfTime):
        eliminate([factor], "A", LEVELS, Workspace(2**30, TimeBudget(0)))


def test_a_large_sum_stops_between_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = TimeBudget(None)
    asked = iter([False, False, True])
    monkeypatch.setattr(TimeBudget, "is_over", lambda _: next(asked))
    levels = {"A": 300, "B": 5, "C": 300}
    factors = [
        ProductTable(("A", "B"), (np.ones((300, 5)),)),
        ProductTable(("B", "C"), (np.ones((5, 300)),)),
    ]
    with pytest.raises(OutOfTime):
        eliminate(factors, "B", levels, Workspace(2**30, budget))


def test_tables_within_others_are_merged_into_them() -> None:
    rng = np.random.default_rng(2)
    factors = [draw_factor(axes, rng) for axes in ("A", "AB", "B", "C", "", "BA")]

    merged = merge_factors(factors)

    assert sorted("".join(sorted(f.axes)) for f in merged) == ["AB", "C"]
    for one, other in zip(
        multiply_out(merged, ("A", "B", "C"), LEVELS, ROOM),
        multiply_out(factors, ("A", "B", "C"), LEVELS, ROOM),
        strict=True,
    ):
        assert np.allclose(one, other)
