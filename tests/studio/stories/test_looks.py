"""Every part at every width, light and dark: nothing that axe finds, nothing cut off."""

from pathlib import Path

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


@pytest.mark.view(PHONE)
def test_no_word_of_the_intervals_is_cut_off(visitor: Visit, tmp_path: Path) -> None:
    """Long names of arms are shortened where they do not fit, and the scale ends in sight."""
    visitor.begin_empty()
    visitor.type_text("Ad -> Click")
    expect(visitor.find(".node")).to_have_count(2)
    path = tmp_path / "clicks.csv"
    arms = ("A very long name of an advertisement", "WWWWWWWWWWWWWWW")
    rows = [f"{arm},{i % 2}" for arm in arms for i in range(100)]
    path.write_text("\n".join(["Ad,Click", *rows]) + "\n")
    visitor.go("data")
    visitor.find("#log-file").set_input_files(path)
    visitor.go("ask")
    for role, name in (("treatment", "Ad"), ("outcome", "Click")):
        visitor.choose(role, name)
    visitor.ask()

    cut = visitor.find("#answers .intervals").evaluate(
        """(svg) => {
          const { left, right } = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")].filter((each) => {
            const box = each.getBoundingClientRect();
            return box.left < left - 1 || box.right > right + 1;
          }).map((each) => each.textContent);
        }"""
    )
    assert cut == []
