"""Algorithm 2: the paper's figure, every line, and its truth on exact models."""

import numpy as np

from boundit.counts.evaluate import evaluate
from boundit.estimand.recovery.derivation import Step
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import random_cases
from tests.nodes import make_nodes
from tests.paper import FIGURE_2
from tests.simulation.c_factors import c_factor


def test_selection_on_the_mediator_loses_the_reward_factor() -> None:
    """Figure 2: once U2 and X2 are divided away, every c-component steers S."""
    answer = recover_factor(make_nodes("I1", "Y"), FIGURE_2)

    assert answer.expression is None
    assert answer.steps == (
        Step(15, "divide by Q of U2, X2"),
        Step(9, "every c-component has a say in selection"),
    )


def test_what_selects_no_one_is_recovered() -> None:
    """Figure 2: P(u2) is that of the log."""
    answer = recover_factor(make_nodes("U2"), FIGURE_2)

    assert str(answer) == "P(U2 | S=1)"
    assert answer.steps == (Step(5, "sum out X2, Y"), Step(13, "Identify within U2"))


def test_it_stops_where_identify_fails() -> None:
    """The listing would go on to line 15 on a graph that lost its target."""
    answer = recover_factor(make_nodes("Y"), parse("X -> Y; X <-> Y; Z -> [S]"))

    assert not answer
    assert [step.line for step in answer.steps] == [13, 2]


def test_dividing_opens_the_way_to_a_sum() -> None:
    """Lines 15, 5 and 13: Z is divided away, then W no longer leads to the target."""
    graph = parse("W -> Z -> Y; W <-> T; T -> [S]; Z -> R; R <-> Y")
    steps = [s.line for s in recover_factor(make_nodes("Y", "R"), graph).steps]

    assert steps == [13]
    assert recover_factor(make_nodes("Y"), graph).expression is not None


def test_what_is_recovered_is_true() -> None:
    """Algorithm 2 is sound: a recovered formula is Q[C] at every point of every model."""
    found = 0
    for i, case in enumerate(random_cases(250, seed=5)):
        model = draw_model(case.graph, np.random.default_rng(i))
        kept = case.graph.observed - case.treatments
        for component in case.graph.induced(kept).components():
            formula = recover_factor(component, case.graph).expression
            if formula is None:
                continue
            found += 1
            value, truth = evaluate(formula, model.log()), c_factor(model, component)
            axes = tuple(dict.fromkeys([*value.axes, *truth.axes]))
            gap = value.align(axes) - truth.align(axes)
            np.testing.assert_allclose(gap, 0, atol=1e-9)
    assert found > 100
