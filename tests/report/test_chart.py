"""Charts: what is drawn stands where its numbers are, nothing leaves the sheet."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.report.chart import (
    NARROW,
    WIDE,
    Bar,
    Curve,
    IntervalChart,
    InvalidChart,
    LineChart,
    draw_bar,
    fold_rows,
    list_ticks,
)
from boundit.report.lettering import estimate_width
from tests.report.examples import curves

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(0, 1).map(lambda x: round(x, 6))
BARS = st.builds(
    lambda name, ends, point, group: Bar(
        name, ends[0], ends[3], (ends[1], ends[2]), {"unadjusted": point}, group=group
    ),
    st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=60),
    st.lists(NUMBERS, min_size=4, max_size=4).map(sorted),
    NUMBERS,
    st.sampled_from(["", "old", "a group with a rather long name " * 3]),
)


def list_places(svg: str) -> list[tuple[float, float]]:
    """The ends of horizontal lines."""
    found = re.findall(r'd="M([\d.-]+) [\d.]+H([\d.-]+)"', svg)
    return [(float(start), float(end)) for start, end in found]


@given(st.lists(BARS, min_size=1, max_size=8), st.sampled_from([WIDE, NARROW]))
def test_intervals_stand_where_their_numbers_are(rows: list[Bar], width: float) -> None:
    chart = IntervalChart("Bounds <&>", tuple(rows), (0, 1))
    svg = chart.svg(width)
    root = ET.fromstring(svg)

    assert root.findtext(f"{SVG}title") == "Bounds <&>"
    places = [place for place in list_places(svg) if place != (2, 26)]
    low, high = chart.scale
    shown = [ends for row in rows for ends in (row.inner, (row.lower, row.upper))]
    assert len(places) == len(shown)
    points = sorted(zip((start for start, _ in places), (s for s, _ in shown), strict=True))
    for (x, number), (other, more) in pairwise(points):
        assert x == pytest.approx(other, abs=0.2) or number <= more + 1e-9
    assert all(0 <= start <= end + 0.2 <= width + 2 for start, end in places)
    assert low <= min(row.lower for row in rows)
    assert high >= max(row.upper for row in rows)
    for text in root.iter(f"{SVG}text"):
        wide = estimate_width(text.text or "", float(text.get("font-size", "0")))
        assert wide <= width + 1 or text.get("text-anchor") == "middle"


def test_the_axis_is_zoomed_to_what_is_drawn_and_has_zero_for_effects() -> None:
    row = Bar("A", 0.3, 0.4, (0.32, 0.35))
    low, high = IntervalChart("", (row,), (0, 1)).scale
    assert 0.28 < low < 0.3
    assert 0.4 < high < 0.42
    effects = IntervalChart("", (row,), (-1, 1), zero=True, signed=True)
    assert effects.scale[0] < 0
    assert "+0.2" in [words for _, words in effects.list_ticks()]
    assert IntervalChart("", (replace(row, lower=0.01, upper=0.95),), (0, 1)).scale[1] > 1


def test_a_tall_chart_has_its_axis_above_too() -> None:
    rows = tuple(Bar(f"arm {i}", i / 40, 0.9, (i / 40, 0.9)) for i in range(30))
    short, tall = (IntervalChart("", some, (0, 1)).svg() for some in (rows[:5], rows))

    assert (short.count(">0.50<"), tall.count(">0.50<")) == (1, 2)


def test_rows_that_say_the_same_are_folded() -> None:
    whole = [Bar(name, 0, 1, (0, 1), group=g) for g in ("old", "young") for name in "AB"]
    other = Bar("A", 0.1, 0.5, (0.2, 0.3), group="new")
    folded = fold_rows([*whole, other])

    assert [(row.group, row.name) for row in folded] == [
        ("old; young", "A and B"),
        ("new", "A"),
    ]


def test_long_names_are_wrapped_and_stay_different() -> None:
    names = [f"{'very ' * 30}long {i} {'and longer ' * 30}" for i in range(3)]
    svg = IntervalChart("", tuple(Bar(n, 0, 1, (0, 1)) for n in names), (0, 1)).svg(NARROW)
    first = re.findall(r">(\d): [^<]+<", svg)

    assert first == ["1", "2", "3"]


@given(BARS)
def test_a_bar_of_a_cell_stays_within_it(bar: Bar) -> None:
    drawn = draw_bar(bar, (0, 1), zero=True)
    for x, wide in re.findall(r'x="([\d.]+)%".*?width="([\d.]+)%"', drawn):
        assert 0 <= float(x) <= 100
        assert float(x) + float(wide) <= 100.1
    ET.fromstring(drawn)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_rise_and_lie_within(low: float, wide: float) -> None:
    ticks = [number for number, _ in list_ticks(low, low + wide)]

    assert 1 <= len(ticks) <= 5
    assert ticks == sorted(set(ticks))
    assert low - 1e-6 * wide <= ticks[0] <= ticks[-1] <= low + wide * (1 + 1e-6)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_names_at_the_ends_of_curves_stand_apart(width: float) -> None:
    chart = LineChart("Regret", tuple(curves(*(f"policy {i}" for i in range(9)))))
    svg = chart.svg(width)
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>policy', svg))

    assert len(heights) == 9
    assert all(after - before > 14 for before, after in pairwise(heights))
    ET.fromstring(svg)


def test_a_band_alone_has_both_its_edges_and_limits_far_apart_a_log_axis() -> None:
    curve = Curve("A", (1, 2, 4, 10), (), (0.3, 0.2, 0.1, 0), (0.4, 0.5, 0.6, 1))
    chart = LineChart("S", (curve,), "limit G", y_range=(0, 1))

    assert chart.is_log
    assert [words for _, words in chart.list_x_ticks()] == ["1", "2", "5", "10"]
    assert chart.svg(300).count('stroke="var(--series-1') == 2
    assert not replace(chart, x_label="rounds").is_log


def test_infinite_limits_are_left_out() -> None:
    curve = Curve("A", (1, 2, float("inf")), (), (0.3, 0.2, 0), (0.4, 0.5, 1))
    assert "inf" not in LineChart("S", (curve,), "limit G").svg()


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidChart, match="no rows"):
        IntervalChart("", (), (0, 1))
    with pytest.raises(InvalidChart, match="no curves"):
        LineChart("", ())
    with pytest.raises(InvalidChart, match="equally many"):
        Curve("A", (1, 2), (0.5,))
