"""Bounds hold once an edge that the model has is added to the graph."""

from boundit.studies.audits.added_edges import AddedEdgeMiss, AddedEdgeReport, audit_added_edges


def test_no_bound_misses_once_the_edge_is_added() -> None:
    report = audit_added_edges(12, seed=3)

    assert report.misses == []
    assert bool(report)
    assert report.models == 12
    assert report.rows > 50
    assert report.without + report.refuted > 0, "or the edges would not matter"


def test_a_miss_is_no_success() -> None:
    assert not AddedEdgeReport(0, misses=[AddedEdgeMiss("X -> Y", "X <-> Y", "Y | do(X)", "")])
