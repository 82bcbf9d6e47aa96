"""Tables too large to be written whole: rows on demand, found, turned over and explained."""

import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from boundit.report.pages.bound_page import write_bound_page
from boundit.report.pages.bound_view import group_rows, make_finder
from boundit.report.pages.row_values import RowValues
from boundit.report.pages.sections import AT_FIRST, MOST_WHOLE
from boundit.terms.bound_table import BoundTable
from tests.paper import FIGURE_2
from tests.report.browser import DESKTOP, PHONE, opened
from tests.report.examples import large_table, random_table
from tests.report.pages.test_kept_rows import simplify
from tests.report.probes import CUT_OFF, EXPLAINED, FAINT, NAMELESS, ROWS


def write(table: BoundTable, folder: Path) -> Path:
    file = folder / "rows.html"
    file.write_text(write_bound_page(table, graph=FIGURE_2), encoding="utf-8")
    return file


def list_rows(table: BoundTable) -> list[list[str]]:
    """Every row as a page shows it, from the rows that small pages are written of."""
    keys = RowValues.of(table).keys
    return [
        [
            row.id, group.name,
            row.arm + " dominated" * row.dominated + " see why" * row.marked,
            row.lower, row.upper, "", row.n, row.by,
        ]
        for group in group_rows(table, keys, str, make_finder(None))
        for row in group.rows
    ]  # fmt: skip


def read_rows(page: Page) -> list[list[str]]:
    return [[" ".join(cell.split()) for cell in row] for row in page.evaluate(ROWS)]


def turn_over(page: Page) -> list[list[str]]:
    """The rows of all pages, from the one shown to the last."""
    rows = read_rows(page)
    following = page.get_by_role("button", name="Next")
    while following.get_attribute("aria-disabled") == "false":
        following.click()
        rows += read_rows(page)
    return rows


@pytest.mark.parametrize(("seed", "width"), [(0, 390), (1, DESKTOP)])
def test_pages_show_every_row_once_and_searching_those_that_match(
    browser: Browser, tmp_path: Path, seed: int, width: int
) -> None:
    table, rng = random_table(seed), random.Random(seed)
    rows = list_rows(table)
    assert len(rows) > MOST_WHOLE
    with opened(browser, write(table, tmp_path), width=width) as found:
        assert read_rows(found.page) == rows[:AT_FIRST]
        assert turn_over(found.page) == rows
        for _ in range(6):
            words = [sought(rng.choice(rows), rng) for _ in range(rng.randint(1, 2))]
            found.page.get_by_role("searchbox").fill("  ".join(words))
            fitting = [
                row
                for row in rows
                if all(
                    word.lower() in f"{name(row)} {row[1]} {row[7]}".lower() for word in words
                )
            ]
            assert turn_over(found.page) == fitting
            said = found.page.locator(".search output").inner_text()
            assert said == f"{len(fitting)} of {len(rows)}"
        assert found.said == []


def name(row: list[str]) -> str:
    return re.sub(r"( dominated)?( see why)?$", "", row[2])


def sought(row: list[str], rng: random.Random) -> str:
    """A part of a word of a row's arm, context or rule."""
    word = rng.choice(f"{name(row)} {row[1]} {row[7]}".split())
    start = rng.randrange(len(word))
    return word[start : start + rng.randint(1, 6)].swapcase()


# Until the page has turned: a row that is drawn again is closed again.
TURN_TO = """(row) => new Promise((done) => {
  addEventListener("hashchange", () => requestAnimationFrame(done), { once: true });
  location.hash = row;
})"""


@pytest.mark.parametrize(("seed", "width"), [(0, PHONE), (1, DESKTOP), (2, DESKTOP)])
def test_every_row_has_the_explanation_of_the_table(
    browser: Browser, tmp_path: Path, seed: int, width: int
) -> None:
    table, rng = random_table(seed), random.Random(seed)
    keys = RowValues.of(table).keys
    with opened(browser, write(table, tmp_path), width=width) as found:
        for i in sorted(rng.sample(range(len(keys)), 25)):
            found.page.evaluate(TURN_TO, f"row-{i + 1}")
            row = found.page.locator(f"#row-{i + 1}")
            row.locator("summary").click()
            row.locator("math").first.wait_for(state="attached")
            said = [" ".join(line.split()) for line in row.evaluate(EXPLAINED)]
            assert said == simplify(str(table.explanation(*keys[i])))
            assert row.locator("math").count() > 0
        assert found.overflow() <= 0
        assert found.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rows_can_be_turned_over_by_the_keyboard_and_read_by_everyone(
    browser: Browser, tmp_path: Path, scheme: str
) -> None:
    table = random_table(3)
    with opened(browser, write(table, tmp_path), scheme=scheme, width=PHONE) as found:  # type: ignore[arg-type]
        page = found.page
        page.get_by_role("searchbox").focus()
        for _ in range(3):
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Next"
        page.keyboard.press("Enter")
        assert page.locator(".pager output").inner_text().startswith("rows 101 to 200 of ")
        page.get_by_label("Page").fill("99")
        page.keyboard.press("Enter")
        assert page.get_by_label("Page").input_value() == "3"
        page.get_by_role("searchbox").fill("nothing is called so")
        assert page.locator(".pager output").inner_text() == "no rows"
        page.get_by_role("searchbox").fill("")
        page.locator("tr.why summary").nth(3).click()
        assert page.evaluate(FAINT) == []
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(CUT_OFF, ".bounds td, .bounds th, .pager *") == []
        assert found.overflow() <= 0


def test_steps_of_rows_on_demand_light_up_their_paths(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, write(large_table(arms=6), tmp_path)) as found:
        found.page.get_by_role("button", name="Last").click()
        found.page.locator("tr.why summary").last.click()
        found.page.locator("tr.why li[data-between]").last.focus()

        assert found.page.locator(".paths").is_visible()
        assert found.page.locator(".part-drawing .side").count() == 2


def test_without_scripts_the_first_rows_are_there_and_it_is_said(
    browser: Browser, tmp_path: Path
) -> None:
    table = large_table(arms=6)
    with opened(browser, write(table, tmp_path), scripts=False) as found:
        assert found.page.locator("tbody.row").count() == AT_FIRST
        assert found.page.locator(".pager").is_hidden()
        said = found.page.locator("noscript").inner_text()
        assert "Shown are the first 100 of 240 rows" in said
        found.page.locator("tr.why summary").first.click()
        assert found.page.locator("tr.why .explanation").first.is_visible()


def test_without_contexts_rows_have_no_headings(browser: Browser, tmp_path: Path) -> None:
    rows = [{"Ad": i, "lower": i / 1000, "upper": i / 500} for i in range(500)]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], reward_range=(0, 1))
    with opened(browser, write(table, tmp_path)) as found:
        found.page.get_by_label("Page").fill("4")
        found.page.keyboard.press("Enter")

        assert found.page.locator("tbody.group").count() == 0
        assert found.page.locator("tbody.row th").first.inner_text() == "300"
        assert found.page.locator("tbody.row").last.get_attribute("id") == "row-400"
        assert found.said == []
