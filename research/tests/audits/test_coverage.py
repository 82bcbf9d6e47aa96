import numpy as np
import pytest

from boundit.terms.bound_table import BoundTable
from boundit_research.audits import coverage as room
from boundit_research.audits.coverage import (
    DIFFERENCES,
    EVERYTHING,
    Coverage,
    CoverageReport,
    measure_coverage,
)
from boundit_research.audits.coverage_problems import CoverageProblem


def test_whole_tables_hold_the_truth_and_the_identified_sets_by_both_methods() -> None:
    """A share of ``boundit audit --of coverage``; 0.95 is a floor, and little misses."""
    report = measure_coverage(12, seed=2)

    assert report
    assert report.problems == 12
    assert {inference for _, inference in report.counts} == {"exact", "approximate"}
    exact = report.counts[EVERYTHING, "exact"]
    assert exact.logs == 12
    assert exact.held >= exact.held_set >= 11
    assert exact.set_width < exact.width
    assert (DIFFERENCES, "exact") in report.counts


def test_the_seed_repeats_it() -> None:
    assert measure_coverage(2, seed=3) == measure_coverage(2, seed=3)


def test_intervals_that_are_half_as_wide_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plug-in ends neglect chance; an audit that let them pass would see nothing."""
    whole = CoverageProblem.bound_counts

    def neglect_chance(self: CoverageProblem, *given: object, **options: object) -> BoundTable:
        table = whole(self, *given, **options)  # type: ignore[arg-type]
        rows = [
            row | {"lower": row["lower_estimate"], "upper": row["upper_estimate"]}
            for row in table.rows()
        ]
        return BoundTable.from_rows(
            rows,
            outcome=table.outcome,
            treatments=table.treatments,
            context=table.context,
            outcome_range=table.outcome_range,
        )

    monkeypatch.setattr(CoverageProblem, "bound_counts", neglect_chance)
    report = measure_coverage(12, seed=2)

    assert not report
    assert report.counts[EVERYTHING, "exact"] in report.list_short()
    assert report.misses[0].what


def test_a_shortfall_counts_only_beyond_chance() -> None:
    report = CoverageReport(0, 0.95)
    for kind, held in (("a", 93), ("b", 94)):
        report.counts[kind, "exact"] = Coverage(kind, "exact", 0.95, 100, held, held)

    assert report
    report.counts["c", "exact"] = few = Coverage("c", "exact", 0.95, 100, 86, 86)
    assert not report
    assert report.list_short() == [few]
    assert few.share == few.share_set == pytest.approx(0.86)
    assert Coverage("d", "exact", 0.95).chance == 1.0


def test_the_approximate_method_is_allowed_a_little_less() -> None:
    report = CoverageReport(0, 0.95)

    assert report.find_count("a", "exact").floor == 0.95
    assert report.find_count("a", "approximate").floor == pytest.approx(0.93)
    assert np.isclose(room.APPROXIMATE_SLACK, 0.02)
