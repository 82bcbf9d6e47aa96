"""Pictures have a mark for each arm, in its place."""

import re

from boundit.results.bound_table import BoundTable
from boundit.service.http.page_pictures import draw_intervals, draw_shares
from tests.service.kit import make_table


def test_bars_are_as_long_as_the_counts() -> None:
    drawn = draw_shares({"A": [100.0], "B": [50.0], "none": [0.0]}, "Arms")
    widths = [float(found) for found in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)]

    assert widths[0] == 2 * widths[1]
    assert widths[2] == 0


def test_nothing_decided_is_drawn_too() -> None:
    assert "<svg" in draw_shares({"A": [0.0]}, "Arms")


def test_intervals_stand_where_they_are() -> None:
    table = BoundTable.from_rows(
        [{"Ad": "A", "lower": 0.25, "upper": 0.75}],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )
    drawn = draw_intervals(table)
    x, width = re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', drawn)[0]

    assert (float(x), float(width)) == (170 + 440 * 0.25, 220.0)
    assert "everyone" in drawn


def test_of_many_contexts_some_are_shown_and_the_rest_is_counted() -> None:
    rows = [
        {"Ad": "A", "City": city, "lower": 0.1, "upper": 0.2} for city in map(str, range(20))
    ]
    table = BoundTable.from_rows(
        rows, outcome="Click", treatments=["Ad"], context=["City"], outcome_range=(0, 1)
    )

    assert "8 more intervals" in draw_intervals(table)
    assert "more intervals" not in draw_intervals(make_table())
