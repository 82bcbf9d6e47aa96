"""Final regrets as a drawing: all on one axis, every policy with its name."""

import re
from xml.etree import ElementTree as ET

from boundit_research.online.regret_panels import (
    RegretSpan,
    draw_regret_panels,
    list_log_ticks,
)


def test_every_policy_has_its_line_and_regrets_stand_in_order() -> None:
    spans = [RegretSpan("A & B", 30, 20, 90, ours=True), RegretSpan("C", 300, 200, 3_000)]
    one, two = draw_regret_panels([("few", spans), ("many", spans[1:])])
    root = ET.fromstring(one.svg)

    assert (one.name, two.name) == ("few", "many")
    assert "A &amp; B" in one.svg
    assert "A &amp; B" not in two.svg
    circles = [part for part in root.iter() if part.tag.endswith("circle")]
    x = [float(circle.attrib["cx"]) for circle in circles]
    assert x == sorted(x)
    assert x[3] == float(re.findall(r'cx="([\d.]+)"', two.svg)[1])


def test_a_regret_of_zero_can_be_drawn() -> None:
    (panel,) = draw_regret_panels(
        [("all", [RegretSpan("A", 0, 0, 0), RegretSpan("B", 9, 8, 9)])]
    )
    assert not re.search(r"[\" M]nan", panel.svg)


def test_ticks_are_few_and_within() -> None:
    for low, high in ((0.1, 0.2), (1, 10), (3, 4_000), (0.1, 100_000)):
        ticks = list_log_ticks(low, high)
        assert all(low <= tick <= high for tick in ticks)
        assert 1 <= len(ticks) <= 7
