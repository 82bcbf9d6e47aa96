"""The search of the do-calculus, against separation and exact models."""

import pytest

from boundit.estimand.derivation import Question
from boundit.estimand.search import search
from boundit.graph.text import parse
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes
from tests.oracles.do_search import is_derivable

Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


@pytest.mark.parametrize("tables", [0, 2])
def test_it_agrees_with_an_independent_search(tables: int) -> None:
    """Atoms and swaps reach what rules on joint laws, sums, products and ratios reach."""
    found = 0
    for i, case in enumerate(random_cases(150, seed=15 + tables, tables=tables)):
        graph = case.graph
        asked = Question(case.outcomes, case.treatments, case.context)
        answer = search(graph, asked, case.external)

        assert bool(answer) == is_derivable(
            graph.directed,
            graph.bidirected,
            graph.selection,
            *(case.outcomes, case.treatments, case.context),
            case.external,
        )
        if answer.expression is not None:
            found += 1
            assert gap(case, answer.expression, i) < 1e-9
    assert found > 30


def test_the_steps_are_a_derivation_premises_first() -> None:
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    answer = search(graph, Question(Y, X), [Z])

    assert str(answer) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert [str(step) for step in answer.steps] == [
        "data: P(Y | X, Z, S=1) from the log",
        "Rule 2: P(Y | do(X), Z, S=1) = P(Y | X, Z, S=1)",
        "Rule 1: P(Y | do(X), Z) = P(Y | do(X), Z, S=1)",
        "data: P(Z) from external data",
        "Rule 3: P(Z | do(X)) = P(Z)",
        "chain rule: P(Y | do(X)): sum over Z of P(Y | do(X), Z) and P(Z | do(X))",
    ]


def test_without_selection_terms_speak_of_everyone() -> None:
    answer = search(parse("X -> Z -> Y; X <-> Y"), Question(Y, X))

    assert str(answer) == "Σ_{Z} P(Z | X) Σ_{X'} P(X') P(Y | X', Z)"
