"""Bounds under many graphs from one log: equal to those derived one by one, or proved alike."""

import pytest

from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import read_request
from boundit.decisions.stress.edges import add_edges, list_missing
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.graph.text import parse
from boundit.terms.errors import BounditError
from boundit.terms.long_work import FOR_EVER
from boundit.terms.rounding import ROUNDING
from tests.decisions.stress.worlds import draw_small, find_truth, list_tried, open_log


@pytest.mark.parametrize("seed", range(6))
def test_tables_of_larger_graphs_are_those_of_derive_bounds(seed: int) -> None:
    """And where the edge has no say in the answer, the graph's own table holds the truth."""
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    log = open_log(problem)
    tables = RivalTables.of(read_request(graph, query, log, confidence=None), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    for edge in list(list_tried(problem))[::3]:
        grown = add_edges(graph, (edge,))
        known = tables.is_derived(grown)
        found = tables.derive(grown, FOR_EVER)
        if known:
            truth = find_truth(problem.model, problem, found)
            for key, bound in found.bounds.items():
                assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING
        else:
            plain = derive_bounds(grown, query, log, confidence=None)
            assert found.rows() == plain.rows()
            assert dict(found.contrasts) == dict(plain.contrasts)
    assert base.rows() == derive_bounds(graph, query, log, confidence=None).rows()


def test_edges_beyond_the_causes_of_the_question_cost_nothing() -> None:
    graph = parse("C -> X -> Y; C -> Y; Y -> Z; Q; C -> [S]")
    rows = {"C": [0, 1] * 40, "X": [0, 1, 1, 0] * 20, "Y": [0, 1, 1, 1] * 20}
    rows |= {"Z": [0, 1] * 40, "Q": [1, 1, 0, 0] * 20}
    tables = RivalTables.of(read_request(graph, "Y | do(X)", rows), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    edges = {str(e): e for e in list_missing(graph)}

    for name in ("X -> Z", "Q -> Z", "C <-> Z", "Q <-> Z", "Z -> Q", "Q <-> S"):
        assert tables.derive(add_edges(graph, (edges[name],)), FOR_EVER) is base
    for name in ("Q -> X", "Q -> S", "X <-> Y", "Z -> S"):
        assert not tables.is_derived(add_edges(graph, (edges[name],)))


def test_a_reward_between_0_and_1_is_hidden_in_every_graph() -> None:
    graph = parse("X -> Y; Y -> [S]")
    rows = {"X": [0, 1, 1, 0] * 20, "Y": [0.0, 0.5, 1.0, 0.25] * 20}
    request = read_request(graph, "Y | do(X)", rows, reward_range=(0, 1))
    tables = RivalTables.of(request, graph.nodes)
    plain = derive_bounds(graph, "Y | do(X)", rows, reward_range=(0, 1))

    assert tables.derive(graph, FOR_EVER).rows() == plain.rows()


def test_a_column_that_is_missing_is_refused_as_ever() -> None:
    graph = parse("Z -> X -> Y; Z -> Y")
    rows = {"X": [0, 1] * 9, "Y": [0, 1] * 9}
    tables = RivalTables.of(read_request(graph, "Y | do(X)", rows), graph.nodes)

    with pytest.raises(BounditError, match="no column 'Z'"):
        tables.derive(graph, FOR_EVER)
