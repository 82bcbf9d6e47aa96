"""Every part at every width, light and dark: nothing that axe finds, nothing cut off."""

import pytest
from playwright.sync_api import expect

from tests.studio.stories.kit import PHONE, Visit


@pytest.mark.view(PHONE)
def test_every_part_is_accessible_and_fits(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.find("#answers .interval").first.click()
    visitor.find(".reason .lights").first.click()
    expect(visitor.find(".checks-list details").last).to_be_visible()
    for panel in ("data", "ask", "whatif", "policy", "take"):
        visitor.go(panel)
        visitor.require_accessible()
        assert visitor.overflow() <= 0


def test_what_is_selected_and_what_is_wrong_is_accessible(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.node("Illness").click()
    visitor.require_accessible()
    visitor.edge("->", "Age", "Illness").locator(".hit").click(force=True)
    visitor.require_accessible()
    visitor.page.keyboard.press("F6")
    visitor.page.keyboard.press("?")
    expect(visitor.find("#keys")).to_be_visible()
    visitor.require_accessible()
    visitor.page.keyboard.press("Escape")
    visitor.type_text("A -> -> B")
    expect(visitor.find("#text-fault")).to_be_visible()
    visitor.require_accessible()


@pytest.mark.view(PHONE)
def test_a_lit_reason_is_seen_beside_its_words_on_a_phone(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.find("#answers .interval").first.click()
    visitor.find(".reason .lights").first.click()

    if visitor.is_phone:
        expect(visitor.find("#preview .edge.path").first).to_be_visible()
        visitor.find("#preview").click()
    expect(visitor.find("#preview")).to_be_hidden()
