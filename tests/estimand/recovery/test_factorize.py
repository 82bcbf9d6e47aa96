"""Theorem 2 against exact models."""

import numpy as np

from boundit.estimand.recovery.factorize import factorize
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import random_cases
from tests.nodes import make_nodes
from tests.paper import ARM, CONTEXT, FIGURE_2, OUTCOME
from tests.simulation.c_factors import c_factor


def test_figure_2_needs_three_factors() -> None:
    """Worked example, eq. 11: I1 is an ancestor of Y too, so it is summed."""
    whole = factorize(FIGURE_2, outcomes=OUTCOME | CONTEXT, treatments=ARM)

    assert whole.summed == make_nodes("I1")
    assert set(whole.parts) == {make_nodes("I1", "Y"), make_nodes("U1"), make_nodes("U2")}
    assert whole.relevant == make_nodes("I1", "Y", "U1", "U2")
    assert str(whole) == "Σ_{I1} Q[I1, Y] Q[U1] Q[U2]"


def test_the_sum_of_products_is_the_effect() -> None:
    for i, case in enumerate(random_cases(60, seed=1)):
        formula = factorize(case.graph, outcomes=case.outcomes, treatments=case.treatments)
        model = draw_model(case.graph, np.random.default_rng(i))
        order = tuple(v for v in case.graph.order if v in case.graph.observed)
        whole = np.ones([1] * len(order))
        for part in formula.parts:
            whole = whole * c_factor(model, part).align(order)
        axes = tuple(i for i, v in enumerate(order) if v in formula.summed)
        value = whole.sum(axis=axes, keepdims=True)

        truth = model.effect(outcomes=case.outcomes, treatments=case.treatments)
        np.testing.assert_allclose(value - truth.align(order), 0, atol=1e-12)
