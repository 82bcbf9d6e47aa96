"""Missing edges: which there are, and what is concluded after each is added."""

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds import derive
from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import read_request
from boundit.core.errors import BounditError, GraphError, HasCycle, OptionError
from boundit.core.rounding import ROUNDING
from boundit.decisions import stress as stress_module
from boundit.decisions.compare import compare
from boundit.decisions.policies import LOGGED
from boundit.decisions.stress import (
    LargerGraphs,
    MissingEdge,
    add_edge,
    find_exclusion,
    list_missing,
    stress,
)
from boundit.decisions.stress_report import StressReport
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.report.sections import Table
from boundit.results.bound_table import BoundTable
from boundit.simulation.fit import find_relevant
from boundit.simulation.random_models import draw_graph, draw_model
from tests.decisions.missing_edges import (
    NUMBERS,
    REFUTED,
    draw_refuting,
    draw_small,
    draw_unseen,
    find_truth,
    list_tried,
    open_log,
)

GRAPH = parse("Age -> Ad -> Click; Age -> Click; Age -> [S]; Mood -> Click")
QUERY = "Click | do(Ad), Age"
LOG = {
    name: column.tolist()
    for name, column in draw_model(GRAPH, default_rng(3), levels=(2,))
    .sample_log(8_000, default_rng(1))
    .items()
}
CLICKS = parse("Age -> Ad -> Click; Age -> Click")
CLICK_LOG = {
    "Age": ["old"] * 400 + ["young"] * 400,
    "Ad": (["A"] * 200 + ["B"] * 200) * 2,
    "Click": [0, 0, 0, 1] * 50 + [1, 1, 1, 0] * 50 + [0, 0, 0, 1] * 50 + [1, 1, 0, 1] * 50,
}


def is_within(found: BoundTable, plain: BoundTable, slack: float = 1e-7) -> bool:
    """Whether intervals and effects are nowhere wider than derived directly."""
    return all(
        found.bounds[key].lower >= bound.lower - slack
        and found.bounds[key].upper <= bound.upper + slack
        for key, bound in plain.bounds.items()
    ) and all(
        found.find_largest_difference(one, other, where) <= most + slack
        for (where, one, other), most in plain.contrasts.items()
    )


@pytest.mark.parametrize("seed", range(8))
def test_every_edge_that_can_be_added_is_listed_once_and_no_other(seed: int) -> None:
    graph = draw_graph(4, default_rng(seed), selection=seed % 2 == 0)
    listed = {(e.tail, e.kind, e.head) for e in list_missing(graph)}
    assert len(listed) == len(list(list_missing(graph)))
    for one in graph.nodes:
        for other in graph.nodes - {one}:
            cyclic = one in graph.descendants(other)
            there = (one, other) in graph.directed
            assert ((one, "->", other) in listed) == (not cyclic and not there)
            if one < other:
                assert ((one, "<->", other) in listed) == ((one, other) not in graph.bidirected)


def test_edges_that_change_the_question_are_excluded() -> None:
    query, graph = parse_query("Y | do(X), C"), parse("X -> Z; X -> Y; C -> Y; Y -> [S]")
    found = {str(e): find_exclusion(graph, query, e) for e in list_missing(graph)}

    assert found["Z -> C"] == found["X -> C"] == "the treatment would affect the context C"
    assert found["S -> Z"] == "selection has no effects"
    assert found["C -> X"] is found["C <-> X"] is None
    with pytest.raises(GraphError):
        add_edge(graph, MissingEdge("S", "->", "Z"))
    with pytest.raises(HasCycle):
        add_edge(graph, MissingEdge("Y", "->", "X"))


def test_what_an_edge_would_mean() -> None:
    graph = parse("C -> X -> Y; Y -> [S]; Z")
    meant = {str(e): e.write_meaning("S") for e in list_missing(graph)}

    assert meant["X <-> Y"] == "X and Y have an unmeasured common cause"
    assert meant["Z -> X"] == "Z affects X"
    assert meant["X -> S"] == "X affects which rows were logged"
    assert meant["S <-> X"] == "X and which rows were logged have an unmeasured common cause"


def test_an_edge_into_a_member_of_a_group_is_one_into_all() -> None:
    graph = parse("Z = {A, B}; A -> M -> Y; Z -> Y; W")
    found = {str(edge): edge for edge in list_missing(graph)}

    assert not {"A -> B", "B -> A", "A <-> B", "M -> A", "W -> B", "B <-> W"} & found.keys()
    assert {"B -> M", "W -> A", "A <-> W", "A <-> M"} <= found.keys()
    assert ("W", "B") in add_edge(graph, found["W -> A"]).directed
    independent = parse("V = independent {A, B}; V -> Y")
    (edge,) = (each for each in list_missing(independent) if str(each) == "A -> B")
    assert add_edge(independent, edge).groups == ()


@pytest.fixture(scope="module")
def report() -> StressReport:
    return stress(GRAPH, QUERY, LOG)


def test_conclusions_are_those_of_bounds_derived_again(report: StressReport) -> None:
    own = derive_bounds(GRAPH, QUERY, LOG)
    edges = {str(edge): edge for edge in list_missing(GRAPH)}
    assert {str(e.edge) for e in report.edges} | {str(e) for e, _ in report.excluded} == {
        *edges
    }
    for each in report.edges:
        again = derive_bounds(add_edge(GRAPH, edges[str(each.edge)]), QUERY, LOG)
        assert each.table is not None
        assert is_within(each.table, again, 1e-9)
        assert is_within(again, each.table, 1e-9) or each.table.rows() == own.rows()
        before, after = own.choose(), again.choose()
        assert {where for where, _ in each.changed} == {
            where
            for where, one in before.items()
            if not one.ties and (after[where].single != one.single or after[where].ties)
        }
    ranks = [each.rank() for each in report.edges]
    assert ranks == sorted(ranks)
    assert not report.not_reached


def test_the_report_as_text_page_and_record(report: StressReport) -> None:
    changed = [each for each in report.edges if each.changed]

    assert report.summary.startswith("The choice ")
    assert f"changes under {len(changed)} of {len(report.edges)} missing edges: " in str(report)
    assert "not covered: two missing edges at once" in str(report)
    assert str(changed[0].edge) in str(report)
    tables = [part for part in report.page().sections if isinstance(part, Table)]
    assert [row[0] for row in tables[1].rows] == [str(e.edge) for e in report.edges]
    assert json.loads(json.dumps(report.record()))["summary"] == report.summary


def test_the_data_column_says_what_a_test_could_have_found(report: StressReport) -> None:
    data = {str(each.edge): each.data for each in report.edges}

    assert data["Ad <-> Click"] == "untestable"
    assert data["Age <-> Mood"].startswith("consistent without it (V >= 0.0")
    dependent = {"X": [0, 1] * 300, "Z": [0, 1] * 300, "Y": [0, 1, 1] * 200}
    contradicted = stress("X -> Y; Z -> Y", "Y | do(X)", dependent)
    assert "The data suggest that X <-> Z" in contradicted.summary


def test_the_union_contains_the_bounds_under_each_edge(report: StressReport) -> None:
    united = report.unite()
    for each in report.edges:
        assert each.table is not None
        assert is_within(each.table, united)


def test_an_edge_that_undoes_the_adjustment_of_models_undoes_the_choice() -> None:
    rows, truth = draw_unseen(4_000)
    report = stress(NUMBERS, "Y | do(X)", rows, inference="approximate", models="linear")
    (found,) = (each for each in report.edges if str(each.edge) == "X <-> Y")

    assert truth[0] > truth[1]
    assert report.choice is not None
    assert report.choice[()].single == (1,)
    assert found.undecided == ((),)
    assert found.table is not None
    for arm in (0, 1):
        assert found.table[arm, ()].lower <= truth[arm] <= found.table[arm, ()].upper


def test_edges_that_the_time_limit_left_out_are_named() -> None:
    report = stress(GRAPH, QUERY, LOG, time_limit=0)

    assert len(report.not_reached) + len(report.edges) + len(report.excluded) == len(
        list(list_missing(GRAPH))
    )
    assert "The time limit left out" in report.summary


def test_an_edge_without_bounds_has_the_reason() -> None:
    graph = parse("X -> Y -> Z; X -> [S]")
    report = stress(graph, "Y | do(X)", {"X": [0, 0, 1] * 30, "Y": [0, 1, 1] * 30})
    refused = [each for each in report.edges if each.refusal]

    assert "Z -> S" in {str(each.edge) for each in refused}
    assert "X -> Z" not in {str(each.edge) for each in refused}
    assert all("no column 'Z'" in str(each.refusal) for each in refused)
    assert list(report.edges[-len(refused) :]) == refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 2}, "level=2 is not a probability"),
        ({"policy": 1}, "policy is compared with another policy. Add baseline"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        stress(GRAPH, QUERY, LOG, **options)


@pytest.mark.parametrize("sides", [None, (1, 0), (LOGGED, 0)])
def test_of_a_graph_that_the_data_refute_edges_that_mend_it_are_named(sides: Any) -> None:
    options = {} if sides is None else dict(zip(("policy", "baseline"), sides, strict=True))
    report = stress(REFUTED, "Y | do(X)", draw_refuting(), **options)
    found = {str(each.edge): each for each in report.edges}

    assert "The data refute the graph: " in report.summary
    assert "linear program over X, Y, Z" in report.summary
    assert str(report.refutation) == report.record()["refutation"]
    assert report.choice is None
    assert {(b.lower, b.upper) for b in report.table.bounds.values()} == {(0, 1)}
    for name in ("Z -> Y", "Y <-> Z"):
        again = derive_bounds(parse(f"{REFUTED}; {name}"), "Y | do(X)", draw_refuting())
        table = found[name].table
        assert table is not None
        assert table.rows() == again.rows()
        assert report.unite()[1, ()].upper >= again[1, ()].upper
    assert "refute" in str(found["X <-> Z"].refusal)
    assert report.unite()[1, ()].upper < 1


def test_edges_elsewhere_do_not_mend_a_refuted_graph() -> None:
    rng, rows = default_rng(0), draw_refuting()
    rows |= {name: rng.integers(2, size=len(rows["X"])).tolist() for name in "AB"}
    report = stress(f"{REFUTED}; A; B", "Y | do(X)", rows)
    mend = {str(each.edge) for each in report.edges if not each.refusal}

    assert {"Z -> Y", "Y <-> Z"} <= mend
    assert not {"A -> B", "A <-> B", "A -> X", "A <-> X"} & mend


def test_the_verdict_under_an_edge_is_that_of_compare_on_its_bounds() -> None:
    report = stress(CLICKS, QUERY, CLICK_LOG, policy="B", baseline="A")

    assert report.comparison is not None
    assert report.comparison.verdict == "better"
    for each in report.edges:
        assert each.table is not None
        assert each.comparison is not None
        again = compare(each.table, "B", "A")
        assert each.comparison.interval == again.interval
        assert each.verdict_changes == (again.verdict != "better")
    assert {str(e.edge) for e in report.edges if e.verdict_changes} == {"Ad <-> Click"}
    n = len(report.edges)
    assert f"The verdict changes under 1 of {n} missing edges: Ad <-> Click." in report.summary
    assert report.edges[0].record()["verdict"] == "inconclusive"
    assert "verdict" in str(report)
    assert "verdict" not in str(stress(CLICKS, QUERY, CLICK_LOG))


def test_the_logging_policy_is_bounded_under_every_graph() -> None:
    graph = parse("Age -> Ad -> Click; Age -> Click; Ad -> [S]")
    report = stress(graph, QUERY, CLICK_LOG, policy="B", baseline=LOGGED)
    (harmed,) = (each for each in report.edges if str(each.edge) == "Click -> S")

    assert report.comparison is not None
    assert harmed.comparison is not None
    assert harmed.comparison.interval.width > report.comparison.interval.width


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_larger_graphs_hold_and_are_no_wider(seed: int) -> None:
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    log = open_log(problem)
    tables = LargerGraphs(read_request(graph, query, log, confidence=None), graph)
    assert is_within(tables.derive(graph), derive_bounds(graph, query, log, confidence=None))
    for edge in list(list_tried(problem))[::3]:
        grown = add_edge(graph, edge)
        found = tables.derive(grown)
        assert is_within(found, derive_bounds(grown, query, log, confidence=None))
        truth = find_truth(problem.model, problem, found)
        for key, bound in found.bounds.items():
            assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING


@pytest.mark.parametrize("seed", range(6, 12))
def test_bounds_under_an_edge_hold_in_models_that_have_it(seed: int) -> None:
    problem = draw_small(seed)
    graph, query = problem.model.graph, problem.query
    for i, edge in enumerate(list(list_tried(problem))[::4]):
        grown = add_edge(graph, edge)
        model = draw_model(grown, default_rng(100 * seed + i), levels=(2,))
        log = open_log(problem, model)
        tables = LargerGraphs(read_request(graph, query, log, confidence=None), graph)
        with suppress(BounditError):  # the log may refute the smaller graph
            tables.derive(graph)
        found = tables.derive(grown)
        truth = find_truth(model, problem, found)
        for key, bound in found.bounds.items():
            assert bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING


def test_models_are_fitted_again_for_every_graph_that_differs_among_the_causes() -> None:
    graph = parse("Z = {A, B}; Z -> X; Z -> Y; X -> Y; Y -> D")
    rng = default_rng(0)
    a, b = rng.normal(size=(2, 300))
    x = (rng.random(300) < 1 / (1 + np.exp(-a))).astype(int)
    y = (rng.random(300) < 1 / (1 + np.exp(-a - b - x))).astype(int)
    rows = {"A": a, "B": b, "X": x, "Y": y, "D": y}
    options: dict[str, Any] = {"inference": "approximate", "models": "linear"}
    for each in stress(graph, "Y | do(X)", rows, **options).edges[::3]:
        assert each.table is not None
        plain = derive_bounds(add_edge(graph, each.edge), "Y | do(X)", rows, **options)
        assert each.table.rows() == plain.rows(), str(each.edge)


def test_an_outcome_between_0_and_1_is_hidden_in_every_graph() -> None:
    rows = {"X": [0, 1, 1, 0] * 20, "Y": [0.0, 0.5, 1.0, 0.25] * 20}
    report = stress("X -> Y; Y -> [S]", "Y | do(X)", rows, outcome_range=(0, 1))
    plain = derive_bounds("X -> Y; Y -> [S]", "Y | do(X)", rows, outcome_range=(0, 1))

    assert report.table.rows() == plain.rows()


def test_edges_far_from_the_question_are_seen_through_few_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = "; ".join(f"A{i} -> A{i + 1}" for i in range(8))
    graph = parse(f"{chain}; A8 -> Z; Z -> X -> Y; Z -> Y; Z -> [S]")
    rng = default_rng(3)
    rows = {f"A{i}": rng.integers(2, size=4000) for i in range(9)}
    rows |= {"Z": rng.integers(2, size=4000), "X": rng.integers(2, size=4000)}
    rows["Y"] = (rng.random(4000) < 0.1 + 0.2 * rows["X"] + 0.5 * rows["Z"]).astype(int)
    tables = LargerGraphs(read_request(graph, "Y | do(X)", rows), graph)
    base = tables.derive(graph)
    assert base.contrasts
    searched = list[int]()
    plan = derive.plan_request

    def count(request: Any, *others: Any) -> Any:
        searched.append(len(request.graph.nodes))
        return plan(request, *others)

    monkeypatch.setattr(stress_module, "plan_request", count)
    edges = {str(e): e for e in list_missing(graph)}
    for name in ("A0 -> X", "A3 -> A5", "A4 <-> A6"):
        assert is_within(tables.derive(add_edge(graph, edges[name])), base)
    assert max(searched) < 6
    harmed = tables.derive(add_edge(graph, edges["X <-> Y"]))
    assert harmed.effect(0, 1).upper > base.effect(0, 1).upper


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 3])
def test_on_a_wide_graph_no_edge_has_wider_bounds_than_derived_again(seed: int) -> None:
    rng = default_rng(seed)
    graph = draw_graph(10, rng, directed=0.25, bidirected=0.05, selection=True)
    *_, outcome = (name for name in graph.order if name in graph.observed)
    arm = next(name for name in graph.order if outcome in graph.descendants(name) - {name})
    query = f"{outcome} | do({arm})"
    rows = draw_model(graph, rng, levels=(2,)).sample_log(5_000, rng)
    report = stress(graph, query, rows)

    assert len(report.edges) > 50
    for each in report.edges[::8]:
        grown = find_relevant(add_edge(graph, each.edge), parse_query(query))
        again = derive_bounds(grown, query, rows)
        assert each.table is not None
        for key, bound in again.bounds.items():
            own = report.table.bounds[key]
            assert each.table.bounds[key].lower >= min(bound.lower, own.lower) - ROUNDING
            assert each.table.bounds[key].upper <= max(bound.upper, own.upper) + ROUNDING
