"""Models of cells: which arms, leaves and rows of the log each has, and which features."""

import numpy as np
import pytest

from boundit.bandit.fused.layout import count_discounted
from boundit.bandit.fused.linear_layout import find_kept, fit_rows, lay_out_models
from boundit.terms.fused_plan import FusedPlan

PAIRS = tuple(((a,), (u, v)) for a in (0, 1) for u in (0, 1) for v in (0, 1))
FEATURES = np.array([[1.0, 2.0 * u - 1, 2.0 * v - 1] for _, (u, v) in PAIRS])


def test_a_variable_that_no_cell_hangs_on_is_no_feature_and_rows_count_once() -> None:
    plan = FusedPlan(
        PAIRS,
        (),
        ((0,), (0,), (1,), (1,), (2,), (2,), (3,), (3,)),
        (5, 7, 1, 2),
        (2.0, 3.0, 1.0, 0.0),
    )
    found = lay_out_models(plan, FEATURES, [-1, 0, 1], (0.0, np.inf))
    assert found.models[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert found.masks.tolist() == [[1, 1, 0], [1, 1, 0]]
    rows = 5 * [[1.0, -1.0, 0.0]] + 7 * [[1.0, 1.0, 0.0]]
    assert found.grams[0, 0] == pytest.approx(np.eye(3) + np.array(rows).T @ np.array(rows))
    assert found.sums[0, 0] == pytest.approx([-1.0, 0.0, 0.0])
    assert found.grams[1, 0].tolist() == np.eye(3).tolist()
    assert not found.sums[1].any()


def test_arms_that_share_all_cells_share_a_model() -> None:
    plan = FusedPlan(
        PAIRS, (), ((0,), (1,), (2,), (3,)) * 2, (5, 7, 1, 2), (2.0,) * 2 + (1.0,) * 2
    )
    found = lay_out_models(plan, FEATURES, [-1, 0, 1], (0.0,))
    assert not found.models.any()
    assert found.starts.tolist() == [0, 2]
    assert found.members.tolist() == [0, 1]
    assert found.grams[0, 0, 0, 0] == 1 + 15


def test_a_variable_is_kept_unless_it_never_matters() -> None:
    contexts = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert find_kept(contexts, [0, 0, 1, 2]) == [True, True]
    assert find_kept(contexts, [0, 0, 0, 0]) == [False, False]
    assert find_kept([(4,)], [0]) == [True]


def test_with_a_cell_for_each_feature_rows_are_discounted_as_cells_are() -> None:
    plan = FusedPlan((((0,), (0,)), ((0,), (1,))), (), ((0,), (1,)), (400, 400), (200.0, 200.0))
    x = np.array([[1.0, -1.0], [1.0, 1.0]])
    gram, _ = fit_rows(plan, np.array([0, 1]), x, 0.05)
    each = count_discounted(np.array([400.0]), np.array([200.0]), 0.05)[0]
    assert gram[0, 0] - 1.0 == pytest.approx(2 * each, rel=1e-3)
