"""Plans as arrays: trees, and what rows of the log count for."""

import math

import numpy as np
import pytest

from boundit.bandit.fused.layout import (
    PRIOR,
    TAUS,
    count_discounted,
    discount_weights,
    lay_out_plan,
)
from boundit.terms.fused_plan import Factor, FusedPlan
from tests.bandit.fused.plain_fused import draw_plan


def test_rows_never_count_for_more_than_they_are_and_for_none_if_the_bias_is_endless() -> None:
    n = np.array([0.0, 1.0, 50.0, 1e7])
    sums = np.array([0.0, 1.0, 20.0, 4e6])
    found = [count_discounted(n, sums, tau) for tau in TAUS]
    assert (found[0] == n).all()
    assert (found[-1] == 0).all()
    assert (np.diff(found, axis=0) <= 0).all()
    assert found[2][-1] == pytest.approx(0.24 / 0.05**2, rel=1e-3)


def test_a_law_of_two_cells_is_discounted_as_a_mean_is() -> None:
    counts = np.array([[30.0, 70.0]])
    law = discount_weights(counts, 0.05)
    assert law.sum() == pytest.approx(
        count_discounted(np.array([100.0]), counts[0, :1], 0.05)[0]
    )
    assert law[0, 0] / law.sum() == pytest.approx(0.3)
    assert (discount_weights(counts, math.inf) == 0).all()


def test_every_pair_finds_its_laws_and_cells() -> None:
    plan = draw_plan(2, (2, 3), known=True)
    layout = lay_out_plan(plan, (0.0,), (1.0,))
    for pair in range(len(plan.pairs)):
        assert layout.cells[pair].tolist() == list(plan.cells[pair])
        for node, (j, prefix) in enumerate([(0, 0), (1, 0), (1, 1)]):
            factor = plan.factors[j]
            at = layout.pools[pair, node]
            rows = factor.counts[factor.pools[pair][prefix]]
            assert layout.weights[0, at : at + len(rows)].tolist() == [1 + n for n in rows]


def test_what_comes_twice_in_a_tree_is_marked() -> None:
    one = Factor(("V",), ((0,), (1,)), ((0,), (0,)), ((0, 0),))
    two = Factor(("W",), ((0,), (1,)), ((0, 0), (0, 1)), ((0, 0), (0, 0)))
    cells, pairs = ((0, 1, 2, 3), (0, 1, 2, 0)), (((0,), ()), ((1,), ()))
    plan = FusedPlan(pairs, (one, two), cells, (1,) * 4, (0.0,) * 4)
    layout = lay_out_plan(plan, TAUS, PRIOR)
    assert layout.tied.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert layout.twins.tolist() == [[0, 1, 1, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 3]]
