from itertools import pairwise

import pytest
from matplotlib.text import Text

from boundit.report.curves import NARROW, WIDE, curve_figure, curve_svgs
from boundit.report.errors import NothingToDraw
from boundit.report.records import Curve
from tests.report.examples import curves, y_of


def test_a_curve_is_its_mean_and_its_band() -> None:
    (axes,) = curve_figure(curves("UCB", "TS")).axes

    assert y_of(axes.lines[0])[-1] == pytest.approx(15)
    assert len(axes.collections) == 2
    assert axes.get_xlim() == (1, 100)
    assert axes.get_ylim()[0] == 0


def test_curves_differ_in_dashes_as_well_as_colour() -> None:
    (axes,) = curve_figure(curves(*"ABCD")).axes

    assert len({line.get_color() for line in axes.lines}) == 4
    assert len({str(vars(line)["_dash_pattern"]) for line in axes.lines}) == 4


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_names_at_the_ends_never_overlap(width: float, n: int) -> None:
    figure = curve_figure(curves(*(f"policy {i}" for i in range(n))), width=width)
    figure.draw_without_rendering()
    boxes = sorted(
        (Text.get_window_extent(t) for t in figure.axes[0].texts), key=lambda b: b.y0
    )

    for below, above in pairwise(boxes):
        assert above.y0 >= below.y1 - 3, "letters have room above and below"
    assert all(box.y0 >= 0 and box.x1 <= figure.bbox.x1 + 1 for box in boxes)


def test_curves_without_a_band_or_of_one_round_are_drawn() -> None:
    (axes,) = curve_figure([Curve("one", (1,), (2,)), Curve("nan", (1,), (float("nan"),))]).axes

    assert not axes.collections


def test_a_page_gets_one_for_wide_and_one_for_narrow() -> None:
    wide, narrow = curve_svgs(curves("UCB"), title="Regret")

    assert f'width="{WIDE:g}"' in wide
    assert f'width="{NARROW:g}"' in narrow
    assert ">UCB</text>" in narrow


def test_no_curves_no_figure() -> None:
    with pytest.raises(NothingToDraw):
        curve_figure([])


def test_names_of_curves_that_end_at_nothing_stand_above_the_axis() -> None:
    figure = curve_figure([Curve(name, (1, 2), (0, 0)) for name in "ABC"])
    figure.draw_without_rendering()
    (axes,) = figure.axes

    floor = axes.get_window_extent().y0
    assert min(Text.get_window_extent(text).y0 for text in axes.texts) >= floor - 3
