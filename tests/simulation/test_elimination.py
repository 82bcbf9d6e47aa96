"""Sums of products against the whole product made at once."""

import numpy as np
import pytest

from boundit.counts.named_array import LevelsDiffer, NamedArray
from boundit.simulation.elimination import LARGEST, sum_product
from boundit.simulation.errors import ModelTooLarge


def test_eliminating_one_by_one_is_summing_the_whole_product() -> None:
    rng = np.random.default_rng(0)
    levels = {"A": 2, "B": 3, "C": 2, "D": 4, "E": 3}
    scopes = [("A", "B"), ("C", "B"), ("D",), ("E", "A", "C"), ("B",)]
    tables = [NamedArray(s, rng.random([levels[name] for name in s])) for s in scopes]
    whole = np.ones([1] * 5)
    for table in tables:
        whole = whole * table.align(tuple(levels))

    answer = sum_product(tables, ["E", "B"])

    assert answer.axes == ("E", "B")
    assert np.allclose(answer.values, whole.sum(axis=(0, 2, 3)).T)


def test_nothing_to_multiply_is_one() -> None:
    assert float(sum_product([], [])) == 1


def test_long_chains_stay_small() -> None:
    """A hundred variables, never more than three at once."""
    step = np.array([[0.9, 0.1], [0.3, 0.7]])
    chain = [NamedArray((f"V{i}", f"V{i + 1}"), step) for i in range(100)]

    answer = sum_product(chain, ["V0", "V100"])

    assert np.allclose(answer.values, np.linalg.matrix_power(step, 100))


def test_the_hub_of_a_star_goes_last() -> None:
    """Summed out first, it would join its forty neighbours in one table."""
    star = [NamedArray(("A", f"V{i}"), np.full((2, 2), 0.5)) for i in range(40)]

    assert float(sum_product(star, [])) == pytest.approx(2)


def test_a_product_that_is_too_large_is_refused_before_it_is_made() -> None:
    coins = [NamedArray((f"V{i}",), np.ones(2)) for i in range(23)]

    with pytest.raises(ModelTooLarge, match=f"{2 * LARGEST} numbers over V0, V1, V2") as caught:
        sum_product(coins, [f"V{i}" for i in range(23)])
    assert caught.value.cells == 2**23


def test_tables_agree_on_levels() -> None:
    with pytest.raises(LevelsDiffer, match="'A' has 2 levels in one table and 3 in another"):
        sum_product([NamedArray(("A",), np.ones(2)), NamedArray(("A",), np.ones(3))], [])
