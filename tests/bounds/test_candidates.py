"""Bounds that hold if any one of several graphs is right."""

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.candidates import unite_tables
from boundit.bounds.derive import derive_bounds
from boundit.core.errors import OptionError, UnknownNode
from boundit.core.rounding import ROUNDING
from boundit.counts.errors import MissingColumn
from boundit.decisions.stress import add_edge
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.decisions.missing_edges import (
    NUMBERS,
    draw_small,
    draw_unseen,
    find_truth,
    list_tried,
    open_log,
)

CLEAN, CONFOUNDED = parse("X -> Y"), parse("X -> Y; X <-> Y")
ROWS = {"X": [0, 0, 0, 1, 1, 1] * 50, "Y": [0, 0, 1, 0, 1, 1] * 50}


@pytest.mark.parametrize("seed", range(6))
def test_the_union_holds_the_truth_whichever_graph_is_right(seed: int) -> None:
    """For a model of the larger graph and for one of the smaller."""
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    rng = np.random.default_rng(seed)
    edges = list(list_tried(problem))
    edge = edges[int(rng.integers(len(edges)))]
    grown = add_edge(graph, edge)
    levels = tuple({*problem.model.n_levels.values()})
    larger = draw_model(grown, rng, levels=levels, binary=query.outcomes)
    for model, right in ((larger, grown), (problem.model, graph)):
        log = open_log(problem, model)
        try:
            united = derive_bounds([graph, grown], query, log, confidence=None)
        except bd.BounditError:
            assert model is larger, "only a graph that is wrong can be refuted"
            continue
        own = derive_bounds(right, query, log, confidence=None)
        truth = find_truth(model, problem, united)
        for key, bound in united.bounds.items():
            assert bound.lower <= own.bounds[key].lower + ROUNDING
            assert bound.upper >= own.bounds[key].upper - ROUNDING
            assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING
        for (where, one, other), most in united.contrasts.items():
            assert truth[one, where] - truth[other, where] <= most + ROUNDING


def test_the_order_of_candidates_does_not_matter_to_models() -> None:
    """The second graph leaves nothing to adjust for, so that models have no say there."""
    rows, truth = draw_unseen(2_000)
    candidates = {"clean": NUMBERS, "confounded": f"{NUMBERS}; X <-> Y"}
    turned = dict(reversed(candidates.items()))
    one, other = (
        derive_bounds(of, "Y | do(X)", rows, inference="approximate", models="linear")
        for of in (candidates, turned)
    )

    assert one.rows() == other.rows()
    assert one.models == other.models != ""
    for arm in (0, 1):
        assert one[arm, ()].lower <= truth[arm] <= one[arm, ()].upper
        assert one.bounds[(arm,), ()].lower_rule == "confounded: natural bounds on X"


def test_each_end_names_the_graph_that_set_it() -> None:
    candidates = {"clean": CLEAN, "confounded": CONFOUNDED}
    united = derive_bounds(candidates, "Y | do(X)", ROWS)
    alone = derive_bounds(CONFOUNDED, "Y | do(X)", ROWS)

    assert united[0, ()] == alone[0, ()]
    lower, upper = united.bounds[(0,), ()].lower_rule, united.bounds[(1,), ()].upper_rule
    assert lower.startswith("confounded: ")
    assert upper.startswith("confounded: ")
    assert "confounded: " in str(united.explain(0))
    assert united.confidence == alone.confidence


def test_an_end_that_nothing_bounds_says_under_which_graph() -> None:
    steered = parse("X -> Y; X <-> Y; Y -> [S]")
    united = derive_bounds({"clean": CLEAN, "steered": steered}, "Y | do(X)", ROWS)

    assert united.bounds[(0,), ()].marks == (
        "nothing bounds its lower end under steered",
        "nothing bounds its upper end under steered",
    )


def test_a_difference_is_the_largest_of_all_graphs() -> None:
    tables = {
        "one": derive_bounds(CLEAN, "Y | do(X)", ROWS),
        "other": derive_bounds(CONFOUNDED, "Y | do(X)", ROWS),
    }
    united = unite_tables(tables)

    for one, other in ((0, 1), (1, 0)):
        most = max(table.effect(one, other).upper for table in tables.values())
        assert united.effect(one, other).upper == pytest.approx(most)


def test_tables_of_different_questions_are_refused() -> None:
    tables = {
        "one": derive_bounds(CLEAN, "Y | do(X)", ROWS),
        "two": derive_bounds(CLEAN, "Y | do(X)", ROWS, confidence=0.9),
    }
    with pytest.raises(OptionError, match="one and two are not about the same"):
        unite_tables(tables)
    with pytest.raises(OptionError, match="no table to unite"):
        unite_tables({})
    with pytest.raises(OptionError, match="no candidate graph"):
        derive_bounds([], "Y | do(X)", ROWS)


def test_every_graph_must_have_the_variables_of_the_query() -> None:
    with pytest.raises(UnknownNode, match=r"^graph 2: The graph has no node 'X'"):
        derive_bounds([CLEAN, parse("A -> Y")], "Y | do(X)", ROWS)


def test_a_candidate_with_a_column_that_the_log_lacks_is_named() -> None:
    with pytest.raises(MissingColumn, match=r"^strange: The data have no column 'Q'"):
        derive_bounds(
            {"own": CLEAN, "strange": parse("Q -> X; Q -> Y; X -> Y")}, "Y | do(X)", ROWS
        )


def test_a_candidate_that_the_data_refute_is_left_out() -> None:
    """Z is an instrument under one graph, and the log breaks the instrumental inequality."""
    rows = {"Z": [0, 1] * 500, "X": [0] * 1000, "Y": [0, 1] * 500}
    instrument, direct = parse("Z -> X -> Y; X <-> Y"), parse("Z -> X -> Y; Z -> Y; X <-> Y")
    domain = {"X": [0, 1]}

    with pytest.raises(bd.BounditError, match="refute"):
        derive_bounds(instrument, "Y | do(X)", rows, domain=domain)
    united = derive_bounds([instrument, direct], "Y | do(X)", rows, domain=domain)
    alone = derive_bounds(direct, "Y | do(X)", rows, domain=domain)

    assert united.intervals == alone.intervals
    assert united.caveats[0] == "critical: the data refute graph 1, which is left out"
