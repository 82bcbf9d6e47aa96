from boundit.core.interval import Interval
from boundit.report.pages.comparison_view import (
    PointCell,
    SpanCell,
    describe_misses,
    list_comparison_rows,
)
from boundit.report.records import IntervalSeries, PointEstimates, TruthComparison

A, B = ((0,), (1,)), ((1,), (1,))


def comparison() -> TruthComparison:
    return TruthComparison(
        ("X",),
        ("U",),
        (
            IntervalSeries("printed", {A: Interval(0.1, 0.2), B: Interval(0.5, 0.6)}),
            IntervalSeries("ours", {A: Interval(0.2, 0.4)}),
        ),
        (PointEstimates("CP", {A: 0.25}),),
        {A: 0.3, B: 0.55},
    )


def test_misses_are_marked_and_errors_signed() -> None:
    first, second = list_comparison_rows(comparison())

    assert first.truth == "0.300"
    assert first.spans == (SpanCell("[0.100, 0.200]", True), SpanCell("[0.200, 0.400]", False))
    assert first.points == (PointCell("0.250", "-0.050"),)
    assert second.spans[1] == SpanCell("", False)
    assert second.points == (PointCell("", ""),)


def test_each_series_is_judged_in_a_line() -> None:
    assert describe_misses(comparison()) == ("printed: 1 of 2 miss", "ours: 0 of 1 miss")


def test_without_truth_nothing_misses() -> None:
    bare = TruthComparison(("X",), ("U",), (IntervalSeries("ours", {A: Interval(10, 2000)}),))

    assert describe_misses(bare) == ()
    assert list_comparison_rows(bare)[0].spans == (SpanCell("[10, 2000]", False),)
    assert list_comparison_rows(TruthComparison((), (), ())) == ()
