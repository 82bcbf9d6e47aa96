import re
from dataclasses import replace
from itertools import combinations

import pytest
from matplotlib.text import Text

from boundit.report.figures.canvas import use_style
from boundit.report.figures.intervals import draw_intervals
from boundit.report.figures.whiskers import Whiskers
from boundit.report.palette import get_light_colour
from boundit.results.bound_table import BoundTable
from tests.report.examples import (
    large_table,
    naive,
    printed,
    small_table,
    truth_of,
    worldly_table,
    x_of,
    y_of,
)


def test_every_context_has_a_panel_and_every_arm_a_line() -> None:
    table = small_table()
    figure = draw_intervals(Whiskers(table))

    assert [part.get_suptitle() for part in figure.subfigs] == ["U1=0", "U1=1"]
    for axes in figure.axes:
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert names == ["X1=0, X2=0", "X1=0, X2=1", "X1=1, X2=0", "X1=1, X2=1"]
        assert axes.get_ylim() == (3.5, -0.5)


def test_lines_run_from_end_to_end_and_the_thick_part_is_the_estimates() -> None:
    (first, _) = draw_intervals(Whiskers(small_table())).axes
    inner, whole = first.lines[:2]

    assert x_of(inner) == pytest.approx([0.2, 0.3])
    assert x_of(whole) == pytest.approx([0.1, 0.4])
    assert inner.get_linewidth() > 3 * whole.get_linewidth()


def test_truth_and_naive_estimates_stand_at_their_numbers() -> None:
    table = small_table()
    (first, _) = draw_intervals(Whiskers(table, truth_of(table), [naive(table)])).axes
    markers = {line.get_marker(): x_of(line)[0] for line in first.lines[2:4]}

    assert markers == {"x": pytest.approx(0.38), "D": pytest.approx(0.25)}


def test_a_miss_changes_colour_and_says_so() -> None:
    table = small_table()
    figure = draw_intervals(Whiskers(table, truth_of(table, off=0.3)))

    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == ["misses"] * 4
        assert axes.lines[0].get_color() == get_light_colour("miss")


def test_other_intervals_stand_below_ours() -> None:
    table = small_table()
    (first, _) = draw_intervals(Whiskers(table, spans=[printed(table)])).axes
    ours, theirs = first.lines[1], first.lines[2]

    assert y_of(theirs)[0] > 0 > y_of(ours)[0]


def test_crossed_estimates_are_drawn_inside_the_interval() -> None:
    table = small_table()
    crossed = {
        key: replace(b, lower_estimate=0.9, upper_estimate=0.0)
        for key, b in table.bounds.items()
    }
    (first, _) = draw_intervals(Whiskers(replace(table, bounds=crossed))).axes

    assert x_of(first.lines[0]) == pytest.approx([0.1, 0.4])


def test_on_a_figure_long_names_are_broken_or_numbered_so_that_they_differ() -> None:
    def titles(table: BoundTable) -> list[str]:
        return [part.get_suptitle() for part in draw_intervals(Whiskers(table)).subfigs]

    broken, numbered = titles(large_table()), titles(worldly_table())

    assert len(set(broken)) == len(set(numbered)) == 4
    assert all(title.count("\n") == 1 and title.count("=") == 6 for title in broken)
    assert any(re.fullmatch(r"\d: 客户等级=Platinum.*\n.*…", title) for title in numbered)


def test_words_of_a_figure_stay_on_it_and_apart() -> None:
    table = large_table(arms=50, contexts=1)
    for shown in (Whiskers(table), Whiskers(worldly_table())):
        figure = draw_intervals(shown)
        with use_style():
            figure.draw_without_rendering()
        words = [text for axes in figure.axes for text in axes.get_yticklabels()]
        boxes = [Text.get_window_extent(text) for text in [*words, *figure.texts]]

        assert figure.texts
        assert len({text.get_text() for text in words}) == len(shown.arms)
        assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(a.overlaps(b) for a, b in combinations(boxes[: len(shown.arms)], 2))
