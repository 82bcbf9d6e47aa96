"""What a law depends on, against separation pair by pair."""

from boundit.graph.boundary import find_boundary, find_causes
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.estimand.truth import random_cases


def test_the_boundary_separates_from_all_else_and_none_of_it_can_be_spared() -> None:
    for case in random_cases(100, seed=2):
        given = case.graph.nodes - case.outcomes
        met = find_boundary(case.graph, case.outcomes, given=given)

        if rest := given - met:
            assert open_walk(case.graph, case.outcomes, rest, given=met) is None
        for node in met:
            assert open_walk(case.graph, case.outcomes, node, given=given - {node}) is not None


def test_causes_stop_at_cut_edges_and_at_what_is_closed() -> None:
    chain = parse("A -> B -> C -> D")

    assert find_causes(chain, frozenset("D")) == frozenset("ABCD")
    assert find_causes(chain, frozenset("D"), into=frozenset("C")) == frozenset("CD")
    assert find_causes(chain, frozenset("D"), out_of=frozenset("B")) == frozenset("CD")
    assert find_causes(chain, frozenset("D"), closed=frozenset("AB")) == frozenset("ABCD")
