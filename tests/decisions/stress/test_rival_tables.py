"""Bounds under many graphs from one log: equal to those derived one by one, or proved alike."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds import derive
from boundit.bounds.derive import derive_bounds
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.errors import BounditError
from boundit.core.long_work import FOR_EVER
from boundit.core.rounding import ROUNDING
from boundit.decisions.stress import rival_tables
from boundit.decisions.stress.edges import add_edges, list_missing, set_apart
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.decisions.stress.worlds import draw_small, find_truth, list_tried, open_log


@pytest.mark.parametrize("seed", range(6))
def test_tables_of_larger_graphs_tell_what_derive_bounds_tells(seed: int) -> None:
    """Nowhere wider than derived one by one, and each holds the truth."""
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    log = open_log(problem)
    tables = RivalTables.of(read_request(graph, query, log, confidence=None), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    for edge in list(list_tried(problem))[::3]:
        grown = add_edges(graph, (edge,))
        found = tables.derive(grown, FOR_EVER)
        truth = find_truth(problem.model, problem, found)
        plain = derive_bounds(grown, query, log, confidence=None)
        for key, bound in found.bounds.items():
            assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING
            assert bound.lower >= plain.bounds[key].lower - 1e-7
            assert bound.upper <= plain.bounds[key].upper + 1e-7
        for (where, one, other), most in plain.contrasts.items():
            assert found.find_largest_difference(one, other, where) <= most + 1e-7
    assert base.rows() == derive_bounds(graph, query, log, confidence=None).rows()


def test_models_are_fitted_again_for_every_graph_that_differs_among_the_causes() -> None:
    """What they adjust for is no rule of a plan, so that no smaller graph can prove it."""
    graph = parse("Z = {A, B}; Z -> X; Z -> Y; X -> Y; Y -> D")
    rng = default_rng(0)
    a, b = rng.normal(size=(2, 300))
    x = (rng.random(300) < 1 / (1 + np.exp(-a))).astype(int)
    y = (rng.random(300) < 1 / (1 + np.exp(-a - b - x))).astype(int)
    rows = {"A": a, "B": b, "X": x, "Y": y, "D": y}
    options: dict[str, Any] = {"inference": "approximate", "models": "linear"}
    query = parse_query("Y | do(X)")
    tables = RivalTables.of(read_request(graph, query, rows, **options), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    widened = list[str]()

    assert base.rows() == derive_bounds(graph, query, rows, **options).rows()
    for edge in list_missing(graph):
        if set_apart(graph, query, edge) is not None:
            continue
        found = tables.derive(add_edges(graph, (edge,)), FOR_EVER)
        plain = derive_bounds(add_edges(graph, (edge,)), query, rows, **options)
        assert found.rows() == plain.rows(), str(edge)
        widened += [] if found.rows() == base.rows() else [str(edge)]
    assert "X <-> Y" in widened


def test_a_reward_between_0_and_1_is_hidden_in_every_graph() -> None:
    graph = parse("X -> Y; Y -> [S]")
    rows = {"X": [0, 1, 1, 0] * 20, "Y": [0.0, 0.5, 1.0, 0.25] * 20}
    request = read_request(graph, "Y | do(X)", rows, outcome_range=(0, 1))
    tables = RivalTables.of(request, graph.nodes)
    plain = derive_bounds(graph, "Y | do(X)", rows, outcome_range=(0, 1))

    assert tables.derive(graph, FOR_EVER).rows() == plain.rows()


def test_a_column_that_is_missing_is_refused_as_ever() -> None:
    graph = parse("Z -> X -> Y; Z -> Y")
    rows = {"X": [0, 1] * 9, "Y": [0, 1] * 9}
    tables = RivalTables.of(read_request(graph, "Y | do(X)", rows), graph.nodes)

    with pytest.raises(BounditError, match="no column 'Z'"):
        tables.derive(graph, FOR_EVER)


def test_a_larger_graph_that_tells_as_much_is_seen_through_a_few_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of a wide graph is searched once, and again only where an edge does harm."""
    chain = "; ".join(f"A{i} -> A{i + 1}" for i in range(8))
    graph = parse(f"{chain}; A8 -> Z; Z -> X -> Y; Z -> Y; Z -> [S]")
    rows = {f"A{i}": [0, 1] * 40 for i in range(9)}
    rows |= {"Z": [0, 1] * 40, "X": [0, 1, 1, 0] * 20, "Y": [0, 1, 1, 1] * 20}
    tables = RivalTables.of(read_request(graph, "Y | do(X), Z", rows), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    searched = list[int]()
    plan = derive.plan_request

    def count(request: BoundRequest, *others: Any) -> BoundPlan:
        searched.append(len(request.graph.nodes))
        return plan(request, *others)

    monkeypatch.setattr(rival_tables, "plan_request", count)
    edges = {str(e): e for e in list_missing(graph)}
    for name in ("A0 -> X", "A1 -> S", "A2 <-> Z", "A3 -> A5", "A4 <-> A6"):
        found = tables.derive(add_edges(graph, (edges[name],)), FOR_EVER)
        assert all(found[key].width <= base[key].width + 1e-9 for key in base.bounds)
    assert max(searched) < 5
    harmed = tables.derive(add_edges(graph, (edges["X <-> Y"],)), FOR_EVER)
    assert max(searched) == len(graph.nodes)
    assert (
        harmed.rows()
        == derive_bounds(add_edges(graph, (edges["X <-> Y"],)), "Y | do(X), Z", rows).rows()
    )


def test_differences_of_arms_are_seen_through_a_few_variables_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = "; ".join(f"A{i} -> A{i + 1}" for i in range(8))
    graph = parse(f"{chain}; A8 -> Z; Z -> X -> Y; Z -> Y; Z -> [S]")
    rng = default_rng(3)
    rows = {f"A{i}": rng.integers(2, size=4000) for i in range(9)}
    rows |= {"Z": rng.integers(2, size=4000), "X": rng.integers(2, size=4000)}
    chance = 0.1 + 0.2 * rows["X"] + 0.5 * rows["Z"]
    rows["Y"] = (rng.random(4000) < chance).astype(int)
    tables = RivalTables.of(read_request(graph, "Y | do(X)", rows), graph.nodes)
    base = tables.derive(graph, FOR_EVER)
    assert base.contrasts
    searched = list[int]()
    plan = derive.plan_request

    def count(request: BoundRequest, *others: Any) -> BoundPlan:
        searched.append(len(request.graph.nodes))
        return plan(request, *others)

    monkeypatch.setattr(rival_tables, "plan_request", count)
    edges = {str(e): e for e in list_missing(graph)}
    for name in ("A0 -> X", "A3 -> A5", "A4 <-> A6"):
        found = tables.derive(add_edges(graph, (edges[name],)), FOR_EVER)
        assert all(found[arm, ()].width <= base[arm, ()].width + 1e-9 for arm in (0, 1))
        assert found.effect(0, 1).upper <= base.effect(0, 1).upper + 1e-9
    assert max(searched) < len(graph.nodes) - 4
    harmed = tables.derive(add_edges(graph, (edges["X <-> Y"],)), FOR_EVER)
    assert max(searched) == len(graph.nodes)
    assert harmed.effect(0, 1).upper > base.effect(0, 1).upper


@pytest.mark.parametrize("seed", range(6, 12))
def test_what_is_seen_through_a_few_variables_holds_in_models_with_the_edge(seed: int) -> None:
    """The model has the edge, so that nothing but the larger graph vouches for its table."""
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    for i, edge in enumerate(list(list_tried(problem))[::4]):
        grown = add_edges(graph, (edge,))
        model = draw_model(grown, default_rng(100 * seed + i), levels=(2,))
        log = open_log(problem, model)
        tables = RivalTables.of(read_request(graph, query, log, confidence=None), graph.nodes)
        with suppress(BounditError):  # the log may refute the smaller graph
            tables.derive(graph, FOR_EVER)
        found = tables.derive(grown, FOR_EVER)
        truth = find_truth(model, problem, found)
        for key, bound in found.bounds.items():
            assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING
