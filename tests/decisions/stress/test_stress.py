"""What would overturn an answer: true by deriving the bounds of each graph again."""

import json
from typing import Any

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.core.errors import OptionError
from boundit.core.rounding import ROUNDING
from boundit.decisions.policies import LOGGED
from boundit.decisions.stress.edges import add_edges, list_missing, set_apart
from boundit.decisions.stress.report import StressReport
from boundit.decisions.stress.standing import compare_standings, find_standing
from boundit.decisions.stress.stress import stress
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph, draw_model
from tests.decisions.stress.worlds import NUMBERS, REFUTED, draw_refuting, draw_unseen

GRAPH = parse("Age -> Ad -> Click; Age -> Click; Age -> [S]; Mood -> Click")
QUERY = "Click | do(Ad), Age"
MODEL = draw_model(GRAPH, np.random.default_rng(3), levels=(2,))
LOG = {
    name: column.tolist()
    for name, column in MODEL.sample_log(8_000, np.random.default_rng(1)).items()
}


@pytest.fixture(scope="module")
def report() -> StressReport:
    return stress(GRAPH, QUERY, LOG)


def test_what_survives_survives_when_derived_again(report: StressReport) -> None:
    before = find_standing(derive_bounds(GRAPH, QUERY, LOG), "minimax-regret", None)
    edges = {str(edge): edge for edge in list_missing(GRAPH)}
    assert report.standing == before
    for tried in report.tried:
        table = derive_bounds(add_edges(GRAPH, (edges[tried.name],)), QUERY, LOG)
        after = find_standing(table, "minimax-regret", None)
        change = compare_standings(before, after)
        assert tried.table is not None
        assert tried.table.rows() == table.rows()
        assert (tried.fallen, tried.lost) == (change.fallen, change.lost)
        assert tried.survives == (not change.fallen)


def test_an_edge_that_undoes_the_adjustment_of_models_undoes_the_choice() -> None:
    """Something unseen moves arm and reward so much that the better arm looks worse."""
    rows, truth = draw_unseen(4_000)
    report = stress(NUMBERS, "Y | do(X)", rows, inference="approximate", models="linear")
    tried = {each.name: each for each in report.tried}["X <-> Y"]

    assert truth[0] > truth[1]
    assert report.standing[0].sure == (1,)
    assert tried.table is not None
    assert tried.lost == ((),)
    for arm in (0, 1):
        assert tried.table[arm, ()].lower <= truth[arm] <= tried.table[arm, ()].upper


def test_every_missing_edge_is_tried_set_apart_or_named(report: StressReport) -> None:
    apart = {str(e) for e in list_missing(GRAPH) if set_apart(GRAPH, report_query(), e)}

    assert {str(each.edge) for each in report.apart} == apart
    named = {each.name for each in report.tried} | apart
    assert named == set(map(str, list_missing(GRAPH)))
    harms = [each.harm for each in report.tried]
    assert harms == sorted(harms)
    assert not report.unreached


def report_query() -> EffectQuery:
    """The question as it is read."""
    return parse_query(QUERY)


def test_the_report_says_it_in_a_sentence_in_text_and_in_json(report: StressReport) -> None:
    fallen = sum(bool(each.fallen) for each in report.tried)

    assert report.summary.startswith(
        f"The choice survives {len(report.tried) - fallen} of {len(report.tried)} single "
        "edges; it falls if something unseen moves "
    )
    text = str(report)
    assert "Ad <-> Click" in text
    assert "two missing edges at once: " in text
    assert "degree: " in text
    assert json.loads(json.dumps(report.record()))["summary"] == report.summary


def test_the_union_of_all_single_edges_holds_each_table(report: StressReport) -> None:
    united = report.unite()

    for tried in report.tried:
        assert tried.table is not None
        for key, bound in tried.table.bounds.items():
            assert united.bounds[key].lower <= bound.lower
            assert united.bounds[key].upper >= bound.upper


def test_edges_that_no_time_is_left_for_are_named() -> None:
    report = stress(GRAPH, QUERY, LOG, time_limit=0)

    assert len(report.unreached) + len(report.tried) + len(report.apart) == len(
        list(list_missing(GRAPH))
    )
    assert report.unreached
    assert "No time was left" in report.summary


def test_an_edge_without_bounds_has_the_reason() -> None:
    """The larger graph needs a column that the log has not; edges without harm need none."""
    graph = parse("X -> Y -> Z; X -> [S]")
    report = stress(graph, "Y | do(X)", {"X": [0, 0, 1] * 30, "Y": [0, 1, 1] * 30})

    refused = [each for each in report.tried if each.refusal]
    assert "Z -> S" in {each.name for each in refused}
    assert "X -> Z" not in {each.name for each in refused}
    assert all("no column 'Z'" in str(each.refusal) for each in refused)
    assert all(not each.survives for each in refused)
    assert [each.refusal != "" for each in report.tried] == sorted(
        each.refusal != "" for each in report.tried
    )


def test_bad_options_are_refused_before_anything_is_read() -> None:
    with pytest.raises(OptionError):
        stress(GRAPH, QUERY, LOG, level=2)


@pytest.mark.parametrize("options", [{}, {"new": 1, "old": 0}, {"new": LOGGED, "old": 0}])
def test_a_graph_that_the_log_refutes_is_said_and_the_others_are_tried(
    options: dict[str, Any],
) -> None:
    report = stress(REFUTED, "Y | do(X)", draw_refuting(), **options)
    tried = {each.name: each for each in report.tried}

    assert "The log refutes the graph as drawn" in report.summary
    assert "linear program over X, Y, Z" in report.summary
    assert str(report.refutation) == report.record()["refutation"]
    assert {(b.lower, b.upper) for b in report.table.bounds.values()} == {(0, 1)}
    for name in ("Z -> Y", "Y <-> Z"):  # which say what is wrong with the graph
        again = derive_bounds(parse(f"{REFUTED}; {name}"), "Y | do(X)", draw_refuting())
        table = tried[name].table
        assert tried[name].rescues
        assert not tried[name].survives
        assert table is not None
        assert table.rows() == again.rows()
        assert report.unite()[1, ()].upper >= again[1, ()].upper
    assert "refute" in str(tried["X <-> Z"].refusal)
    assert report.unite()[1, ()].upper < 1
    json.dumps(report.record())
    assert "not refuted" in str(report)


def test_edges_elsewhere_do_not_mend_a_refuted_graph() -> None:
    rng, rows = np.random.default_rng(0), draw_refuting()
    rows |= {name: rng.integers(2, size=len(rows["X"])).tolist() for name in "AB"}
    report = stress(f"{REFUTED}; A; B", "Y | do(X)", rows)

    rescuing = {each.name for each in report.tried if each.rescues}
    assert {"Z -> Y", "Y <-> Z"} <= rescuing
    assert not {"A -> B", "A <-> B", "A -> X", "X <-> A"} & rescuing


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 3])
def test_of_a_wide_graph_no_edge_tells_less_than_when_derived_again(seed: int) -> None:
    """Ten variables, most of them far from the question; every eighth edge is derived again."""
    rng = np.random.default_rng(seed)
    graph = draw_graph(10, rng, directed=0.25, bidirected=0.05, selection=True)
    *_, outcome = (name for name in graph.order if name in graph.observed)
    arm = next(name for name in graph.order if outcome in graph.descendants(name) - {name})
    query = f"{outcome} | do({arm})"
    rows = draw_model(graph, rng, levels=(2,)).sample_log(5_000, rng)
    report = stress(graph, query, rows)
    edges = {str(edge): edge for edge in list_missing(graph)}

    assert len(report.tried) > 50
    for tried in report.tried[::8]:
        again = derive_bounds(add_edges(graph, (edges[tried.name],)), query, rows)
        assert tried.table is not None
        for key, bound in again.bounds.items():
            own = report.table.bounds[key]
            assert tried.table.bounds[key].lower >= min(bound.lower, own.lower) - ROUNDING
            assert tried.table.bounds[key].upper <= max(bound.upper, own.upper) + ROUNDING


def test_a_graph_that_the_log_does_not_refute_says_nothing_of_it(report: StressReport) -> None:
    assert report.refutation == ""
    assert not any(each.rescues for each in report.tried)
