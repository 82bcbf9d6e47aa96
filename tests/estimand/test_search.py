"""The search of the do-calculus, against separation and exact models."""

from random import Random

import pytest

from boundit.estimand.derivation import Question
from boundit.estimand.search import BitGraph, list_bits, search
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes
from tests.oracles.do_search import is_derivable


def test_connected_is_what_open_walks_reach_in_the_cut_graph() -> None:
    rng = Random(12)
    for case in random_cases(200, seed=12):
        graph, bits = case.graph, BitGraph(case.graph)
        given = frozenset(rng.sample(sorted(graph.nodes), 1)) | case.context
        cut = graph.without_edges_into(case.treatments).without_edges_out_of(case.context)
        (source, *_) = sorted(graph.nodes - given)

        reached = bits.connected(
            bits.places[source],
            bits.mask(given),
            bits.mask(case.treatments),
            bits.mask(case.context),
        )

        for node in graph.nodes - given - {source}:
            open_ = open_walk(cut, source, node, given=given) is not None
            assert bool(reached >> bits.places[node] & 1) == open_


def test_ancestors_are_those_of_the_cut_graph() -> None:
    for case in random_cases(100, seed=13):
        bits = BitGraph(case.graph)
        cut = case.graph.without_edges_into(case.treatments)
        found = bits.ancestors(bits.mask(case.outcomes), bits.mask(case.treatments))

        assert {bits.names[i] for i in list_bits(found)} == cut.ancestors(case.outcomes)


def test_the_selection_node_is_last_and_read_as_nothing() -> None:
    for case in random_cases(20, seed=14):
        bits = BitGraph(case.graph)

        assert bits.names[-1] == "S"
        assert bits.read(bits.everything) == case.graph.observed


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
        "data: P(Z) from a table",
        "Rule 3: P(Z | do(X)) = P(Z)",
        "chain rule: P(Y | do(X)): sum over Z of P(Y | do(X), Z) and P(Z | do(X))",
    ]


def test_without_selection_terms_speak_of_everyone() -> None:
    answer = search(parse("X -> Z -> Y; X <-> Y"), Question(Y, X))

    assert str(answer) == "Σ_{Z} P(Z | X) Σ_{X'} P(X') P(Y | X', Z)"
