"""Intervals and estimates beside the truth, as the cells of a table."""

from dataclasses import dataclass

from boundit.core.rounding import choose_decimals
from boundit.report.records import IntervalSeries, PointEstimates, TruthComparison
from boundit.report.text.lettering import label_values
from boundit.results.bound import Key


@dataclass(frozen=True, slots=True)
class SpanCell:
    """An interval, and whether it leaves the truth out."""

    text: str
    missed: bool


@dataclass(frozen=True, slots=True)
class PointCell:
    """An estimate, and how far it is off."""

    text: str
    off: str


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One arm in one context: truth, intervals and estimates, as a row of the page's table."""

    arm: str
    context: str
    truth: str
    spans: tuple[SpanCell, ...]
    points: tuple[PointCell, ...]


def list_comparison_rows(comparison: TruthComparison) -> tuple[ComparisonRow, ...]:
    """Write truth, intervals and estimates of every arm and context, with equal decimals."""
    places = _choose_places(comparison)
    return tuple(
        ComparisonRow(
            label_values(comparison.treatments, key[0]),
            label_values(comparison.context, key[1]),
            f"{comparison.truth[key]:.{places}f}" if key in comparison.truth else "",
            tuple(
                _format_interval(spans, key, comparison, places) for spans in comparison.spans
            ),
            tuple(
                _format_point(points, key, comparison, places) for points in comparison.points
            ),
        )
        for key in comparison.keys
    )


def describe_misses(comparison: TruthComparison) -> tuple[str, ...]:
    """Say in a sentence for each series of intervals how many of them leave the truth out."""
    if not comparison.truth:
        return ()
    return tuple(
        f"{spans.name}: {comparison.count_misses(spans)} of {len(spans.values)} miss"
        for spans in comparison.spans
    )


def _choose_places(comparison: TruthComparison) -> int:
    """Choose how many decimals all numbers of a comparison have."""
    ends = [
        end for s in comparison.spans for i in s.values.values() for end in (i.lower, i.upper)
    ]
    ends += [x for p in comparison.points for x in p.values.values()]
    ends += comparison.truth.values()
    return choose_decimals(min(ends), max(*ends, min(ends) + 1)) if ends else 3


def _format_interval(
    spans: IntervalSeries, key: Key, comparison: TruthComparison, places: int
) -> SpanCell:
    """Write one series' interval for an arm and context, marked if it leaves the truth out."""
    span = spans.values.get(key)
    if span is None:
        return SpanCell("", missed=False)
    missed = key in comparison.truth and spans.has_missed(key, comparison.truth[key])
    return SpanCell(f"[{span.lower:.{places}f}, {span.upper:.{places}f}]", missed)


def _format_point(
    points: PointEstimates, key: Key, comparison: TruthComparison, places: int
) -> PointCell:
    """Write one series' estimate for an arm and context, and how far it is from the truth."""
    value = points.values.get(key)
    if value is None:
        return PointCell("", "")
    off = f"{value - comparison.truth[key]:+.{places}f}" if key in comparison.truth else ""
    return PointCell(f"{value:.{places}f}", off)
