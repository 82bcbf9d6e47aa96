"""What becomes of the verdict on two policies when an edge is added to the graph."""

import pytest

from boundit.bounds.request import read_request
from boundit.core.long_work import FOR_EVER
from boundit.decisions.compare import compare
from boundit.decisions.policies import LOGGED
from boundit.decisions.stress.edges import add_edges
from boundit.decisions.stress.stress import stress
from boundit.decisions.stress.verdict import ComparedPolicies, OnePolicy
from boundit.graph.text import parse

GRAPH = parse("Age -> Ad -> Click; Age -> Click")
LOG = {
    "Age": ["old"] * 400 + ["young"] * 400,
    "Ad": (["A"] * 200 + ["B"] * 200) * 2,
    "Click": [0, 0, 0, 1] * 50 + [1, 1, 1, 0] * 50 + [0, 0, 0, 1] * 50 + [1, 1, 0, 1] * 50,
}
QUERY = "Click | do(Ad), Age"


def test_the_verdict_under_an_edge_is_that_of_compare_on_its_bounds() -> None:
    report = stress(GRAPH, QUERY, LOG, new="B", old="A")

    assert report.comparison is not None
    assert report.comparison.verdict == "better"
    for tried in report.tried:
        assert tried.table is not None
        again = compare(tried.table, "B", "A")
        assert tried.comparison is not None
        assert tried.comparison.interval == again.interval
        assert tried.unsettled == (again.verdict != "better")
    harmful = {tried.name for tried in report.tried if tried.unsettled}
    assert harmful == {"Ad <-> Click"}


def test_the_summary_and_every_line_say_what_becomes_of_it() -> None:
    report = stress(GRAPH, QUERY, LOG, new="B", old="A")
    n = len(report.tried)

    assert report.summary.startswith("Better: the mean of B is 0.3")
    assert (
        f"The verdict survives {n - 1} of {n} single edges; it falls if something unseen moves "
        "Ad and Click." in report.summary
    )
    assert "verdict" in str(report)
    assert report.tried[0].record()["verdict"] == "inconclusive"
    assert "verdict" not in str(stress(GRAPH, QUERY, LOG))


def test_what_the_log_did_is_asked_again_under_every_graph() -> None:
    """Age may act on selection in the larger graph, so shares of its own rows tell less."""
    graph = parse("Age -> Ad -> Click; Age -> Click; Ad -> [S]")
    report = stress(graph, QUERY, LOG, new="B", old=LOGGED, contexts={"old": 1, "young": 1})
    harmed = next(each for each in report.tried if each.name == "Click -> S")

    assert report.comparison is not None
    assert harmed.comparison is not None
    assert harmed.comparison.interval.width > report.comparison.interval.width


def test_one_policy_alone_is_refused() -> None:
    with pytest.raises(OnePolicy, match="new is compared with another policy"):
        stress(GRAPH, QUERY, LOG, new="B")
    with pytest.raises(OnePolicy, match="contexts has a meaning with new and old only"):
        stress(GRAPH, QUERY, LOG, contexts="any")


def test_a_comparison_is_as_sure_as_its_bounds_are_asked_to_be() -> None:
    asked = ComparedPolicies("B", LOGGED)
    request = read_request(GRAPH, QUERY, LOG, confidence=None)
    table = stress(GRAPH, QUERY, LOG, confidence=None).table

    assert asked.ask(table, add_edges(GRAPH, ()), request, FOR_EVER).confidence is None
