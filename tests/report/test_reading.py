"""Pages as people read them: on a phone, by night, at the keyboard, with a screen reader."""

from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Locator

from tests.report.browser import DESKTOP, PHONE, Scheme, opened
from tests.report.probes import (
    CUT_OFF,
    FAINT,
    HEADINGS,
    NAMELESS,
    OUTSIDE_THEIR_NODE,
    OUTSIDE_THEIR_SHEET,
    OVERLAPS,
)


@pytest.mark.parametrize("name", ["everything", "worldly"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_words_in_figures_never_overlap_nor_leave_them(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, pages[name], width=width) as found:
        assert found.page.evaluate(OVERLAPS, "figure svg text") == []
        assert found.page.evaluate(OUTSIDE_THEIR_NODE) == []
        assert found.page.evaluate(OUTSIDE_THEIR_SHEET) == []


@pytest.mark.parametrize("name", ["everything", "bounds"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_headings_descend_and_pictures_have_names(
    browser: Browser, pages: dict[str, Path], name: str, scheme: Scheme
) -> None:
    """WCAG 2: 1.4.3 (contrast of text), 1.3.1 (structure), 1.1.1 (what is not text)."""
    with opened(browser, pages[name], scheme=scheme) as found:
        if found.page.locator("tr.why summary").count():
            found.page.locator("tr.why summary").first.click()
        ranks = found.page.evaluate(HEADINGS)

        assert found.page.evaluate(FAINT) == []
        assert found.page.evaluate(NAMELESS) == []
        assert ranks[0] == 1
        assert ranks.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(ranks))


def test_on_a_phone_every_end_every_tag_and_the_command_are_in_sight(
    browser: Browser, pages: dict[str, Path]
) -> None:
    for name in ("bounds", "worldly"):
        with opened(browser, pages[name], width=PHONE) as found:
            assert found.page.evaluate(CUT_OFF, ".bounds td, .bounds th, .bounds .tag") == []
            for box in (".command", ".part-bounds .box"):
                beyond = found.page.locator(box).evaluate("e => e.scrollWidth - e.clientWidth")
                assert beyond == 0, box


def test_at_a_desk_long_names_are_whole_and_why_stands_beside_their_end(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["worldly"]) as found:
        row = found.page.locator("tbody.row.long").first
        name, why = row.locator("th").bounding_box(), row.locator("summary").bounding_box()

        assert row.locator("th").evaluate("e => e.scrollWidth - e.clientWidth") == 0
        assert name is not None
        assert why is not None
        assert name["height"] > 45
        assert name["y"] < why["y"] < name["y"] + name["height"] < why["y"] + 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_that_goes_on_has_a_shadow_at_that_edge(
    browser: Browser, pages: dict[str, Path], scheme: Scheme
) -> None:
    with opened(browser, pages["everything"], width=PHONE, scheme=scheme) as found:
        box = found.page.locator(".part-comparison .box")
        before = shade(box, at=-4)
        box.evaluate("e => e.scrollLeft = e.scrollWidth")
        after = shade(box, at=-4)
        narrow = found.page.locator(".part-claims .box")

        assert abs(before - after) > 0.08
        assert shade(narrow, at=-4) == pytest.approx(shade(narrow, at=-40), abs=0.02)


def shade(box: Locator, *, at: int) -> float:
    """How light the ground of a box is in a column of pixels: the most common value."""
    pixels = imread(BytesIO(box.screenshot()))[:, at, :3].mean(axis=1)
    values, times = np.unique(pixels.round(3), return_counts=True)
    return float(values[times.argmax()])


def test_on_a_phone_rows_of_wide_tables_keep_their_name_in_sight(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["everything"], width=PHONE) as found:
        for part in (".part-comparison", ".part-table"):
            box, name = (found.page.locator(f"{part} {e}").first for e in (".box", "tbody th"))
            assert box.evaluate("e => (e.scrollLeft = 9999) && e.scrollLeft") > 0
            places = box.bounding_box(), name.bounding_box()
            assert places[0] is not None
            assert places[1] is not None
            assert abs(places[0]["x"] - places[1]["x"]) < 3
