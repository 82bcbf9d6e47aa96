"""A store is named once, and made only by commands that may."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest

from boundit.cli.service.stores import open_store, read_duration, run_engine, write_duration
from tests.cli.answer import answer


def test_a_folder_is_made_where_a_command_may(tmp_path: Path) -> None:
    with run_engine(str(tmp_path / "new"), new=True) as engine:
        assert engine.list_policies() == []
    assert (tmp_path / "new").is_dir()


def test_a_url_of_another_database_is_refused() -> None:
    with pytest.raises(click.UsageError, match="postgresql://user@host/name"):
        open_store("mysql://x")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90.0), ("1.5h", 5400.0), ("30m", 1800.0), ("7d", 604_800.0)]
)
def test_lengths_of_time_have_units(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds
    assert read_duration(write_duration(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1w", "soon", "1e3", "nan"])
def test_what_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError, match="is not a length of time"):
        read_duration(text)


@pytest.mark.parametrize("place", [("--store", "shop"), ("--store", "postgresql://db/shop")])
def test_the_extra_of_what_is_missing_is_named_whatever_the_store(
    place: tuple[str, str], tmp_path: Path
) -> None:
    """The extra postgres alone does not bring msgspec."""
    script = (
        "import sys; sys.modules['msgspec'] = None\n"
        f"from boundit.cli.main import main; main({['serve', *place]!r})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (
        2,
        "error: This needs msgspec. Install it with: pip install 'boundit[service]'\n",
    )


@pytest.mark.parametrize("folder", ["typo", "."])
@pytest.mark.parametrize(
    "command",
    [
        "policies show --verify state",
        "policies show ads --verify decisions --json",
        "policies update ads --set explore=0.1",
        "policies delete ads",
        "keys list",
        "keys revoke k1",
        "policies show",
        "policies show ads",
        "policies refresh ads bounds.json",
        "policies prune ads --before 2001-01-01",
        "policies export ads --out log.csv",
    ],
)
def test_a_folder_without_a_store_is_refused_and_left_as_it_is(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    folder: str,
) -> None:
    """A wrong path would look like a store in which nothing differs."""
    monkeypatch.chdir(tmp_path)
    Path("bounds.json").write_text("{}")
    code, out, err = answer(capsys, *command.split(), "--store", folder)

    assert (code, out) == (2, "")
    assert f"--store '{folder}' " in err
    assert "make a store with boundit policies create" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bounds.json"]


def test_what_is_missing_is_the_folder_or_its_file(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="does not exist"):
        open_store(str(tmp_path / "typo"))
    with pytest.raises(click.UsageError, match=r"has no boundit\.sqlite"):
        open_store(str(tmp_path))


@pytest.mark.parametrize("statement", [None, "CREATE TABLE t (x)"])
def test_a_file_of_something_else_is_left_as_it_is(
    tmp_path: Path, statement: str | None
) -> None:
    path = tmp_path / "boundit.sqlite"
    path.touch()
    if statement is not None:
        with closing(sqlite3.connect(path)) as other:
            other.execute(statement)
    before = path.read_bytes()

    with pytest.raises(click.UsageError, match=r"has a boundit\.sqlite of something else"):
        open_store(str(tmp_path))
    assert path.read_bytes() == before


def test_a_folder_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(click.UsageError, match="cannot be read: Permission denied"):
        open_store(str(tmp_path))
