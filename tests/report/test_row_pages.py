"""Large tables on a page: the narrowest rows are there, found and explained; the rest is told."""

import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from boundit.report.pages.bound_page import write_bound_page
from boundit.report.pages.sections import MOST_ROWS
from boundit.report.text.lettering import format_n
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from tests.paper import FIGURE_2
from tests.report.browser import DESKTOP, PHONE, Scheme, opened
from tests.report.examples import large_table, random_table
from tests.report.probes import CUT_OFF, EXPLAINED, FAINT, NAMELESS, ROWS


def write(table: BoundTable, folder: Path) -> Path:
    file = folder / "rows.html"
    file.write_text(write_bound_page(table, graph=FIGURE_2), encoding="utf-8")
    return file


def order_keys(table: BoundTable) -> list[Key]:
    return sorted(table.bounds, key=lambda key: table.contexts.index(key[1]))


def list_rows(table: BoundTable) -> list[list[str]]:
    """Every row of a random table as a page shows it."""
    rows = []
    for i, ((arm,), (c, w)) in enumerate(order_keys(table), 1):
        bound = table.bounds[(arm,), (c, w)]
        tags = " dominated" * ((arm,) in table.find_dominations((c, w)))
        tags += " see why" * bool(bound.marks)
        by = " / ".join(dict.fromkeys((bound.lower_rule, bound.upper_rule)))
        ends = f"{bound.lower:.3f}", f"{bound.upper:.3f}"
        rows.append(
            [f"row-{i}", f"C={c}, W={w}", f"{arm}{tags}", *ends, "", format_n(bound.n), by]
        )
    return rows


def read_rows(page: Page) -> list[list[str]]:
    """The rows that can be seen."""
    seen = {row.get_attribute("id") for row in page.locator("tbody.row:visible").all()}
    rows = [[" ".join(cell.split()) for cell in row] for row in page.evaluate(ROWS)]
    return [row for row in rows if row[0] in seen]


@pytest.mark.parametrize(("seed", "width"), [(0, 390), (1, DESKTOP)])
def test_every_row_is_there_and_searching_shows_those_that_match(
    browser: Browser, tmp_path: Path, seed: int, width: int
) -> None:
    table, rng = random_table(seed), random.Random(seed)
    rows = list_rows(table)
    with opened(browser, write(table, tmp_path), width=width) as found:
        assert read_rows(found.page) == rows
        for _ in range(4):
            words = [sought(rng.choice(rows), rng) for _ in range(rng.randint(1, 2))]
            found.page.get_by_role("searchbox").fill("  ".join(words))
            fitting = [
                row
                for row in rows
                if all(
                    word.lower() in f"{name(row)} {row[1]} {row[7]}".lower() for word in words
                )
            ]
            assert read_rows(found.page) == fitting
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


@pytest.mark.parametrize(
    ("seed", "arms", "width"), [(0, 12, PHONE), (1, 12, DESKTOP), (2, 4, DESKTOP)]
)
def test_every_row_has_the_explanation_of_the_table(
    browser: Browser, tmp_path: Path, seed: int, arms: int, width: int
) -> None:
    """Formulas are drawn where rows are few, and text where they are many."""
    table, rng = random_table(seed, arms=arms), random.Random(seed)
    keys = order_keys(table)
    with opened(browser, write(table, tmp_path), width=width) as found:
        for i in sorted(rng.sample(range(len(keys)), 15)):
            row = found.page.locator(f"#row-{i + 1}")
            row.locator("summary").click()
            said = [" ".join(line.split()) for line in row.evaluate(EXPLAINED)]
            found_here = table.explain(*keys[i])
            told = [str(found_here.title)]
            for part, lines in found_here.list_parts():
                told += [f"{part.capitalize()}:", *map(str, lines)] if lines else []
            assert said == [" ".join(line.split()) for line in told]
            assert (row.locator("math").count() > 0) == (arms < 12)
        assert found.overflow() <= 0
        assert found.said == []


def make_huge(n: int) -> BoundTable:
    """Rows that are the narrower the higher their number."""
    rows = [
        {"Ad": i % 100, "C": i // 100, "lower": 0.5 - (n - i) / (2 * n), "upper": 0.5}
        for i in range(n)
    ]
    asked = {"outcome": "Y", "treatments": ["Ad"], "context": ["C"]}
    return BoundTable.from_rows(rows, **asked, outcome_range=(0, 1))  # type: ignore[arg-type]


def test_of_more_rows_the_narrowest_are_shown_and_where_all_are_is_told(
    browser: Browser, tmp_path: Path
) -> None:
    n = MOST_ROWS + 500
    file = write(make_huge(n), tmp_path)
    with opened(browser, file) as found:
        rows = read_rows(found.page)
        said = found.page.locator(".part-bounds").inner_text()
    assert [(row[1], row[2]) for row in rows] == [
        (f"C={i // 100}", str(i % 100)) for i in range(500, n)
    ]
    assert (
        "Shown are the 2,000 narrowest of 2,500 intervals. All are in the saved table: --out "
        "FILE.json on the command line, save() in Python."
    ) in said
    assert "2,500" in file.read_text().split('<dl class="facts">')[1].split("</dl>")[0]
    assert "narrowest of" not in write(random_table(0), tmp_path).read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_many_rows_can_be_read_by_everyone(
    browser: Browser, tmp_path: Path, scheme: Scheme
) -> None:
    file = write(random_table(3), tmp_path)
    with opened(browser, file, scheme=scheme, width=PHONE) as found:
        found.page.locator("tr.why summary").nth(3).click()
        assert found.page.evaluate(FAINT) == []
        assert found.page.evaluate(NAMELESS) == []
        assert found.page.evaluate(CUT_OFF, ".bounds td, .bounds th") == []
        assert found.overflow() <= 0


def test_steps_of_rows_light_up_their_paths(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, write(large_table(arms=6), tmp_path)) as found:
        found.page.locator("tr.why summary").last.click()
        found.page.locator("tr.why li[data-between]").last.focus()

        assert found.page.locator(".paths").is_visible()
        assert found.page.locator(".part-drawing .side").count() == 2


def test_without_scripts_all_rows_are_there(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, write(large_table(arms=6), tmp_path), scripts=False) as found:
        assert found.page.locator("tbody.row").count() == 240
        found.page.locator("tr.why summary").first.click()
        assert found.page.locator("tr.why .explanation").first.is_visible()


def test_without_contexts_rows_have_no_headings(browser: Browser, tmp_path: Path) -> None:
    rows = [{"Ad": i, "lower": i / 1000, "upper": i / 500} for i in range(500)]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1))
    with opened(browser, write(table, tmp_path)) as found:
        assert found.page.locator("tbody.group").count() == 0
        assert found.page.locator("tbody.row th").last.inner_text() == "499"
        assert found.said == []
