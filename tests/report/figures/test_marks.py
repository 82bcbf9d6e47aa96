from xml.etree import ElementTree as ET

from boundit.report.figures.marks import (
    MISSED,
    TRUTH,
    make_bound_marks,
    make_point_marks,
    make_span_marks,
)
from boundit.report.records import IntervalSeries, PointEstimates


def test_series_differ_in_shape_as_well_as_colour() -> None:
    marks = make_point_marks([PointEstimates(name, {}) for name in ("CP", "Biased", "other")])

    assert len({mark.marker for mark in marks}) == 3
    assert len({mark.colour for mark in marks}) == 3


def test_points_and_intervals_take_different_colours() -> None:
    points, spans = [PointEstimates("CP", {})], [IntervalSeries("printed", {})]
    used = [
        *make_bound_marks(sampled=True),
        *make_point_marks(points),
        *make_span_marks(spans, len(points)),
    ]

    assert len({mark.colour for mark in used}) == 3


def test_without_sampling_error_there_is_one_kind_of_line() -> None:
    assert [mark.name for mark in make_bound_marks(sampled=False)] == ["bounds"]


def test_every_mark_has_a_sample() -> None:
    points = make_point_marks([PointEstimates(str(i), {}) for i in range(8)])
    for mark in (TRUTH, MISSED, *make_bound_marks(sampled=True), *points):
        assert ET.fromstring(mark.key).find("path") is not None
