import re

from boundit.report.notebook.lines import draw_band, draw_key, draw_lines
from boundit.report.records import Curve, Ladder


def test_a_curve_runs_from_end_to_end_and_its_band_around_it() -> None:
    curve = Curve("A", (1, 2, 3), (0, 1, 2), (0, 0.5, 1), (0, 2, 4))
    drawn = draw_lines([curve], title="Regret <i>", x_label="rounds")
    axes, band, line = re.findall(r'd="M([^"]+)"', drawn)

    assert line == "58.0 196.0L334.0 150.5L610.0 105.0"
    assert band.startswith("58.0 196.0L")
    assert band.endswith("Z")
    assert axes
    assert "<title>Regret &lt;i&gt;</title>" in drawn
    assert ">4</text>" in drawn


def test_a_median_is_a_thin_line_beside_the_mean() -> None:
    curve = Curve("A", (1, 2), (0, 1), median=(0, 4))
    drawn = draw_lines([curve], title="t", x_label="x")

    assert '<path d="M58.0 196.0L610.0 14.0" fill="none" stroke-width=".8"' in drawn


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    n = 50_000
    drawn = draw_lines([Curve("A", range(n), range(n))], title="t", x_label="x")  # type: ignore[arg-type]

    assert len(drawn) < 6_000
    assert "L610.0 14.0" in drawn


def test_what_is_no_number_is_left_out() -> None:
    drawn = draw_lines([Curve("A", (1, 2, 3), (0, float("nan"), 2))], title="t", x_label="x")

    assert "nan" not in drawn


def test_a_key_has_the_dashes_of_its_curve() -> None:
    assert "stroke-dasharray" not in draw_key(0)
    assert "stroke-dasharray" in draw_key(1)


def test_a_band_widens_with_the_limit() -> None:
    drawn = draw_band(Ladder("A", (1, 10), (0.5, 0.25), (0.5, 0.75)), (0, 1)).html

    assert '"M0.0 18.0L160.0 27.0"' in drawn
    assert '"M0.0 18.0L160.0 9.0"' in drawn
    assert draw_band(Ladder("A", (2,), (0.5,), (0.6,)), (0, 1)).html.count("<path") == 3
