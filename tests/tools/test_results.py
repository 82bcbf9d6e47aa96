from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.results import FOLDER, Kept, list_commands, main, read_all, write_index

from tools import results


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    kept = Kept("one", "boundit audit --models 3", "abc", 0, "a\n\nb")
    path = tmp_path / "one.txt"
    path.write_text(kept.write(), encoding="utf-8")

    assert Kept.read(path) == Kept("one", kept.command, "abc", 0, "a\n\nb\n")


def test_a_command_is_run_once_for_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "list_commands", lambda: {"v": "python --version"})
    monkeypatch.setattr(results, "find_commit", lambda: "c1")
    first = CliRunner().invoke(main, [])
    again = CliRunner().invoke(main, ["v"])
    monkeypatch.setattr(results, "find_commit", lambda: "c2")
    third = CliRunner().invoke(main, [])

    assert [one.stderr for one in (first, again, third)] == [
        "v: python --version\n",
        "",
        "v: python --version\n",
    ]
    (kept,) = read_all(tmp_path)
    assert (kept.commit, kept.code) == ("c2", 0)
    assert kept.output.startswith("Python 3")
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == write_index([kept])


def test_a_name_that_is_unknown_is_refused() -> None:
    ran = CliRunner().invoke(main, ["ghost"])

    assert ran.exit_code == 2
    assert "there is no ghost" in ran.stderr


def test_everything_can_be_listed() -> None:
    ran = CliRunner().invoke(main, ["--list"])

    assert ran.exit_code == 0
    assert len(ran.stdout.splitlines()) == len(list_commands())


def test_the_page_lists_the_files_that_are_there() -> None:
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == write_index(read_all(FOLDER))
    assert {one.name for one in read_all(FOLDER)} <= set(list_commands())
