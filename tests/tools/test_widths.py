"""The picture and the numbers of a page are those that its own Python gives."""

import re

from tools.widths import PAGE, PICTURE, SizedBounds, draw_widths, make_files, write_table

from boundit.terms.bound import Bound

FOUND = [
    SizedBounds(
        4_000,
        Bound(0.3, 0.7, 0.4, 0.6, 9, "a", "a"),
        Bound(0.35, 0.65, 0.4, 0.6, 9, "a", "a"),
    )
]


def test_the_page_and_its_picture_are_as_they_are_made() -> None:
    """After a change of intervals, ``python -m tools.widths`` writes both anew."""
    stale = [path.name for path, text in make_files() if path.read_text("utf-8") != text]

    assert stale == []
    assert PICTURE.name in PAGE.read_text("utf-8")


def test_chance_is_what_an_interval_has_beyond_what_the_graph_leaves_open() -> None:
    assert "| 4,000 | 0.200 | 0.100 | 0.200 |" in write_table(FOUND)


def test_intervals_lie_within_each_other_on_one_scale() -> None:
    lines = re.findall(r'class="(\w+)" x1="([\d.]+)" x2="([\d.]+)"', draw_widths(FOUND))
    exact, near, opened = (
        [(float(a), float(b)) for name, a, b in lines if name == kind][-1]
        for kind in ("exact", "near", "open")
    )

    assert exact[0] < near[0] < opened[0] < opened[1] < near[1] < exact[1]
