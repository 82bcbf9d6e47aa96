import re
from dataclasses import replace

import pytest

from boundit.report.intervals import interval_figure, interval_panels
from boundit.report.palette import light
from boundit.report.whiskers import Whiskers
from tests.report.examples import large_table, naive, printed, small_table, truth_of, x_of, y_of


def test_every_context_has_a_panel_and_every_arm_a_line() -> None:
    table = small_table()
    figure = interval_figure(Whiskers(table))

    assert [axes.get_title(loc="left") for axes in figure.axes] == ["U1=0", "U1=1"]
    for axes in figure.axes:
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert names == ["X1=0, X2=0", "X1=0, X2=1", "X1=1, X2=0", "X1=1, X2=1"]
        assert axes.get_ylim() == (3.5, -0.5)


def test_lines_run_from_end_to_end_and_the_thick_part_is_the_estimates() -> None:
    (first, _) = interval_figure(Whiskers(small_table())).axes
    inner, whole = first.lines[:2]

    assert x_of(inner) == pytest.approx([0.2, 0.3])
    assert x_of(whole) == pytest.approx([0.1, 0.4])
    assert inner.get_linewidth() > 3 * whole.get_linewidth()


def test_truth_and_naive_estimates_stand_at_their_numbers() -> None:
    table = small_table()
    (first, _) = interval_figure(Whiskers(table, truth_of(table), [naive(table)])).axes
    markers = {line.get_marker(): x_of(line)[0] for line in first.lines[2:4]}

    assert markers == {"x": pytest.approx(0.38), "D": pytest.approx(0.25)}


def test_a_miss_changes_colour_and_says_so() -> None:
    table = small_table()
    figure = interval_figure(Whiskers(table, truth_of(table, off=0.3)))

    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == ["misses"] * 4
        assert axes.lines[0].get_color() == light("miss")


def test_other_intervals_stand_below_ours() -> None:
    table = small_table()
    (first, _) = interval_figure(Whiskers(table, spans=[printed(table)])).axes
    ours, theirs = first.lines[1], first.lines[2]

    assert y_of(theirs)[0] > 0 > y_of(ours)[0]


def test_crossed_estimates_are_drawn_inside_the_interval() -> None:
    table = small_table()
    crossed = {
        key: replace(b, lower_estimate=0.9, upper_estimate=0.0)
        for key, b in table.bounds.items()
    }
    (first, _) = interval_figure(Whiskers(replace(table, bounds=crossed))).axes

    assert x_of(first.lines[0]) == pytest.approx([0.1, 0.4])


def test_panels_of_a_page_are_those_of_the_sheet() -> None:
    panels = interval_panels(Whiskers(small_table()))

    assert len(panels) == 2
    assert ">U1=0</text>" in panels[0]
    assert ">X1=1, X2=1</text>" in panels[1]
    assert panels == interval_panels(Whiskers(small_table()))


def test_long_names_are_cut_and_numbered_so_that_they_differ() -> None:
    titles = [
        re.findall(r"font-weight: 700[^>]*>([^<]*)<", panel)[0]
        for panel in interval_panels(Whiskers(large_table()))
    ]

    assert len(set(titles)) == 4
    assert all(re.fullmatch(r"\d+: Column0=.*…", title) for title in titles)
