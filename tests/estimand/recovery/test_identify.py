"""Tian's Identify: its three lines, and its truth on exact models."""

import numpy as np

from boundit.counts.formulas.evaluate import evaluate
from boundit.estimand.language.law import write_observed_law
from boundit.estimand.recovery.identify import identify
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.terms.names import Nodes
from tests.estimand.truth import random_cases
from tests.nodes import make_nodes
from tests.simulation.c_factors import c_factor

NAPKIN = parse("W -> R -> X -> Y; W <-> X; W <-> Y")
BOW = parse("X -> Y; X <-> Y")


def lines(target: Nodes, within: Nodes, graph: CausalGraph) -> list[int | None]:
    known = write_observed_law(graph).divide_by(graph.observed - within)
    return [step.line for step in identify(target, within, known, graph).steps]


def test_line_1_sums_out_what_does_not_act_on_the_target() -> None:
    assert lines(make_nodes("X"), make_nodes("X", "Y"), BOW) == [1]
    assert lines(make_nodes("X", "Y"), make_nodes("X", "Y"), BOW) == []


def test_line_2_stops_when_everything_acts_on_the_target() -> None:
    assert lines(make_nodes("Y"), make_nodes("X", "Y"), BOW) == [2]


def test_line_3_goes_on_within_the_part_that_holds_the_target() -> None:
    assert lines(make_nodes("Y"), make_nodes("W", "X", "Y"), NAPKIN) == [3]


def test_what_is_identified_is_the_c_factor() -> None:
    found = 0
    for i, case in enumerate(random_cases(150, seed=4, selection=False)):
        model = draw_model(case.graph, np.random.default_rng(i))
        for home in case.graph.components():
            for target in case.graph.induced(home - case.treatments).components():
                known = write_observed_law(case.graph).divide_by(case.graph.nodes - home)
                formula = identify(target, home, known, case.graph).expression
                if formula is None:
                    continue
                found += target < home
                value = evaluate(formula, model.distribution(), external=[model.distribution()])
                truth = c_factor(model, target)
                axes = tuple(dict.fromkeys([*value.axes, *truth.axes]))
                gap = value.align(axes) - truth.align(axes)
                np.testing.assert_allclose(gap, 0, atol=1e-9)
    assert found > 20
