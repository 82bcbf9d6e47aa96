"""Pages as people read them: on a phone and at a desk, light and dark, by keyboard and by ear."""

from itertools import pairwise, product
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.report.axe import list_violations
from tests.report.browser import Scheme, opened
from tests.report.probes import (
    FAINT,
    HEADINGS,
    NAMELESS,
    OUTSIDE_THEIR_NODE,
    OUTSIDE_THEIR_SHEET,
    OVERLAPS,
)

VIEWS = tuple(product((390, 1440), ("light", "dark")))


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *((name, *view) for name in ("bounds", "everything") for view in VIEWS),
        ("worldly", 390, "dark"),
        ("worldly", 1440, "light"),
        ("large", 390, "light"),
    ],
)
def test_pages_fit_can_be_read_and_ask_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Scheme
) -> None:
    with opened(browser, pages[name], width=width, scheme=scheme) as found:
        assert found.overflow() <= 0
        assert found.said == []
        asked = {url for url in found.asked_for if not url.startswith("data:,")}
        assert asked == {pages[name].as_uri()}
        ground = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(253, 253, 252)", "dark": "rgb(21, 24, 28)"}[scheme]
        assert found.page.evaluate(OVERLAPS, "figure svg text") == []
        assert found.page.evaluate(OUTSIDE_THEIR_NODE) == []
        assert found.page.evaluate(OUTSIDE_THEIR_SHEET) == []
        if name != "large":
            assert list_violations(found.page) == []
            assert found.page.evaluate(FAINT) == []
            assert found.page.evaluate(NAMELESS) == []
        ranks = found.page.evaluate(HEADINGS)
        assert ranks[0] == 1
        assert ranks.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(ranks))


def test_faults_are_found_where_there_are_some(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    file, page = tmp_path / "faulty.html", pages["bounds"].read_text(encoding="utf-8")
    faulty = page.replace("--muted: #59636e", "--muted: #c9ced3").replace("<h2>", "<h4>", 1)
    file.write_text(faulty.replace("</h2>", "</h4>", 1), encoding="utf-8")
    with opened(browser, file) as found:
        said = " ".join(list_violations(found.page))

    assert "contrast" in said
    assert "Heading levels" in said


@pytest.mark.parametrize("width", [390, 1440])
def test_a_reason_opens_by_click_or_key_without_scripts(
    browser: Browser, pages: dict[str, Path], width: int
) -> None:
    with opened(browser, pages["bounds"], width=width, scripts=False) as found:
        reason = found.page.locator(".reason").nth(2)
        assert not reason.locator("ul").first.is_visible()

        reason.locator("summary").focus()
        found.page.keyboard.press("Enter")

        assert reason.locator("ul").first.is_visible()
        assert "lies in" in reason.inner_text()
        assert reason.locator("math munder").count() == 1
        assert found.overflow() <= 0


def test_a_step_highlights_its_paths_when_focused(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bounds"]) as found:
        page, panel = found.page, found.page.locator(".paths")
        list_marked = "(names) => [...document.querySelectorAll('.part-drawing .' + names[0])]"
        list_marked += ".map(part => part.dataset[names[1]]).sort()"
        page.locator(".reason summary").first.click()
        page.locator(".reason li[data-between]").first.focus()

        assert page.evaluate(list_marked, ["side", "name"]) == ["S", "Y"]
        assert page.evaluate(list_marked, ["given", "name"]) == ["I1", "U1", "X1", "X2"]
        edges = ["I1 -> S", "I1 -> Y", "I1 <-> Y"]
        assert page.evaluate(list_marked, ["path", "edge"]) == edges
        assert panel.is_visible()
        assert "between Y and S" in panel.inner_text()

        page.keyboard.press("Escape")
        assert panel.is_hidden()
        assert page.locator(".side, .given, .edge.path, .lit").count() == 0
        assert found.said == []


def test_the_command_can_be_copied_and_paper_has_the_answer(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bounds"]) as found:
        found.page.get_by_role("button", name="Copy the command").click()
        assert found.page.locator(".copy output").inner_text()
        found.page.emulate_media(media="print")
        assert found.page.locator(".copy").is_hidden()
        assert found.page.locator(".verdict").is_visible()
