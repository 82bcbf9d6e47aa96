from itertools import pairwise

import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from boundit.report.errors import NothingToDraw
from boundit.report.figures.sensitivity import (
    MEANING,
    describe_omission,
    draw_sensitivity,
    draw_sensitivity_panels,
    explain_limit,
)
from boundit.report.records import Ladder
from tests.report.examples import y_of


def ladders(n: int) -> list[Ladder]:
    return [
        Ladder(f"arm {i}", (1, 2, 10), (0.5, 0.4, 0.1), (0.5, 0.6, 0.8 + i / 100))
        for i in range(n)
    ]


def marks(axes: Axes) -> list[str]:
    return [tick.get_text() for tick in axes.get_xticklabels()]


def test_each_arm_has_a_panel_with_its_two_ends() -> None:
    first, second = draw_sensitivity(ladders(2)).axes

    assert y_of(first.lines[0]) == [0.5, 0.4, 0.1]
    assert y_of(first.lines[1]) == [0.5, 0.6, 0.8]
    assert first.get_ylim() == second.get_ylim()


def test_limits_far_apart_are_counted_in_factors() -> None:
    (far,) = draw_sensitivity(ladders(1)).axes
    (near,) = draw_sensitivity([Ladder("a", (1, 1.5), (0.1, 0.1), (0.2, 0.3))]).axes

    assert far.get_xscale() == "log"
    assert marks(far) == ["1", "1.5", "2", "3", "5", "10"]
    assert near.get_xscale() == "linear"
    assert marks(near) == ["1", "1.25", "1.5"]


@pytest.mark.parametrize("top", [1.05, 1.5, 2, 4, 7.9, 8, 10, 37.5, 1000, 1e6])
def test_marks_of_limits_are_many_and_never_touch(top: float) -> None:
    figure = draw_sensitivity([Ladder("a", (1, top), (0.1, 0.1), (0.2, 0.3))])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [Text.get_window_extent(text) for text in axes.get_xticklabels()]

    assert marks(axes)[0] == "1"
    assert marks(axes)[-1] == f"{top:g}"
    assert len(boxes) >= 3 or top == 1.05
    assert all(b.x0 - a.x1 > 2 for a, b in pairwise(boxes))


def test_the_figure_says_what_the_limit_is_and_stays_within_its_edges() -> None:
    for n in (1, 2, 13):
        figure = draw_sensitivity(ladders(n))
        figure.draw_without_rendering()
        said = " ".join(figure.get_supxlabel().split())

        assert said.startswith(MEANING)
        assert ("first 12 of 13" in said) == (n == 13)
        assert all(
            box.x1 <= figure.bbox.x1 and box.y0 >= 0
            for box in map(Text.get_window_extent, figure.texts)
        )


def test_panels_of_long_names_differ() -> None:
    name = "Angebot 00, ein reichhaltiges Frühstück | Größe="
    given = [Ladder(f"{name}{size}", (1, 2), (0, 0), (1, 1)) for size in ("klein", "groß")]

    titles = [part.get_suptitle() for part in draw_sensitivity(given).subfigs]

    assert titles[0] != titles[1]
    assert all("\n" in title for title in titles)
    assert [panel.name for panel in draw_sensitivity_panels(given)] == [g.name for g in given]


def test_what_is_left_out_is_said() -> None:
    assert len(draw_sensitivity_panels(ladders(13))) == 12
    assert describe_omission(ladders(13)) == "Shown are the first 12 of 13."
    assert describe_omission(ladders(12)) == ""


@pytest.mark.parametrize("given", [[], [Ladder("a", (float("inf"),), (0,), (1,))]])
def test_without_a_finite_limit_there_is_nothing_to_draw(given: list[Ladder]) -> None:
    with pytest.raises(NothingToDraw, match="finite limit"):
        draw_sensitivity(given)


def test_a_limit_on_confounding_is_named_by_its_edge() -> None:
    ladder = Ladder("A", (1, 2), (0.3, 0.2), (0.4, 0.6), "X <-> Y")
    (panel,) = draw_sensitivity_panels([ladder])

    assert "Bounds of A against the limit on X &lt;-&gt; Y" in panel.svg
    assert "moves both ends of X <-> Y unseen" in explain_limit([ladder])
    assert explain_limit([]) == MEANING
