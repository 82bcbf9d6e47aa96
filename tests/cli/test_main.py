import os
import subprocess
import sys

import pytest

from boundit.cli import main as door
from boundit.cli.main import app


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from boundit.cli.main import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_help_comes_without_arguments_and_says_the_exit_codes() -> None:
    asked, bare = run("--help"), run()

    assert asked.stdout == bare.stdout
    assert (
        "Exit codes: 0 done or yes, 1 no, 2 invalid input, 3 internal error, 130"
        in asked.stdout
    )
    assert "..." not in asked.stdout.partition("Commands:")[2]
    assert (asked.returncode, bare.returncode, asked.stderr) == (0, 0, "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["recover"], "error: No such command 'recover'. Did you mean 'identify'?\n"),
        (["bound", "--nulls"], "error: No such option '--nulls'. Did you mean '--missing'?\n"),
        (["grpah"], "error: No such command 'grpah'. Did you mean 'graph'?\n"),
        (["graph"], "error: Missing argument 'GRAPH'.\n"),
        (
            ["graph", "none.dot"],
            "error: cannot read 'none.dot': there is no such file\n",
        ),
        (["graph", "X -> X"], "error: X has an edge to itself. Remove it.\n"),
        (
            ["sensitivity", "X -> Y; X <-> Y", "Y | do(X)", "log.csv"],
            "error: Missing option '--limit'. Write --limit 'X <-> Y' for an edge, or "
            "--limit selection.\n",
        ),
        (
            ["bound", "X -> Y", "Y | do(X)", "log.csv", "--confidence", "abc"],
            "error: Invalid value for '--confidence': 'abc' is not a number.\n",
        ),
        (
            ["check", "X -> Y", "log.csv", "--bins", "X"],
            "error: Invalid value for '--bins': 'X' is not of the form NODE=EDGE,....\n",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_one_line_and_code_2(
    arguments: list[str], line: str
) -> None:
    answer = run(*arguments)

    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", line)


@pytest.mark.parametrize(("command", "extra"), [("serve", "service"), ("studio", "service")])
def test_help_names_the_extra_that_a_command_needs(command: str, extra: str) -> None:
    said = " ".join(str(app.commands[command].help).split())

    assert f"Needs the extra {extra}: pip install 'boundit[{extra}]'" in said


def test_a_bug_shows_its_traceback_and_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(door.app, "main", fail)
    with pytest.raises(SystemExit) as left:
        door.main([])

    assert left.value.code == 3
    assert "ZeroDivisionError" in (shown := capsys.readouterr().err)
    assert shown.endswith("error: This is a bug in boundit. Please report the lines above.\n")


def test_an_interrupt_is_code_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(door.app, "main", stop)
    with pytest.raises(SystemExit) as left:
        door.main([])

    assert left.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise on Windows")
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-c", "from boundit.cli.main import main; main()"]
    read, write = os.pipe()
    os.close(read)
    answer = subprocess.run(
        [*command, "--help"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)

    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_version_is_the_packages() -> None:
    import boundit  # noqa: PLC0415

    assert run("--version").stdout == f"boundit {boundit.__version__}\n"
