"""The pages of the documentation, and the fenced blocks in them."""

import re
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
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


class Command(NamedTuple):
    """A command on a page and what the page says it prints."""

    line: str
    expected: str

    def expects(self, got: str) -> bool:
        """Tell whether this is what the page says, where it says something."""
        expected = self.expected.rstrip()
        return not expected or OutputChecker().check_output(
            f"{expected}\n", f"{got.rstrip()}\n", ELLIPSIS
        )


def read_commands(page: Path) -> Iterator[Command]:
    """Read the commands in the console blocks of a page, in order."""
    for block in read_blocks(page):
        if block.language == "console":
            yield from split_commands(block.text)


def split_commands(text: str) -> Iterator[Command]:
    """Split the text of a console block into its commands."""
    first, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not first.strip(), f"a console block opens with '$ ', not {first!r}"
    for part in parts:
        line, _, expected = part.partition("\n")
        while line.endswith("\\"):
            more, _, expected = expected.partition("\n")
            line = f"{line[:-1].rstrip()} {more.strip().removeprefix('> ')}"
        yield Command(line, expected)


def starts_server(page: Path) -> bool:
    """Whether the commands of a page start a server, which its Python then asks."""
    return any(
        block.language == "console" and "$ boundit serve" in block.text and "&" in block.text
        for block in read_blocks(page)
    )
