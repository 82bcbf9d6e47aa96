"""The pictures of the documentation are those that its commands draw now."""

from pathlib import Path
from xml.etree import ElementTree as ET

from tools.figures import FIGURES, GALLERY, draw_gallery, draw_pharmacy, stand_alone


def test_the_gallery_shows_the_graphs_of_its_page() -> None:
    """After a change of the page or the drawing, ``make figures`` draws them anew."""
    text = GALLERY.read_text(encoding="utf-8")
    drawn = dict(draw_gallery(text))

    assert len(drawn) == text.count("../figures/") == 8
    for name, picture in drawn.items():
        assert (FIGURES / name).read_text(encoding="utf-8") == picture, f"make figures: {name}"


def test_the_pharmacy_is_drawn_as_its_effects_are_now() -> None:
    graph, effects = (picture for _, picture in draw_pharmacy())

    assert (FIGURES / "pharmacy-graph.svg").read_text(encoding="utf-8") == graph
    assert "<svg" in effects
    assert "truth" in effects


def test_every_picture_is_an_svg_that_asks_for_nothing_from_elsewhere() -> None:
    pictures = sorted(FIGURES.glob("*.svg"))

    assert {Path(name).stem for name in pictures} >= {"logo", "regret", "pharmacy-effects"}
    for path in pictures:
        text = path.read_text(encoding="utf-8")
        assert ET.fromstring(text).tag.endswith("svg")
        assert 'href="http' not in text.replace("http://www.w3.org", "")


def test_a_picture_in_a_file_has_the_palette_of_its_own() -> None:
    assert "--ink:" in stand_alone('<svg viewBox="0 0 1 1"></svg>')
