"""Every way to a formula, and its truth on exact models."""

import numpy as np

from boundit.counts.formula import evaluate
from boundit.estimand.derivation import Identification, Question, Step
from boundit.estimand.factors import observe_distribution
from boundit.estimand.search import search
from boundit.estimand.solver import ExternalTable, Solver
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
            bits = table.seen.bits
            late = (bits.mask(case.outcomes & table.safe),)
            formula = observe_distribution(
                bits, bits.everything, late, table.write_conditional
            ).write_formula()

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


Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


def solved(graph: str, asked: Question, *tables: str) -> Identification:
    return Solver(parse(graph), [frozenset(t) for t in tables]).solve(asked)


def test_what_the_log_shows_is_read_off_it() -> None:
    answer = solved("X -> Y; X -> [S]", Question(Y, X))

    assert str(answer) == "P(Y | X, S=1)"
    assert [step.algorithm for step in answer.steps] == ["Rule 1", "Rule 2"]


def test_a_factor_that_no_source_has_whole_is_taken_piece_by_piece() -> None:
    """Z and Y share a hidden cause, so Q[Y, Z] is one factor; the table has P(z) only."""
    answer = solved("X -> Y; Z -> X; Z -> Y; Z <-> Y; Z -> [S]; X -> [S]", Question(Y, X), "Z")

    assert str(answer) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert Step(None, "Y given Z", "chain rule") in answer.steps


def test_a_table_covers_what_the_log_adds_to_it() -> None:
    answer = solved("X -> Y; X -> [S]; Y -> Z; Z -> [S]", Question(Y, X), "XZ")

    assert answer.steps[0].algorithm == "external"


def test_failing_tells_which_factor_and_which_walk() -> None:
    answer = solved("Y -> Z; Z -> [S]; Y -> W; W -> [S]", Question(Y, context=Z), "W")

    assert not answer
    assert list(map(str, answer.steps[-2:])) == [
        "c-factors: Q[Y] is not identified",
        "Rule 1: P(Y | Z) depends on selection [Y -> W -> S]",
    ]


def test_too_many_smaller_questions_end_the_search() -> None:
    solver = Solver(parse("X -> Y; X <-> Y; Y -> [S]"))
    solver._left = 0

    answer = solver.solve(Question(Y, X))

    assert not answer
    assert answer.steps[-1].reason == "too many smaller questions"


def test_without_tables_nothing_is_missed_and_all_is_true() -> None:
    """The exhaustive search finds no more than factors, logged rows and the three rules."""
    found = 0
    for i, case in enumerate(random_cases(250, seed=18)):
        asked = Question(case.outcomes, case.treatments, case.context)
        answer = Solver(case.graph).solve(asked)

        assert bool(answer) == bool(search(case.graph, asked))
        if answer.expression is not None:
            found += 1
            assert gap(case, answer.expression, i) < 1e-9
    assert found > 60


def test_with_tables_next_to_nothing_is_missed_and_all_is_true() -> None:
    missed = found = 0
    for i, case in enumerate(random_cases(250, seed=19, tables=2)):
        asked = Question(case.outcomes, case.treatments, case.context)
        answer = Solver(case.graph, case.external).solve(asked)
        missed += bool(search(case.graph, asked, case.external)) and not answer
        if answer.expression is not None:
            found += 1
            assert gap(case, answer.expression, i) < 1e-9
    assert found > 80
    assert missed <= 1
