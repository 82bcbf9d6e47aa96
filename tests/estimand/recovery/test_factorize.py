"""Theorem 2 against exact models."""

import numpy as np

from boundit.estimand.language.expression import CFactor, Product
from boundit.estimand.recovery.factorize import factorize
from boundit.simulation.random_models import random_model
from boundit.terms.names import nodes
from tests.estimand.truth import random_cases
from tests.paper import ARM, CONTEXT, FIGURE_2, OUTCOME


def test_figure_2_needs_three_factors() -> None:
    """Worked example, eq. 11: I1 is an ancestor of Y too, so it is summed."""
    formula = factorize(FIGURE_2, outcomes=OUTCOME | CONTEXT, treatments=ARM)

    assert formula.over == nodes("I1")
    assert isinstance(formula.body, Product)
    assert set(formula.body.factors) == {
        CFactor(nodes("I1", "Y")),
        CFactor(nodes("U1")),
        CFactor(nodes("U2")),
    }


def test_the_sum_of_products_is_the_effect() -> None:
    for i, case in enumerate(random_cases(60, seed=1)):
        formula = factorize(case.graph, outcomes=case.outcomes, treatments=case.treatments)
        model = random_model(case.graph, np.random.default_rng(i))
        order = tuple(v for v in case.graph.order if v in case.graph.observed)
        whole = np.ones([1] * len(order))
        assert isinstance(formula.body, Product)
        for factor in formula.body.factors:
            assert isinstance(factor, CFactor)
            whole = whole * model.c_factor(factor.of).aligned(order)
        axes = tuple(i for i, v in enumerate(order) if v in formula.over)
        value = whole.sum(axis=axes, keepdims=True)

        truth = model.effect(outcomes=case.outcomes, treatments=case.treatments)
        np.testing.assert_allclose(value - truth.aligned(order), 0, atol=1e-12)
