"""Bounds hold once an edge that the model has is added to the graph."""

from dataclasses import replace

import pytest

from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.comparison import Comparison
from boundit.terms.interval import Interval
from boundit_research.audits import added_edges
from boundit_research.audits.added_edges import (
    AddedEdgeMiss,
    AddedEdgeReport,
    DrawnClaims,
    audit_added_edges,
)


def test_no_bound_misses_once_the_edge_is_added() -> None:
    report = audit_added_edges(12, seed=0)

    assert report.misses == []
    assert bool(report)
    assert report.models == 12
    assert report.rows > 50
    assert report.without + report.refuted > 0, "or the edges would not matter"
    assert report.choices > 10
    assert report.verdicts > 0
    assert report.drawn_verdicts > 0
    assert report.promises.made == report.comparisons.made > 5


def test_a_miss_is_no_success() -> None:
    assert not AddedEdgeReport(0, misses=[AddedEdgeMiss("X -> Y", "X <-> Y", "Y | do(X)", "")])


def test_verdicts_that_are_too_sure_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def boast(*arguments: object, **options: object) -> Comparison:
        found = compare(*arguments, **options)  # type: ignore[arg-type]
        high = found.interval.upper + 0.1
        return replace(found, interval=Interval(high, high + 0.1))

    monkeypatch.setattr(added_edges, "compare", boast)
    report = audit_added_edges(3, seed=3)
    assert not report
    assert "is called surely better" in report.misses[0].row
    assert report.comparisons.failed == report.comparisons.made


def test_claims_of_drawn_logs_may_fail_as_often_as_their_confidence_says() -> None:
    assert DrawnClaims().chance == 1
    assert AddedEdgeReport(0, promises=DrawnClaims(1_000, 200, 200.0))
    assert not AddedEdgeReport(0, comparisons=DrawnClaims(1_000, 300, 200.0))
