"""Unbiased tables, and what the log adds to them."""

import numpy as np

from boundit.counts.formulas.evaluate import evaluate
from boundit.estimand.recovery.external import ExternalTable
from boundit.estimand.recovery.question import Question
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes

Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


def test_a_conditional_needs_the_law_of_its_conditions() -> None:
    """Bareinboim, Tian and Pearl 2014: with P(x, c) of everyone, P(y | x) is recoverable."""
    graph = parse("X -> Z -> Y; Z -> [S]")
    answer = ExternalTable.of(graph, X | Z).answer(Question(Y, context=X))

    assert str(answer) == "Σ_{Z} P(Y | Z, S=1) P(Z | X)"


def test_a_table_covers_only_what_it_makes_safe() -> None:
    table = ExternalTable.of(parse("Z -> X -> Y; Y -> [S]"), Z)

    assert table.safe == Z
    assert not table.answer(Question(Y, X))


def test_the_law_it_writes_is_that_of_everyone() -> None:
    """P(t, w) = P(w | t, S=1) P(t) whenever w is separated from S by t."""
    larger = 0
    for i, case in enumerate(random_cases(120, seed=10, tables=1)):
        model = draw_model(case.graph, np.random.default_rng(i))
        for measured in case.external:
            table = ExternalTable.of(case.graph, measured)
            larger += table.safe > measured
            formula = table.write_law(table.seen, (case.outcomes,)).write_formula()

            value = evaluate(formula, model.log(), external=[model.distribution(measured)])

            truth = model.distribution(table.safe)
            np.testing.assert_allclose(value.align(truth.axes), truth.values, atol=1e-9)
    assert larger > 10


def test_its_answers_are_true_on_exact_models() -> None:
    found = 0
    for i, case in enumerate(random_cases(200, seed=11, tables=1)):
        asked = Question(case.outcomes, case.treatments, case.context)
        for measured in case.external:
            formula = ExternalTable.of(case.graph, measured).answer(asked).expression
            if formula is not None:
                found += 1
                assert gap(case, formula, i) < 1e-9
    assert found > 15
