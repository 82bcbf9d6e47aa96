"""Every command on a page runs as printed, and prints what the page says.

A ```console block is what a terminal shows: ``$`` and a command, then its output, in which
``...`` stands for anything. The commands of a page run in order in one folder with a copy of
docs/data. A command without output is run all the same. It must exit with 0, unless the next
line asks ``$ echo $?``. A ```sh block has what takes too long here: its commands must parse.
"""

import contextlib
import re
import shlex
import shutil
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from boundit.cli.main import app, main
from tests.docs.pages import DOCS, PAGES, ROOT, Block, name_page, read_blocks

RUN_OR_DATA = {"console", "python", "sh", "text", "dot", "dagitty", "json", "csv"}
CONSOLE_PAGES = [
    page for page in PAGES if any(b.language == "console" for b in read_blocks(page))
]
TARGETS = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


class Command(NamedTuple):
    line: str
    expected: str


class Shell:
    """The few words of a shell that pages use."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.code = 0

    def run(self, line: str) -> str:
        match shlex.split(line):
            case ["boundit", *arguments]:
                return self._run_boundit(arguments)
            case ["cd", directory]:
                self._monkeypatch.chdir(directory)
                return ""
            case ["cat", path]:
                return Path(path).read_text(encoding="utf-8")
            case ["head", "-n", n, path]:
                lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
                return "".join(lines[: int(n)])
            case ["echo", "$?"]:
                code, self.code = self.code, 0
                return f"{code}\n"
            case _:
                raise AssertionError(f"pages may not use {line!r}: teach it to this Shell")

    def _run_boundit(self, arguments: list[str]) -> str:
        screen = StringIO()
        with (
            contextlib.redirect_stdout(screen),
            contextlib.redirect_stderr(screen),
            pytest.raises(SystemExit) as left,
        ):
            main(arguments)
        assert isinstance(left.value.code, int)
        self.code = left.value.code
        return screen.getvalue()


def read_commands(block: Block) -> Iterator[Command]:
    first, *parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first.strip(), f"a console block opens with '$ ', not {first!r}"
    for part in parts:
        line, _, expected = part.partition("\n")
        while line.endswith("\\"):
            more, _, expected = expected.partition("\n")
            line = f"{line[:-1].rstrip()} {more.strip().removeprefix('> ')}"
        yield Command(line, expected)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    shutil.copytree(DOCS / "data", tmp_path / "docs" / "data")
    shutil.copytree(DOCS / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch)


@pytest.mark.parametrize("page", CONSOLE_PAGES, ids=name_page)
def test_every_command_prints_what_the_page_says(page: Path, shell: Shell) -> None:
    listed = [
        command
        for b in read_blocks(page)
        if b.language == "console"
        for command in read_commands(b)
    ]
    for command, later in zip(listed, [*listed[1:], None], strict=True):
        got = shell.run(command.line)
        if command.expected.strip():
            same = OutputChecker().check_output(
                command.expected.rstrip() + "\n", got.rstrip() + "\n", ELLIPSIS
            )
            assert same, f"$ {command.line}\n{got}"
        if not (later and later.line == "echo $?"):
            assert shell.code == 0, f"$ {command.line}\n{got}"


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_block_is_run_or_is_no_code(page: Path) -> None:
    for block in read_blocks(page):
        assert block.language in RUN_OR_DATA, block
        if block.language == "python":
            assert block.text.startswith(">>> "), block.text
        if block.language != "console":
            assert not re.search(r"^\$ ", block.text, flags=re.MULTILINE), block.text


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_long_commands_make_sense(page: Path) -> None:
    for block in read_blocks(page):
        for line in block.text.splitlines() if block.language == "sh" else ():
            match shlex.split(line, comments=True):
                case ["make", target]:
                    assert target in TARGETS
                case ["boundit", name, *arguments]:
                    app.commands[name].make_context(name, arguments)
                case ["python", "-m", module]:
                    assert (ROOT / "src" / module.replace(".", "/")).with_suffix(".py").exists()
                case [*words]:
                    assert words[:2] in ([], ["pip", "install"], ["git", "clone"]), line


def test_a_wrong_output_is_noticed(shell: Shell) -> None:
    """The checks above can fail."""
    block = Block("console", "$ boundit --version\nboundit 99\n$ echo $?\n0\n")
    version, code = read_commands(block)

    assert not OutputChecker().check_output(version.expected, shell.run(version.line), ELLIPSIS)
    assert shell.run(code.line) == code.expected
    with pytest.raises(AssertionError, match="pages may not use 'rm -r x'"):
        shell.run("rm -r x")
