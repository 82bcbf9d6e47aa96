import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.widths import Task, measure
from click.testing import CliRunner
from tools.results import (
    FOLDER,
    Kept,
    find_code,
    list_commands,
    list_never_called,
    main,
    read_all,
    write_index,
)

from boundit.cli.audit import SUBJECTS, audit
from tools import results

SLOW = ("large", "sharpness")  # seconds a model


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    kept = Kept("one", "boundit audit --models 3", "abc", "c0de", 0, "a\n\nb")
    path = tmp_path / "one.txt"
    path.write_text(kept.write(), encoding="utf-8")

    assert Kept.read(path) == Kept("one", kept.command, "abc", "c0de", 0, "a\n\nb\n")


def test_a_command_is_run_once_for_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "list_commands", lambda: {"v": "python --version"})
    monkeypatch.setattr(results, "find_commit", lambda: "c1")
    monkeypatch.setattr(results, "find_code", lambda _: "a")
    first = CliRunner().invoke(main, [])
    monkeypatch.setattr(results, "find_commit", lambda: "c2")
    again = CliRunner().invoke(main, ["v"])
    monkeypatch.setattr(results, "find_code", lambda _: "b")
    third = CliRunner().invoke(main, [])

    assert [one.stderr for one in (first, again, third)] == [
        "v: python --version\n",
        "",
        "v: python --version\n",
    ]
    (kept,) = read_all(tmp_path)
    assert (kept.commit, kept.code, kept.exit_code) == ("c2", "b", 0)
    assert kept.output.startswith("Python 3")
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == write_index([kept])


def test_audits_run_side_by_side_and_what_is_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = {f"audit-{i}": "python --version" for i in range(3)}
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "list_commands", lambda: commands)
    monkeypatch.setattr(results, "find_code", lambda _: "a")
    CliRunner().invoke(main, ["audit-0", "audit-2", "--jobs", "2"])
    listed = CliRunner().invoke(main, ["--list"])

    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["kept", "to", "kept"]
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


def test_audits_benchmarks_and_the_service_run_code_of_their_own() -> None:
    names = ("audit-bounds-00", "benchmark-widths", "benchmark-service")

    assert len({find_code(name) for name in names}) == 3
    assert find_code("benchmark-widths") == find_code("benchmark-widths-slow")
    assert find_code("benchmark-service") == find_code("crash")


@pytest.mark.parametrize("subject", [one for one in SUBJECTS if one not in SLOW])
def test_an_audit_calls_nothing_of_what_its_code_leaves_out(subject: str) -> None:
    """Else a change there would not make what was kept stale."""
    name = "audit-bounds-00" if subject == "bounds" else f"audit-{subject}"
    words = ["--of", subject, "--models", "2"]
    called = list_called(lambda: CliRunner().invoke(audit, words, catch_exceptions=False))

    assert any("/boundit/" in file for file in called)
    for folder in list_never_called(name):
        assert not [file for file in called if f"/{folder}/" in file]


def test_the_study_of_widths_bounds_and_does_nothing_else() -> None:
    called = list_called(lambda: measure(Task("front-door", 200, "exact", 0, 0, 1, 0.95)))
    ours = [file.partition("/src/boundit/")[2] for file in called if "/src/boundit/" in file]
    rooms = {file.partition("/")[0] for file in ours}

    assert rooms == {"terms", "graph", "estimand", "counts", "checks", "bounds"}
    for folder in list_never_called("benchmark-widths"):
        assert not [file for file in called if f"/{folder}/" in file]


def list_called(run: Callable[[], object]) -> set[str]:
    """List the files of which something is called, and not only loaded."""
    run()
    called = set[str]()
    sys.setprofile(lambda frame, *_: called.add(frame.f_code.co_filename))
    try:
        run()
    finally:
        sys.setprofile(None)
    return called


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ('"""Other words."""\nX = 1  # a number\n\n\ndef f() -> int:\n    return X\n', True),
        (
            'X = 1\n"""What X is."""\n\n\ndef f() -> int:\n    """Give it."""\n    return X\n',
            True,
        ),
        ("X = 2\n\n\ndef f() -> int:\n    return X\n", False),
        ('X = 1\n\n\ndef f() -> int:\n    print("words")\n    return X\n', False),
    ],
)
def test_words_about_code_are_no_code(
    written: str, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = {"before": "X = 1\n\n\ndef f() -> int:\n    return X\n", written: written}
    monkeypatch.setattr(results, "_ask_git", lambda *words: blobs[words[-1]])
    results._sum_file.cache_clear()
    found = results._sum_file("before", True) == results._sum_file(written, True)
    results._sum_file.cache_clear()

    assert found == same


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
