"""Panels of intervals on pages: every number where it belongs, without a plotting library."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from boundit.report.figures.interval_panels import draw_interval_panels, list_ticks
from boundit.report.figures.whiskers import Whiskers
from boundit.report.palette import write_colour_variable
from tests.report.examples import large_table, naive, printed, small_table, truth_of


def lines(svg: str, thick: float) -> list[tuple[float, float]]:
    """Both ends of every line of a thickness, in pixels, from top to bottom."""
    found = re.findall(
        rf'd="M([\d.]+) [\d.]+H([\d.]+)" fill="none" stroke-width="{thick}"', svg
    )
    return [(float(start), float(end)) for start, end in found]


def ticks(svg: str) -> dict[float, float]:
    """Where the numbers of the axis stand."""
    found = re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="middle"[^>]*>([-\d.,]+)<', svg)
    return {float(words): float(x) for x, words in found}


def test_every_context_has_a_panel_and_every_arm_a_line_with_its_name() -> None:
    panels = draw_interval_panels(Whiskers(small_table()))

    assert [panel.name for panel in panels] == ["U1=0", "U1=1"]
    for panel in panels:
        assert f'aria-label="Intervals per arm, {panel.name}"' in panel.svg
        assert re.findall(r">(X1=., X2=.)</text>", panel.svg) == [
            "X1=0, X2=0", "X1=0, X2=1", "X1=1, X2=0", "X1=1, X2=1",
        ]  # fmt: skip
    assert panels == draw_interval_panels(Whiskers(small_table()))


def test_lines_run_from_end_to_end_on_the_axis_and_the_thick_part_is_the_estimates() -> None:
    (first, _) = draw_interval_panels(Whiskers(small_table()))
    axis = ticks(first.svg)
    unit = (axis[0.75] - axis[0.25]) / 0.5

    for thick, low, high in ((1.6, 0.1, 0.4), (8, 0.2, 0.3)):
        for start, end in lines(first.svg, thick):
            assert start == pytest.approx(axis[0.25] + (low - 0.25) * unit, abs=0.2)
            assert end == pytest.approx(axis[0.25] + (high - 0.25) * unit, abs=0.2)


def test_crossed_estimates_are_drawn_inside_the_interval() -> None:
    table = small_table()
    crossed = {
        key: replace(b, lower_estimate=0.9, upper_estimate=0.0)
        for key, b in table.bounds.items()
    }
    (first, _) = draw_interval_panels(Whiskers(replace(table, bounds=crossed)))

    assert lines(first.svg, 8) == lines(first.svg, 1.6)


def test_arms_that_another_surely_beats_are_out_and_misses_say_so() -> None:
    table = small_table()
    first, second = (panel.svg for panel in draw_interval_panels(Whiskers(table)))
    missed = draw_interval_panels(Whiskers(table, truth_of(table, off=0.3)))

    assert (first.count(">out<"), second.count(">out<")) == (0, 3)
    assert [panel.svg.count(">misses<") for panel in missed] == [4, 4]
    assert write_colour_variable("miss") in missed[0].svg


def test_truth_estimates_and_other_intervals_stand_beside_ours() -> None:
    table = small_table()
    shown = Whiskers(table, truth_of(table), [naive(table)], [printed(table)])
    (first, _) = draw_interval_panels(shown)

    assert first.svg.count("translate(") == 2 * 4, "a truth and an estimate for each arm"
    assert len(lines(first.svg, 2.5)) == 4


def test_names_of_contexts_are_whole_and_markup_is_none() -> None:
    names = [panel.name for panel in draw_interval_panels(Whiskers(large_table()))]
    table = small_table()
    evil = replace(table, treatments=("<b>", "X2"), levels={**table.levels, "<b>": (0, 1)})

    assert all(name.count("=") == 6 and "…" not in name for name in names)
    assert "<b>" not in draw_interval_panels(Whiskers(evil))[0].svg


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-0.02, 1.02), (-20, 500), (0.31, 0.34), (-3e6, 7e6), (99, 101)]
)
def test_ticks_are_round_evenly_apart_and_within_the_axis(low: float, high: float) -> None:
    found = list_ticks(low, high)
    numbers = [number for number, _ in found]

    assert 2 <= len(found) <= 5
    assert all(low <= number <= high for number in numbers)
    assert len({words for _, words in found}) == len(found)
    assert all(float(w.replace(",", "")) == pytest.approx(n, abs=1e-9) for n, w in found)
    steps = {round((b - a) / (numbers[1] - numbers[0]), 6) for a, b in pairwise(numbers)}
    assert steps == {1.0}
