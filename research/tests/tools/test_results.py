from pathlib import Path

import pytest
from click.testing import CliRunner
from research.tools import results
from research.tools.results import (
    FOLDER,
    Kept,
    list_commands,
    main,
    read_all,
    write_index,
)


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    kept = Kept("one", "boundit audit --models 3", "abc", 0, "a\n\nb")
    path = tmp_path / "one.txt"
    path.write_text(kept.write(), encoding="utf-8")

    assert Kept.read(path) == Kept("one", kept.command, "abc", 0, "a\n\nb\n")


def test_a_command_is_run_once_at_a_commit(
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
    assert (kept.commit, kept.exit_code) == ("c2", 0)
    assert kept.output.startswith("Python 3")
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == write_index([kept])


def test_audits_run_side_by_side_and_what_is_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = {f"audit-{i}": "python --version" for i in range(3)}
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "list_commands", lambda: commands)
    monkeypatch.setattr(results, "find_commit", lambda: "c1")
    CliRunner().invoke(main, ["audit-0", "audit-2", "--jobs", "2"])
    listed = CliRunner().invoke(main, ["--list"])

    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["c1", "not", "c1"]
    assert [kept.name for kept in read_all(tmp_path)] == ["audit-0", "audit-2"]
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == write_index(
        read_all(tmp_path)
    )


def test_what_was_ended_from_outside_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "list_commands", lambda: {"v": "bash -c 'kill -9 $$'"})
    ran = CliRunner().invoke(main, [])

    assert ran.exit_code == 1
    assert "v was ended by signal 9" in ran.stderr
    assert not any(tmp_path.iterdir())


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
