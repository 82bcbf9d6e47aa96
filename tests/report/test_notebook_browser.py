"""What a notebook shows, opened in a browser: at phone and desktop width, light and dark."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.report.axe import list_violations
from tests.report.browser import Scheme, chromium, opened
from tests.report.notebook_examples import ODD, make_results

GROUNDS = {"light": ("#ffffff", "#222222"), "dark": ("#111111", "#eeeeee")}
"""Ground and words of a notebook, which says nothing else of its theme."""
# Two notebooks set cells right, stripe rows and shrink pictures; ours must stand all the same.
HOST = """
.host:not(.other) td, .host:not(.other) th { text-align: right; }
.host:not(.other) tr:nth-child(even) { background: #888; }
.host img, .host svg { max-width: 100%; }
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, shown = tmp_path_factory.mktemp("notebooks"), make_results()
    parts = "".join(f"<section>{each._repr_html_()}</section>" for each in shown.values())  # type: ignore[attr-defined]
    found = {}
    for name, (ground, ink) in GROUNDS.items():
        found[name] = folder / f"{name}.html"
        style = f"{HOST} body {{ background: {ground}; color: {ink}; margin: 16px; }}"
        page = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>n</title>'
        page += f'<style>{style}</style></head><body class="host">'
        page += f"<main><h1>A notebook</h1>{parts}</main></body></html>"
        found[name].write_text(page, encoding="utf-8")
    return found


@pytest.mark.parametrize(("scheme", "width"), [*product(("light", "dark"), (390, 1440))])
def test_results_fit_say_nothing_and_ask_for_nothing(
    browser: Browser, notebooks: dict[str, Path], scheme: Scheme, width: int
) -> None:
    with opened(browser, notebooks[scheme], width=width, scheme=scheme) as found:
        assert found.overflow() <= 0
        assert found.said == []
        assert found.asked_for == [notebooks[scheme].as_uri()]
        assert found.page.locator(".boundit").count() == len(make_results())
        for svg in found.page.locator("svg:not([aria-hidden])").all():
            assert svg.locator("> title").count() == 1
        words = found.page.locator(".boundit .title").first
        ink = words.evaluate("element => getComputedStyle(element).color")
        assert ink == {"light": "rgb(34, 34, 34)", "dark": "rgb(238, 238, 238)"}[scheme]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(
    browser: Browser, notebooks: dict[str, Path], scheme: Scheme
) -> None:
    with opened(browser, notebooks[scheme], width=390, scheme=scheme) as found:
        assert not "\n".join(list_violations(found.page))


def test_names_are_shown_as_they_are(browser: Browser, notebooks: dict[str, Path]) -> None:
    with opened(browser, notebooks["light"]) as found:
        assert found.page.locator(".boundit b, .boundit i, .boundit script").count() == 0
        assert found.page.get_by_role("cell", name=ODD, exact=True).count() > 0


def test_words_stand_left_and_numbers_right_whatever_the_notebook_says(
    browser: Browser, notebooks: dict[str, Path]
) -> None:
    with opened(browser, notebooks["dark"], width=1440) as found:
        sides = found.page.evaluate(
            "[...document.querySelectorAll('td')].map(cell => "
            "[cell.classList.contains('number'), getComputedStyle(cell).textAlign])"
        )
        grounds = found.page.evaluate(
            "[...document.querySelectorAll('tr')].map(row => "
            "getComputedStyle(row).backgroundColor)"
        )
    assert {tuple(side) for side in sides} == {(True, "right"), (False, "left")}
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}


def test_a_table_of_sentences_is_stacked_on_a_phone(
    browser: Browser, notebooks: dict[str, Path]
) -> None:
    for width, shown in ((390, "block"), (1440, "table-cell")):
        with opened(browser, notebooks["light"], width=width) as found:
            cell = found.page.locator("table.stack td").first
            assert cell.evaluate("cell => getComputedStyle(cell).display") == shown
