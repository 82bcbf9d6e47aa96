from itertools import pairwise

import pytest
from matplotlib.text import Text

from boundit.report.errors import NothingToDraw
from boundit.report.figures.curves import NARROW, WIDE, draw_curves, write_curve_svgs
from boundit.report.records import Curve
from tests.report.examples import curves, y_of


def test_a_curve_is_its_mean_and_its_band() -> None:
    (axes,) = draw_curves(curves("UCB", "TS")).axes

    assert y_of(axes.lines[0])[-1] == pytest.approx(15)
    assert len(axes.collections) == 2
    assert axes.get_xlim() == (1, 100)
    assert axes.get_ylim()[0] == 0


def test_a_median_is_a_thin_line_beside_the_mean() -> None:
    curve = Curve("UCB", at=(1, 2), mean=(0.3, 0.5), median=(0.2, 9.0))
    (axes,) = draw_curves([curve]).axes
    mean, median = axes.lines

    assert y_of(median)[-1] == pytest.approx(9)
    assert median.get_linewidth() < mean.get_linewidth()
    assert median.get_color() == mean.get_color()
    assert axes.get_ylim()[1] > 9
    assert "At the end: UCB 0.5 (median 9)." in write_curve_svgs([curve], title="It")[0]


def test_curves_differ_in_dashes_as_well_as_colour() -> None:
    (axes,) = draw_curves(curves(*"ABCD")).axes

    assert len({line.get_color() for line in axes.lines}) == 4
    assert len({str(vars(line)["_dash_pattern"]) for line in axes.lines}) == 4


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_names_at_the_ends_never_overlap(width: float, n: int) -> None:
    figure = draw_curves(curves(*(f"policy {i}" for i in range(n))), width=width)
    figure.draw_without_rendering()
    boxes = sorted(
        (Text.get_window_extent(t) for t in figure.axes[0].texts), key=lambda b: b.y0
    )

    for below, above in pairwise(boxes):
        assert above.y0 >= below.y1 - 3, "letters have room above and below"
    assert all(box.y0 >= 0 and box.x1 <= figure.bbox.x1 + 1 for box in boxes)


def test_curves_without_a_band_or_of_one_round_are_drawn() -> None:
    (axes,) = draw_curves([Curve("one", (1,), (2,)), Curve("nan", (1,), (float("nan"),))]).axes

    assert not axes.collections


def test_a_page_gets_one_for_wide_and_one_for_narrow() -> None:
    wide, narrow = write_curve_svgs(curves("UCB"), title="Regret")

    assert f'width="{WIDE:g}"' in wide
    assert f'width="{NARROW:g}"' in narrow
    assert ">UCB</text>" in narrow


def test_no_curves_no_figure() -> None:
    with pytest.raises(NothingToDraw):
        draw_curves([])


def test_names_of_curves_that_end_at_nothing_stand_above_the_axis() -> None:
    figure = draw_curves([Curve(name, (1, 2), (0, 0)) for name in "ABC"])
    figure.draw_without_rendering()
    (axes,) = figure.axes

    floor = axes.get_window_extent().y0
    assert min(Text.get_window_extent(text).y0 for text in axes.texts) >= floor - 3


def test_a_note_is_written_below_within_the_edges() -> None:
    note = "Bands are pointwise 95 % intervals of the paired difference from LinUCB. " * 3
    bare, noted = draw_curves(curves("UCB")), draw_curves(curves("UCB"), note=note)
    noted.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in noted.texts]

    assert not bare.texts
    assert " ".join(noted.get_supxlabel().split()) == note.strip()
    assert all(box.x0 >= 0 and box.x1 <= noted.bbox.x1 and box.y0 >= 0 for box in boxes)
    assert max(box.y1 for box in boxes) < noted.axes[0].xaxis.label.get_window_extent().y0


def test_where_curves_end_is_said_for_those_who_do_not_see_them() -> None:
    wide, _ = write_curve_svgs(curves("UCB", "TS"), title="Regret")

    assert 'aria-label="Regret. At the end: UCB 15, TS 15.05."' in wide


def test_a_crowd_at_the_bottom_leaves_names_at_the_top_in_sight() -> None:
    ends = (*(0.1 * i for i in range(9)), 190, 210)
    for width in (NARROW, WIDE):
        figure = draw_curves(
            [Curve(f"policy {i}", (1, 2), (0, end)) for i, end in enumerate(ends)], width=width
        )
        figure.draw_without_rendering()
        axes = figure.axes[0].get_window_extent()
        boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]

        assert len(boxes) == len(ends)
        assert all(axes.y0 - 3 <= box.y0 and box.y1 <= axes.y1 + 10 for box in boxes)
        assert all(b.y0 >= a.y1 - 3 for a, b in pairwise(sorted(boxes, key=lambda b: b.y0)))
