"""Pages and notebooks of bounds and effects: what comes first, what is cut, what is escaped."""

import re
from dataclasses import replace

import pytest

from boundit.core.message import Caveat
from boundit.report.bounds import (
    chart_bounds,
    chart_effects,
    describe_small_counts,
    make_bounds_page,
    write_bounds_page,
)
from boundit.report.sections import Figure, Table
from boundit.results.bound import Goal
from boundit.results.bound_table import BoundTable
from tests.paper import FIGURE_2
from tests.report.examples import large_table, random_table, small_table, truth_of


def make_table(ends: dict[str, tuple[float, float]], goal: Goal = "max") -> BoundTable:
    rows = [{"Ad": ad, "lower": low, "upper": high} for ad, (low, high) in ends.items()]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1), goal=goal
    )


def test_a_page_opens_with_the_effect_then_choice_picture_reasons() -> None:
    table = small_table()
    page = make_bounds_page(table, graph=FIGURE_2, choice=table.choose())

    assert page.title == "Effect of X1 and X2 on mean Y, compared with X1=0, X2=0"
    assert str(page.said[-1]).startswith("95% confidence")
    assert [section.title for section in page.sections] == [
        "Effects",
        "Effects in numbers",
        "Choice",
        "Means under each arm",
        "Means in numbers",
        "Reasons",
        "Assumptions and limits",
        "Causal graph",
    ]


def test_effects_that_were_asked_for_are_those_of_the_page() -> None:
    table = make_table({"A": (0.1, 0.2), "B": (0.5, 0.6)})
    said = make_bounds_page(table, effects=[table.effect("A", "B")]).said

    assert said[0] == "Compared with B, A decreases mean Y by 0.300 to 0.500."


def test_critical_caveats_come_before_everything() -> None:
    critical = Caveat("the data contradict the graph", kind="critical")
    table = replace(small_table(), caveats=(*small_table().caveats, critical))
    html = write_bounds_page(table)
    shown = table._repr_html_()

    assert html.index("contradict the graph") < html.index('class="verdict')
    assert shown.index("contradict the graph") < shown.index("<table")


def test_where_nothing_is_known_the_page_says_so() -> None:
    page = make_bounds_page(make_table({"A": (0, 1), "B": (0, 1)}))

    assert page.title.endswith("compared with A: no bound found")
    assert page.said[0] == "No rule narrows the range of the outcome, in the only row."


def test_a_notebook_has_title_conclusions_bars_and_closed_assumptions() -> None:
    table = replace(small_table(), caveats=(Caveat("I1 has no values", kind="assumes"),))
    shown = table._repr_html_()

    parts = ("Bounds on E[Y | do(X1, X2), U1]", "X1=1, X2=1 is best", "<table",
             'class="bar"', "<details><summary>1 assumption")  # fmt: skip
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    assert "<details open" not in shown


def test_a_notebook_has_thirty_rows_and_the_method_that_has_all() -> None:
    table = large_table(arms=5)
    shown = table._repr_html_()

    assert shown.count("<tr>") == 31
    assert "and 170 more: .frame()" in shown
    assert "more: .frame()" not in small_table()._repr_html_()


def test_an_effect_in_a_notebook_is_drawn_around_zero() -> None:
    effect = small_table().effect((1, 1), (0, 0))
    shown = effect._repr_html_()

    assert "Effect of X1 and X2 on mean Y, compared with X1=0, X2=0" in shown
    assert shown.count("<line ") == 2
    assert "increase" in shown


@pytest.mark.parametrize(("goal", "color"), [("max", "good"), ("min", "miss")])
def test_colors_of_effects_follow_the_goal(goal: Goal, color: str) -> None:
    ends = {"A": (0.1, 0.2), "B": (0.5, 0.6), "C": (0.0, 0.9)}
    table = make_table(ends, goal=goal)
    chart = chart_effects(list(table.effects("A").values()))

    assert {row.name: row.color for row in chart.rows} == {"B": color, "C": "muted"}


def test_a_chart_shows_the_best_arms_first_and_says_how_many_rows_are_left() -> None:
    table = large_table()
    chart = chart_bounds(table)

    assert len(chart.rows) <= 30
    assert chart.more == f"and {1200 - len(chart.rows):,} more rows"
    for _, bars in chart.groups:
        middles = [bar.lower + bar.upper for bar in bars]
        assert middles == sorted(middles, reverse=True)


def test_intervals_that_miss_the_truth_are_marked() -> None:
    table = small_table()
    held, missed = (chart_bounds(table, truth=truth_of(table, off=off)) for off in (0.0, 0.5))

    assert {bar.note for bar in held.rows} <= {"", "ruled out"}
    assert {bar.note for bar in missed.rows} == {"misses"}


def test_of_many_rows_a_page_has_the_narrowest_and_says_where_all_are() -> None:
    n = 2_500
    rows = [
        {"Ad": i % 100, "C": i // 100, "lower": 0.5 - (n - i) / (2 * n), "upper": 0.5}
        for i in range(n)
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["Ad"], context=["C"], outcome_range=(0, 1)
    )
    page = make_bounds_page(table, effects=[])
    html = page.write()
    numbers = next(s for s in page.sections if s.title == "Means in numbers")

    assert isinstance(numbers, Table)
    assert len(numbers.rows) == 2_000
    assert min(5 * int(str(row[1])) for row in numbers.rows) >= 25
    assert html.count("and 500 more: --json, or a table saved with --out, has all") == 2


@pytest.mark.parametrize("seed", range(3))
def test_every_reason_is_the_explanation_of_the_table(seed: int) -> None:
    table = random_table(seed, arms=4)
    html = write_bounds_page(table, effects=[])

    for arm, where in list(table.bounds)[::9]:
        title = str(table.explain(arm, where).title)
        assert re.sub(r"<[^>]+>", "", title)[:4] in html
    assert html.count('<details class="reason">') == len(table.bounds)


def test_names_are_escaped_everywhere() -> None:
    table = make_table({"<script>alert(1)</script>": (0.1, 0.2), "B & $5": (0.3, 0.4)})
    for html in (write_bounds_page(table), table._repr_html_()):
        assert "<script>alert" not in html


def test_small_counts_are_told_and_none_are_where_counts_are_dropped() -> None:
    table = random_table(0)

    assert "fewer than 10 rows" in describe_small_counts(table)
    assert describe_small_counts(table.drop_counts()) == ""


def test_an_empty_table_has_a_page() -> None:
    table = BoundTable.from_rows([], outcome="Y", treatments=["X"], outcome_range=(0, 1))

    assert "No rows." in write_bounds_page(table)
    assert "No rows." in table._repr_html_()


def test_a_single_arm_has_no_effects() -> None:
    page = make_bounds_page(make_table({"A": (0.1, 0.2)}))

    assert page.title == "Bounds on E[Y | do(Ad)]"
    assert [s.title for s in page.sections if isinstance(s, Figure)] == ["Means under each arm"]
