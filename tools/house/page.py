"""The parts of ``docs/house.md`` that are recorded rather than written: drawing and walks."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.house.drawing import draw_house, read_rooms
from tools.house.source import ROOT, Source
from tools.house.walks import record_walks, write_walks

PAGE = ROOT / "docs" / "house.md"
DRAWING = ROOT / "docs" / "house.svg"
_WALKS = re.compile(r"(?<=<!-- walks -->\n).*(?=<!-- end of walks -->)", re.DOTALL)


def make_files() -> Iterator[tuple[Path, str]]:
    """Give each file of the house with the text it should have, as the code is now."""
    source = Source()
    yield DRAWING, draw_house(read_rooms())
    text = write_walks(record_walks(source), source)
    yield PAGE, _WALKS.sub(lambda _: f"\n{text}\n\n", PAGE.read_text(encoding="utf-8"))
