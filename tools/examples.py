"""``python -m tools.examples PAGE...``: rewrite the outputs of Python examples that changed.

The examples of each page run as in the tests, in a folder with docs/data and the pharmacy. An
output that still matches, ``...`` included, is left as it is; so is one with ``...`` that does not.
"""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from doctest import ELLIPSIS, DocTest, DocTestParser, DocTestRunner, Example
from pathlib import Path
from typing import Any

import click

from boundit.cli.init import make_example
from tools import ROOT


class OutputRecorder(DocTestRunner):
    """Run examples, and keep what those print that do not print what they should."""

    def __init__(self) -> None:
        super().__init__(optionflags=ELLIPSIS, verbose=False)
        self.changed: list[tuple[Example, str | None]] = []

    def report_start(self, _out: Any, _test: DocTest, _example: Example) -> None:
        """Print nothing."""

    def report_failure(self, _out: Any, _test: DocTest, example: Example, got: str) -> None:
        """Keep the new output; None if it has to be written by hand."""
        by_hand = "..." in example.want or example.exc_msg is not None
        self.changed.append((example, None if by_hand else got))

    def report_unexpected_exception(
        self, _out: Any, _test: DocTest, example: Example, _exc_info: Any
    ) -> None:
        """Leave it to its author."""
        self.changed.append((example, None))


def update_page(text: str) -> tuple[str, list[int]]:
    """Return the page with its new outputs, and the lines that need a hand."""
    test = DocTestParser().get_doctest(text, {"__name__": "__main__"}, "page", None, 0)
    recorder = OutputRecorder()
    recorder.run(test, out=lambda _: None, clear_globs=True)
    lines, by_hand = text.splitlines(keepends=True), list[int]()
    for example, got in reversed(recorder.changed):
        start = example.lineno + example.source.count("\n")
        if got is None:
            by_hand.insert(0, example.lineno + 1)
            continue
        shown = (line.rstrip() or "<BLANKLINE>" for line in got.splitlines())
        indent = " " * example.indent
        lines[start : start + example.want.count("\n")] = [
            f"{indent}{line}\n" for line in shown
        ]
    return "".join(lines), by_hand


@contextlib.contextmanager
def example_folder() -> Iterator[None]:
    """Work in a folder that has what pages read."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        shutil.copytree(ROOT / "docs" / "data", "data")
        Path("pharmacy").mkdir()
        for file, text in make_example().items():
            (Path("pharmacy") / file).write_text(text, encoding="utf-8")
        yield


@click.command()
@click.argument("pages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def examples(pages: tuple[Path, ...]) -> None:
    """Run the Python examples of PAGES and write what they print now."""
    left = False
    for page in (page.resolve() for page in pages):
        text = page.read_text(encoding="utf-8")
        with example_folder():
            new, by_hand = update_page(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            click.echo(f"wrote {page}")
        for line in by_hand:
            click.echo(f"{page}:{line}: to be written by hand", err=True)
        left |= bool(by_hand)
    sys.exit(int(left))


if __name__ == "__main__":
    examples()
