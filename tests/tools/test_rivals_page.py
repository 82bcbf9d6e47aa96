"""The tables of a page are those of the results that are kept."""

import pytest
from tools.rivals_page import (
    GROUPS,
    KEPT,
    PAGE,
    find_mark,
    make_page,
    read_settings,
    write_tables,
)

SETTINGS = read_settings(KEPT.read_text("utf-8"))


def test_the_page_has_the_numbers_and_marks_of_the_results() -> None:
    """After a study anew, ``python -m tools.rivals_page`` writes the tables anew."""
    page = PAGE.read_text("utf-8")

    assert make_page(page, KEPT.read_text("utf-8")) == page
    for table in write_tables(SETTINGS).values():
        assert page.count(table) == 1


def test_a_number_that_was_changed_is_noticed() -> None:
    page, kept = PAGE.read_text("utf-8"), KEPT.read_text("utf-8")
    changed = page.replace("110.0 (67.5, 398.1)", "111.0 (67.5, 398.1)", 1)

    assert changed != page
    assert make_page(changed, kept) == page


def test_every_setting_and_policy_is_read() -> None:
    worlds = {world for world, _ in SETTINGS}

    assert worlds > set(GROUPS)
    assert len(SETTINGS) == 4 * len(worlds)
    assert {len(rows) for rows in SETTINGS.values()} == {20}
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
