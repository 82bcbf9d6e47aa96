"""The pages of the documentation, and the fenced blocks in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str


def name_page(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read_blocks(page: Path) -> Iterator[Block]:
    for _, language, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        yield Block(language, text)
