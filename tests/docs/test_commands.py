"""Every command on a page runs as printed, and prints what the page says.

A ```console block is what a terminal shows: ``$`` and a command, then its output, in which
``...`` stands for anything. The commands of a page run in order in one folder with a copy of
docs/data. A command without output is run all the same. It must exit with 0, unless the next
line asks ``$ echo $?``. A ```sh block has what takes too long here: its commands must parse.

A page that starts a server (``$ boundit serve ... &``) is played from top to bottom, its Python
between its commands, on a port that is free.
"""

import contextlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from io import StringIO
from pathlib import Path

import pytest

from boundit.cli.main import app, main
from tests.docs.pages import (
    DOCS,
    PAGES,
    ROOT,
    Command,
    name_page,
    read_blocks,
    read_commands,
    split_commands,
    starts_server,
)
from tests.patience import PATIENCE

RUN_OR_DATA = {"console", "python", "sh", "text", "dot", "dagitty", "json", "csv"}
PLAYED_PAGES = [page for page in PAGES if starts_server(page)]
CONSOLE_PAGES = [
    page
    for page in PAGES
    if page not in PLAYED_PAGES and any(b.language == "console" for b in read_blocks(page))
]
PORT = "8000"
"""The port that pages speak of."""
TARGETS = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


class Shell:
    """The few words of a shell that pages use."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.code = 0
        self.port = find_free_port()
        self._server: subprocess.Popen[str] | None = None

    def run(self, line: str) -> str:
        match shlex.split(line):
            case ["boundit", "serve", *arguments, "&"]:
                return self._start_server(arguments)
            case ["kill", "%1"]:
                self.stop_server()
                return ""
            case ["boundit", *arguments]:
                return self._run_boundit(arguments)
            case ["curl", *arguments]:
                asked = [word.replace(PORT, self.port) for word in arguments]
                answer = subprocess.run(["curl", *asked], capture_output=True, check=True)
                return answer.stdout.decode()
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

    def _start_server(self, arguments: list[str]) -> str:
        """Start a server and give what it says until it can be asked."""
        assert self._server is None
        command = [sys.executable, "-m", "boundit", "serve", *arguments, "--port", self.port]
        self._server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._server.stdout is not None
        said = ""
        for line in self._server.stdout:
            said += line
            if line.startswith("serving on"):
                break
        return said.replace(self.port, PORT)

    def stop_server(self) -> None:
        """Stop the server, if one runs, as an operator does."""
        server, self._server = self._server, None
        if server is not None:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=PATIENCE)
            self.code = server.returncode


def find_free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return str(probe.getsockname()[1])


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    shutil.copytree(DOCS / "data", tmp_path / "docs" / "data")
    shutil.copytree(DOCS / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    found = Shell(monkeypatch)
    yield found
    found.stop_server()


@pytest.mark.parametrize("page", CONSOLE_PAGES, ids=name_page)
def test_every_command_prints_what_the_page_says(page: Path, shell: Shell) -> None:
    play_commands(shell, list(read_commands(page)))


@pytest.mark.full
@pytest.mark.parametrize("page", PLAYED_PAGES, ids=name_page)
def test_a_page_with_a_server_is_played_from_top_to_bottom(page: Path, shell: Shell) -> None:
    names = dict[str, object]()
    for block in read_blocks(page):
        if block.language == "console":
            play_commands(shell, list(split_commands(block.text)))
        elif block.language == "python":
            names = play_python(block.text.replace(PORT, shell.port), names, name_page(page))


def play_python(text: str, names: dict[str, object], page: str) -> dict[str, object]:
    """Run a block of Python with the names of those before it, and give all names."""
    said = StringIO()
    test = DocTestParser().get_doctest(text, names, page, page, 0)
    runner = DocTestRunner(optionflags=ELLIPSIS, verbose=False)
    runner.run(test, out=said.write, clear_globs=False)
    assert not said.getvalue(), said.getvalue()
    return test.globs


def play_commands(shell: Shell, listed: Sequence[Command]) -> None:
    for command, later in zip(listed, [*listed[1:], None], strict=True):
        got = shell.run(command.line)
        assert command.expects(got), f"$ {command.line}\n{got}"
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


def test_a_wrong_output_is_noticed(shell: Shell, tmp_path: Path) -> None:
    """The checks above can fail."""
    page = tmp_path / "page.md"
    page.write_text("```console\n$ boundit --version\nboundit 99\n$ echo $?\n0\n```\n")
    version, code = read_commands(page)

    assert not version.expects(shell.run(version.line))
    assert shell.run(code.line) == code.expected
    with pytest.raises(AssertionError, match="pages may not use 'rm -r x'"):
        shell.run("rm -r x")
