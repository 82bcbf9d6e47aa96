"""The pages as a reader meets them, at phone and desktop width, light and dark."""

import random
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from boundit.graph.text import parse
from boundit.report.graph.svg import draw_graph
from tests.report.browser import DESKTOP, PHONE, Scheme, opened
from tests.report.probes import OUTSIDE_THEIR_NODE, OVERLAPS, SHOWN
from tests.strategies import random_graph

WIDTHS = (390, 660, DESKTOP)
"""A phone, a phone on its side, a desk: rows are laid out otherwise at each."""


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *product(("bounds", "everything", "worldly"), (PHONE, DESKTOP), ("light", "dark")),
        ("large", PHONE, "dark"),
        ("large", DESKTOP, "light"),
    ],
)
def test_pages_fit_say_nothing_and_ask_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Scheme
) -> None:
    with opened(browser, pages[name], width=width, scheme=scheme) as found:
        assert found.overflow() <= 0
        assert found.said == []
        assert {url for url in found.asked_for if not url.startswith("data:,")} == {
            pages[name].as_uri()
        }
        ground = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(253, 253, 252)", "dark": "rgb(21, 24, 28)"}[scheme]


def test_an_explanation_is_one_click_away(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["bounds"], width=PHONE) as found:
        explanation = found.page.locator("tr.why .explanation").nth(2)
        assert not explanation.is_visible()

        found.page.locator("tr.why summary").nth(2).click()

        assert explanation.is_visible()
        assert "lies in" in explanation.inner_text()
        assert "Derivation:" in explanation.inner_text()
        assert explanation.locator("math munder").count() == 1
        box = explanation.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE
        assert found.overflow() <= 0


def test_the_keyboard_opens_it_too_and_scripts_are_not_needed(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["large"], scripts=False) as found:
        assert found.page.locator(".search").is_hidden()
        found.page.locator("tr.why summary").first.focus()
        found.page.keyboard.press("Enter")

        assert found.page.locator("tr.why .explanation").first.is_visible()


def test_why_stands_in_the_row_it_explains(browser: Browser, pages: dict[str, Path]) -> None:
    for width in (PHONE, DESKTOP):
        with opened(browser, pages["bounds"], width=width) as found:
            for i in range(8):
                row = found.page.locator("tbody.row > tr:first-child").nth(i).bounding_box()
                why = found.page.locator("tr.why summary").nth(i).bounding_box()
                assert row is not None
                assert why is not None
                middles = [box["y"] + box["height"] / 2 for box in (row, why)]
                below = row["y"] + row["height"] + why["height"] / 2
                middle = below if width == PHONE else middles[0]
                assert middle == pytest.approx(middles[1], abs=3)


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_a_step_lights_up_its_paths_when_focused_or_pointed_at(
    browser: Browser, pages: dict[str, Path], width: int, scheme: Scheme
) -> None:
    with opened(browser, pages["bounds"], width=width, scheme=scheme) as found:
        page, panel = found.page, found.page.locator(".paths")
        list_marked = "(names) => [...document.querySelectorAll('.part-drawing .' + names[0])]"
        list_marked += ".map(part => part.dataset[names[1]]).sort()"
        assert panel.is_hidden()

        page.locator("tr.why summary").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")

        step = page.locator("tr.why li[data-between]").first
        assert step.evaluate("step => step === document.activeElement")
        assert page.evaluate(list_marked, ["side", "name"]) == ["S", "Y"]
        assert page.evaluate(list_marked, ["given", "name"]) == ["I1", "U1", "X1", "X2"]
        edges = ["I1 -> S", "I1 -> Y", "I1 <-> Y"]
        assert page.evaluate(list_marked, ["path", "edge"]) == edges
        assert panel.is_visible()
        assert "between Y and S" in panel.inner_text()
        above, below = sorted(
            (box["y"], box["y"] + box["height"])
            for box in (panel.bounding_box(), step.bounding_box())
            if box is not None
        )
        assert above[1] <= below[0], "the panel covers the step"
        assert found.overflow() <= 0

        page.keyboard.press("Escape")
        assert panel.is_hidden()
        assert page.locator(".side, .given, .edge.path, .lit").count() == 0

        page.locator(".rule li[data-between]").hover()
        assert page.evaluate(list_marked, ["path", "edge"]) == edges
        page.locator("h1").hover()
        page.locator("tr.why summary").first.focus()
        assert page.locator(".side, .given, .edge.path, .lit").count() == 0
        assert found.said == []


def test_a_graph_in_sight_is_lit_up_where_it_stands(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bounds"]) as found:
        found.page.set_viewport_size({"width": DESKTOP, "height": 4000})
        found.page.locator(".rule li[data-between]").focus()

        assert found.page.locator(".part-drawing svg.lit").count() == 1
        assert found.page.locator(".paths").is_hidden()


@pytest.mark.parametrize("width", WIDTHS)
def test_many_rows_can_be_searched(
    browser: Browser, pages: dict[str, Path], width: int
) -> None:
    with opened(browser, pages["large"], width=width) as found:
        found.page.locator("tr.why summary").nth(7).click()
        found.page.get_by_role("searchbox").fill("ITEM 07 column0=1")

        assert found.page.evaluate(SHOWN, "tbody.row") == 20
        assert found.page.evaluate(SHOWN, "tbody.group") == 20
        assert found.page.locator(".search output").inner_text() == "20 of 1,200"
        found.page.get_by_role("searchbox").fill("")
        assert found.page.evaluate(SHOWN, "tbody.row") == 1200
        assert found.page.locator(".explanation:visible").count() == 1


def test_the_header_stays_in_sight(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["large"]) as found:
        box = found.page.locator(".box.tall")
        box.evaluate("e => e.scrollTop = 9000")
        head, frame = found.page.locator("table.bounds thead th").nth(1), box.bounding_box()
        place = head.bounding_box()
        assert place is not None
        assert frame is not None
        assert abs(place["y"] - frame["y"]) < 3


def test_on_paper_it_is_light_whole_and_within_the_margins(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bounds"], scheme="dark", width=700) as found:
        found.page.locator("tr.why summary").first.click()
        found.page.emulate_media(media="print", color_scheme="dark")

        assert found.overflow() <= 0
        ground = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(253, 253, 252)"
        assert found.page.locator(".explanation:visible").count() == 1
        assert found.page.locator("summary:visible").count() == 0
        assert found.page.locator(".paper-only").is_visible()
        assert found.page.pdf().startswith(b"%PDF")
    with opened(browser, pages["everything"], width=690) as found:
        found.page.emulate_media(media="print")
        assert found.overflow() <= 0


def test_labels_of_any_graph_stand_apart_and_inside_their_nodes(
    browser: Browser, tmp_path: Path
) -> None:
    rng = random.Random(0)
    graphs = [
        random_graph(rng, n, arrows=2 / n, arcs=1 / n, selection=True) for n in range(1, 40, 4)
    ]
    graphs.append(
        parse(
            '"WWWWWWWWWW MMMMMMMMMM" -> "time of day"; neighbour_income -> iiiiii; 語語語 -> Y'
        )
    )
    drawn = "".join(draw_graph(graph, treatments=min(graph.observed)) for graph in graphs)
    file = tmp_path / "graphs.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{drawn}', encoding="utf-8")
    with opened(browser, file) as found:
        assert found.page.evaluate(OVERLAPS, ".graph text") == []
        assert found.page.evaluate(OUTSIDE_THEIR_NODE) == []


def test_a_page_of_1200_rows_is_soon_there(browser: Browser, pages: dict[str, Path]) -> None:
    """Counted, and the clock only as a last resort: it is a shared machine's."""
    with opened(browser, pages["large"]) as found:
        assert found.page.evaluate("document.querySelectorAll('*').length") < 60_000
        took = found.page.evaluate("performance.getEntriesByType('navigation')[0].duration")
        assert took < 20_000


def test_the_answer_and_the_command_can_be_copied(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["worldly"], width=390) as found:
        found.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        found.page.get_by_role("button", name="Copy the answer").click()
        found.page.locator(".copy output").first.filter(has_text="copied").wait_for()
        answer = found.page.evaluate("navigator.clipboard.readText()")
        found.page.get_by_role("button", name="Copy the command").click()
        found.page.locator(".copy output").last.filter(has_text="copied").wait_for()
        command = found.page.evaluate("navigator.clipboard.readText()")

    assert "The highest mean is known in none of the 9 contexts." in answer
    assert "Rests on" in answer
    assert command == f"boundit bound {'x' * 200}"


def test_where_the_clipboard_is_closed_the_answer_is_selected(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bounds"]) as found:
        closed = "() => { navigator.clipboard.writeText = () => Promise.reject(); }"
        found.page.evaluate(closed)
        found.page.get_by_role("button", name="Copy the command").click()
        found.page.locator(".copy output").last.filter(has_text="selected").wait_for()

        assert found.page.evaluate("String(getSelection()).trim()") == "boundit bound g q l"
