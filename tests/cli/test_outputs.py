"""Files that commands write: refused early, told of, and never over an input."""

import subprocess
import sys
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


def test_without_matplotlib_pages_are_written_and_figures_refused_before_any_work(
    tmp_path: Path,
) -> None:
    """As after ``pip install boundit``, in a process of its own."""
    (tmp_path / "log.csv").write_text("X,Y\n" + "0,0\n1,1\n0,1\n1,0\n" * 20)
    bound = ["bound", "X -> Y", "Y | do(X)", "log.csv"]
    page, figure = ["--report", "page.html"], ["--plot", "limits.svg"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        blocked = "import sys; sys.modules['matplotlib'] = None; "
        code = f"{blocked}from boundit.cli.main import main; main({list(arguments)!r})"
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    written = run(*bound, *page)
    assert (written.returncode, written.stderr) == (0, "wrote page.html\n")
    assert 'class="intervals"' in (tmp_path / "page.html").read_text(encoding="utf-8")
    for refused in (run(*bound, *figure), run("reproduce", "--out", "paper")):
        assert refused.returncode == 2
        assert refused.stderr == (
            "error: This needs matplotlib. Install it with: pip install 'boundit[plot]'\n"
        )
    assert not (tmp_path / "paper").exists()
