import re

import pytest

from boundit.report.notebook.bars import choose_scale, draw_interval_bar
from boundit.results.bound import Bound


def test_a_bar_has_its_ends_where_the_numbers_are() -> None:
    drawn = draw_interval_bar(Bound(0.2, 0.6, 0.3, 0.5, 9, "r", "r"), (0.0, 1.0)).html
    bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)

    assert [(float(x), float(wide)) for x, wide in bars] == [(0, 200), (60, 40), (40, 80)]
    assert 'aria-hidden="true"' in drawn


def test_a_point_at_the_far_end_is_still_seen() -> None:
    drawn = draw_interval_bar(Bound(1, 1, 1, 1, 9, "r", "r"), (0.0, 1.0)).html

    assert drawn.count('x="198.0"') == 2


@pytest.mark.parametrize(
    ("ends", "scale"), [([0.0, 1.0], (0, 1)), ([0.3, 0.3], (0, 1)), ([0.2, 0.3], (0.2, 0.3))]
)
def test_a_scale_is_no_wider_than_needed(ends: list[float], scale: tuple[float, float]) -> None:
    assert choose_scale(ends, (0, 1)) == scale
