"""The tables of a page are those of the results that are kept."""

from collections.abc import Callable

import pytest
from research.tools.rivals_page import (
    FIGURES,
    GROUPS,
    KEPT,
    PAGE,
    Rows,
    draw_pictures,
    find_mark,
    make_page,
    read_settings,
    write_tables,
)

SETTINGS = read_settings(KEPT.read_text("utf-8"))


def test_the_page_has_the_numbers_and_marks_of_the_results() -> None:
    """After a study anew, ``python -m research.tools.rivals_page`` writes the tables anew."""
    page = PAGE.read_text("utf-8")

    assert make_page(page, SETTINGS) == page
    for table in write_tables(SETTINGS).values():
        assert page.count(table) == 1


def test_a_number_that_was_changed_is_noticed() -> None:
    page = PAGE.read_text("utf-8")
    changed = page.replace("110.0 (67.5, 398.1)", "111.0 (67.5, 398.1)", 1)

    assert changed != page
    assert make_page(changed, SETTINGS) == page


def test_the_pictures_are_those_of_the_results_and_the_page_shows_them() -> None:
    """The policy that stands first in a picture has the lowest mean of its table."""
    drawn = draw_pictures(SETTINGS)

    assert len(drawn) == len(GROUPS)
    for group, (name, picture) in zip(GROUPS, drawn.items(), strict=True):
        rows = SETTINGS[group, "30,000"]
        assert (FIGURES / name).read_text("utf-8") == picture
        assert f"(figures/{name})" in PAGE.read_text("utf-8")
        shown = [picture.index(f">{policy}<") for policy in sorted(rows, key=find_mean(rows))]
        assert shown == sorted(shown)


def find_mean(rows: Rows) -> Callable[[str], float]:
    return lambda policy: float(rows[policy][0].replace(",", ""))


def test_every_setting_and_policy_is_read() -> None:
    worlds = {world for world, _ in SETTINGS}

    assert worlds > set(GROUPS)
    assert len(SETTINGS) == 4 * len(worlds)
    assert {len(rows) for rows in SETTINGS.values()} == {22}
    assert SETTINGS["paper", "1,000"]["Warm start*"][:3] == ["94.4", "73.2", "285.3"]


@pytest.mark.parametrize(
    ("against", "mark"),
    [
        ("+27.7 [11.9, 43.4]", " <"),
        ("+0.9 [-7.8, 9.6]", " ="),
        ("+0.4 [-0.0, 0.8]", " ="),
        ("+0.4 [0.0, 0.8]; less in 1, more in 0", " <"),
        ("-9.4 [-20.9, -0.0]", ""),
        ("-1,234.5 [-2,000.0, -1,000.0]", ""),
        ("+3.0 –", " ="),
    ],
)
def test_a_mark_says_on_which_side_of_zero_an_interval_lies(against: str, mark: str) -> None:
    assert find_mark(against) == mark
