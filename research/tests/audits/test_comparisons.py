"""The audit of comparisons: nothing misses on exact laws, and a false one would be seen."""

from dataclasses import replace

import pytest

from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.comparison import Comparison
from boundit.terms.interval import Interval
from boundit_research.audits import comparisons
from boundit_research.audits.comparisons import ComparisonReport, audit_comparisons


def test_no_comparison_of_exact_laws_leaves_the_truth_out() -> None:
    report = audit_comparisons(8, seed=3)
    assert report
    assert report.comparisons >= 8 * (comparisons.PAIRS + 2), "with each arm too"
    assert report.told["surely better"] > 0
    assert report.outside == report.wrong == 0
    assert report.width <= report.subtracted_width + 1e-9


def test_comparisons_that_are_too_sure_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def boast(*arguments: object, **options: object) -> Comparison:
        found = compare(*arguments, **options)  # type: ignore[arg-type]
        high = found.interval.upper + 0.1
        return replace(found, interval=Interval(high, high + 0.1))

    monkeypatch.setattr(comparisons, "compare", boast)
    report = audit_comparisons(2, seed=3)
    assert not report
    assert report.wrong > 0
    assert report.misses


def test_misses_of_drawn_logs_are_allowed_as_often_as_the_confidence_says() -> None:
    assert ComparisonReport(0, drawn=1_000, drawn_outside=150)
    assert not ComparisonReport(0, drawn=1_000, drawn_outside=250)
    assert ComparisonReport(0).chance == 1


def test_an_interrupted_audit_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    assert audit_comparisons(5, seed=1, progress=stop).models == 1
