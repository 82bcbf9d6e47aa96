import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from boundit.core.errors import MissingExtra
from boundit.report.errors import UnknownSuffix
from boundit.report.figures.canvas import (
    add_axes,
    draw_grid,
    make_figure,
    save_figure,
    use_style,
    write_inline_svg,
)
from boundit.report.palette import get_light_colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def example(label: str = "an arm") -> "Figure":
    with use_style():
        figure = make_figure(300, 120, arrange=False)
        axes = add_axes(figure, 30, 10, 240, 80)
        draw_grid(axes)
        axes.plot([0, 1], [0, 1], "o-", color=get_light_colour("series-1"), label=label)
        axes.set_title(label)
    return figure


def test_the_suffix_says_how_a_figure_is_saved(tmp_path: Path) -> None:
    save_figure(example(), tmp_path / "a.png")
    save_figure(example(), tmp_path / "a.SVG")

    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(tmp_path / "a.SVG").getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", ["a.jpg", "a", "png"])
def test_any_other_suffix_is_refused_and_nothing_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownSuffix, match=r"must end in \.png or \.svg"):
        save_figure(example(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    save_figure(example(), one)
    save_figure(example(), two)

    assert one.read_bytes() == two.read_bytes()
    assert b"Matplotlib" not in one.read_bytes()


def test_in_a_page_colours_are_variables_and_text_is_text() -> None:
    drawn = write_inline_svg(example("$x_1 < 2$"), title='A "title" & more')

    ET.fromstring(drawn)
    assert re.findall(r"(?<![(\"] )(?<!, )(?<=[: ])#[0-9a-f]{6}", drawn) == []
    assert "var(--series-1, #" in drawn
    assert "$x_1 &lt; 2$</text>" in drawn
    assert 'aria-label="A &quot;title&quot; &amp; more"' in drawn
    assert "<style" not in drawn
    assert "DejaVu" not in drawn


def test_in_a_page_places_have_two_decimals_and_labels_all_they_have() -> None:
    drawn = write_inline_svg(example("3.14159"), title="2.71828")

    assert ">3.14159</text>" in drawn
    assert 'aria-label="2.71828"' in drawn
    assert re.findall(r"\d\.\d{3,}", drawn) == ["2.71828", "3.14159"]


def test_a_label_that_looks_like_a_colour_is_left_alone() -> None:
    assert f">{get_light_colour('ink')}</text>" in write_inline_svg(
        example(get_light_colour("ink")), title="t"
    )


def test_figures_of_one_page_share_no_ids() -> None:
    one, two = (
        write_inline_svg(example(), title="one"),
        write_inline_svg(example(), title="two"),
    )
    ids = [set(re.findall(r' id="([^"]+)"', drawn)) for drawn in (one, two)]

    assert ids[0]
    assert not ids[0] & ids[1]
    for drawn, own in zip((one, two), ids, strict=True):
        used = re.findall(r'(?:url\(|href=")#([^")]+)', drawn)
        assert set(used) == own


def test_letters_that_the_face_lacks_bring_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_figure(example("語"), tmp_path / "a.png")
        drawn = write_inline_svg(example("語"), title="t")

    assert (tmp_path / "a.png").stat().st_size > 0
    assert "<svg" in drawn


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'boundit\[plot\]'"), use_style():
        pass
