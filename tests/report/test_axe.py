"""No page has anything that axe finds fault with, at any width and in both schemes."""

from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from boundit.report.pages.answer_page import write_answer_page
from boundit.report.pages.bound_page import write_bound_page
from tests.report.axe import list_violations
from tests.report.browser import Scheme, opened
from tests.report.examples import large_table, small_table
from tests.report.pages.test_answer_page import PAGE

VIEWS = tuple(product((390, 1440), ("light", "dark")))


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *((name, *view) for name in ("bounds", "everything") for view in VIEWS),
        ("worldly", *VIEWS[1]),
        ("worldly", *VIEWS[2]),
    ],
)
def test_pages_of_all_parts(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Scheme
) -> None:
    with opened(browser, pages[name], width=width, scheme=scheme) as found:
        assert list_violations(found.page) == []


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_rows_on_demand_once_they_were_searched_and_explained(
    browser: Browser, tmp_path: Path, width: int, scheme: Scheme
) -> None:
    table, file = large_table(arms=6), tmp_path / "large.html"
    file.write_text(write_bound_page(table, choice=table.choose()), encoding="utf-8")
    with opened(browser, file, width=width, scheme=scheme) as found:
        found.page.get_by_role("searchbox").fill("item 03 column0=1 column1=1")
        assert list_violations(found.page) == []
        assert found.said == []


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_pages_of_answers(browser: Browser, tmp_path: Path, width: int, scheme: Scheme) -> None:
    file = tmp_path / "answer.html"
    file.write_text(write_answer_page(PAGE, command="boundit stress"), encoding="utf-8")
    with opened(browser, file, width=width, scheme=scheme) as found:
        assert list_violations(found.page) == []


def test_faults_are_found_where_there_are_some(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "faulty.html"
    page = write_bound_page(small_table())
    faulty = page.replace("--muted: #59636e", "--muted: #c9ced3").replace("<h2>", "<h4>", 1)
    file.write_text(faulty.replace("</h2>", "</h4>", 1), encoding="utf-8")
    with opened(browser, file) as found:
        said = " ".join(list_violations(found.page))

    assert "contrast" in said
    assert "Heading levels" in said
