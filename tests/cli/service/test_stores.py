"""A store is named once, and made only by commands that may."""

import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest

from boundit.cli.service.stores import NoStore, open_store, run_engine
from tests.cli.test_bound import answer


def test_a_folder_is_made_where_a_command_may(tmp_path: Path) -> None:
    with run_engine(tmp_path / "new", None, new=True) as engine:
        assert engine.list_policies() == []
    assert (tmp_path / "new").is_dir()


def test_one_of_both_is_needed() -> None:
    with pytest.raises(click.UsageError, match="--data DIR, or --store URL"):
        open_store(None, None)


@pytest.mark.parametrize("folder", ["typo", "."])
@pytest.mark.parametrize(
    "command",
    [
        "replay",
        "replay ads --decisions --json",
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
    code, out, err = answer(capsys, *command.split(), "--data", folder)

    assert (code, out) == (2, "")
    assert f"--data '{folder}' is no store: it " in err
    assert "make a store with boundit policies create" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bounds.json"]


def test_what_is_missing_is_the_folder_or_its_file(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="it is not there"):
        open_store(tmp_path / "typo", None)
    with pytest.raises(NoStore, match=r"it has no boundit\.sqlite"):
        open_store(tmp_path, None)


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

    with pytest.raises(NoStore, match=r"it has a boundit\.sqlite of something else"):
        open_store(tmp_path, None)
    assert path.read_bytes() == before


def test_a_folder_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(click.UsageError, match="cannot be read: Permission denied"):
        open_store(tmp_path, None)
