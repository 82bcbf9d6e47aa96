"""The tutorial's story is told as written, and shows the pictures that it takes."""

import re
from pathlib import Path

from tests.studio.stories.kit import Visit
from tests.studio.stories.pharmacy import tell_pharmacy

DOCS = Path(__file__).parents[3] / "docs"
TUTORIAL = (DOCS / "tutorials" / "studio.md").read_text(encoding="utf-8")


def test_the_tutorial_is_told_with_its_pictures(visitor: Visit) -> None:
    taken: list[str] = []
    tell_pharmacy(visitor, taken.append)

    assert re.findall(r"\(\.\./figures/([\w-]+)\.png\)", TUTORIAL) == taken
    assert all((DOCS / "figures" / f"{name}.png").exists() for name in taken)


def test_sentences_that_the_tutorial_quotes_are_on_the_page(visitor: Visit) -> None:
    """What stands in quotation marks after "It says" is what a reader finds there."""
    quoted = re.findall(r"^> (.+)$", TUTORIAL, re.MULTILINE)
    seen: list[str] = []
    tell_pharmacy(visitor, lambda _: seen.append(visitor.find("body").inner_text()))
    page = " ".join(" ".join(seen).split())

    assert quoted
    assert [line for line in quoted if line not in page] == []
