"""Files that commands write: refused early, told of, and never over an input."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from boundit.cli.outputs import OutputFile, notify_written, refuse_overwriting


@click.command()
@click.argument("source")
@click.option("--out", type=OutputFile(".json", ".svg"))
@click.pass_context
def kept(context: click.Context, source: str, out: Path | None) -> None:
    refuse_overwriting(context, [source, "nowhere.txt"])
    if out is not None:
        notify_written(out)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in.json").write_text("{}")
    (tmp_path / "folder.json").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(kept, arguments)


@pytest.mark.usefixtures("there")
def test_what_is_written_is_said_on_stderr() -> None:
    for name in ("out.json", "OUT.SVG", "./out.json"):
        answer = run("in.json", "--out", name)
        assert (answer.exit_code, answer.stdout) == (0, "")
        assert answer.stderr == f"wrote {Path(name)}\n"
    assert run("in.json").exit_code == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out.pdf", "'out.pdf' must be a file whose name ends in .json or .svg"),
        ("out", "'out' must be a file whose name ends in .json or .svg"),
        (".", "'.' must be a file whose name ends in .json or .svg"),
        ("none/out.json", "cannot write 'none/out.json': there is no folder 'none'"),
        ("folder.json", "'folder.json' is a directory"),
        ("in.json", "--out would write over 'in.json', which this command reads"),
        ("folder.json/../in.json", "which this command reads; name another file"),
    ],
)
@pytest.mark.usefixtures("there")
def test_a_place_that_will_not_do_is_refused(name: str, said: str) -> None:
    answer = run("in.json", "--out", name)

    assert answer.exit_code == 2
    assert said in answer.output
    assert Path("in.json").read_text() == "{}"


@pytest.mark.usefixtures("there")
def test_a_link_to_the_input_is_the_input() -> None:
    Path("soft.json").symlink_to("in.json")
    Path("hard.json").hardlink_to("in.json")

    for name in ("soft.json", "hard.json"):
        answer = run("in.json", "--out", name)
        assert answer.exit_code == 2
        assert "would write over" in answer.output
