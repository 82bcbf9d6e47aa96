"""Fewer variables, the same answer."""

from itertools import chain

from boundit.estimand.language.expression import find_variables
from boundit.estimand.recovery.compact import compact
from boundit.estimand.recovery.derivation import Identification
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.text import parse
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes

Y, X = make_nodes("Y"), make_nodes("X")


def test_a_long_way_is_cut_short() -> None:
    """Front-door through a chain: any one of its nodes will do."""
    graph = parse("X -> A -> B -> C -> Y; X <-> Y")
    asked = Question(Y, X)

    answer = compact(graph, asked, (), Solver(graph).solve(asked))

    assert str(answer) == "Σ_{C} P(C | X) Σ_{X'} P(X') P(Y | C, X')"
    assert str(answer.steps[0]) == "projection: A, B may stay unseen"


def test_the_whole_back_door_is_one_set_of_parents() -> None:
    graph = parse("A -> B -> C -> X -> Y; A -> D -> Y; B -> D")
    asked = Question(Y, X)

    answer = compact(graph, asked, (), Solver(graph).solve(asked))

    assert answer.expression is not None
    assert len(find_variables(answer.expression) - Y - X) == 1


def test_no_answer_stays_none() -> None:
    none = Identification(None)

    assert compact(parse("X -> Y; X <-> Y"), Question(Y, X), (), none) is none


def test_smaller_formulas_are_true_and_not_larger() -> None:
    smaller = 0
    plain = random_cases(100, seed=21, sizes=(6, 7), selection=False)
    tabled = random_cases(60, seed=22, sizes=(5, 6), tables=1)
    for i, case in enumerate(chain(plain, tabled)):
        asked = Question(case.outcomes, case.treatments, case.context)
        first = Solver(case.graph, case.external).solve(asked)
        answer = compact(case.graph, asked, case.external, first)
        if first.expression is None or answer.expression is None:
            assert first.expression is answer.expression
            continue
        assert gap(case, answer.expression, i) < 1e-9
        before, after = find_variables(first.expression), find_variables(answer.expression)
        assert len(after - asked.variables) <= len(before - asked.variables)
        smaller += len(after) < len(before)
    assert smaller > 2
