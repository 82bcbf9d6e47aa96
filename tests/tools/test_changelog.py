from datetime import date
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tools.changelog import (
    CHANGELOG,
    WAITING,
    insert_section,
    list_waiting,
    main,
    write_section,
)
from tools.house.source import ROOT

from boundit import __version__
from tools import changelog

DAY = date(2026, 11, 17)


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "b.added.md").write_text("A door.\nWith a lock.\n")
    (folder / "a.changed.md").write_text("A wall is\n\nthicker.\n")
    (folder / "a.added.md").write_text("- A room,\n  a large one.\n- A roof.\n")
    return folder


def test_changes_stand_by_kind_in_the_order_of_their_names(waiting: Path) -> None:
    assert write_section("0.2.0", DAY, list_waiting(waiting)) == (
        "## 0.2.0 (2026-11-17)\n\n### Added\n\n- A room,\n  a large one.\n- A roof.\n"
        "- A door.\n  With a lock.\n\n"
        "### Changed\n\n- A wall is\n\n  thicker.\n"
    )


def test_a_release_stands_before_those_before_it() -> None:
    first = insert_section(
        "# Changelog\n\nNo release has been made yet.\n", "## 0.2.0\n\n- a\n"
    )
    second = insert_section(first, "## 0.3.0\n\n- b\n")

    assert second == "# Changelog\n\n## 0.3.0\n\n- b\n\n## 0.2.0\n\n- a\n"


def test_what_waits_is_moved_or_only_shown(
    waiting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "CHANGELOG.md"
    page.write_text("# Changelog\n\nNo release has been made yet.\n")
    monkeypatch.setattr(changelog, "CHANGELOG", page)
    monkeypatch.setattr(changelog, "WAITING", waiting)
    shown = CliRunner().invoke(main, ["0.2.0", "--dry-run"])
    assert "No release" in page.read_text()
    assert len(list_waiting(waiting)) == 3
    assert CliRunner().invoke(main, ["0.2.0"]).exit_code == 0

    assert "- A roof." in shown.stdout
    assert "- A roof." in page.read_text()
    assert list_waiting(waiting) == []
    assert "nothing waits" in CliRunner().invoke(main, ["0.2.0"]).stderr
    assert "a version is like" in CliRunner().invoke(main, ["two"]).stderr


def test_a_file_that_says_no_kind_is_refused(waiting: Path) -> None:
    (waiting / "c.better.md").write_text("x")

    with pytest.raises(click.ClickException, match=r"c\.better\.md is named for none"):
        list_waiting(waiting)


def test_what_waits_now_can_be_assembled() -> None:
    assert write_section("0.2.0", DAY, list_waiting(WAITING)).startswith("## 0.2.0 (2026")


def test_a_release_is_in_the_changelog_and_cited_by_its_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert f"\nversion: {__version__}\n" in cited
    assert f"\n## {__version__} (" in CHANGELOG.read_text(encoding="utf-8") or (
        ".dev" in __version__
    )
