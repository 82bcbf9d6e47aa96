"""The list of deviations is whole, and the tests it names exist."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from research.tests.docs.test_concordance import ROOT, is_missing

PAGE = ROOT / "research" / "docs" / "deviations.md"
PARTS = ("Place.", "The text.", "What is true.", "Our reading.", "Shown by")
MENTION = re.compile(r"\bD-(\d+)\b")


class Entry(NamedTuple):
    number: int
    title: str
    body: str

    @property
    def parts(self) -> list[str]:
        return re.findall(r"^- \*\*([^*]+)\*\*", self.body, flags=re.MULTILINE)

    @property
    def shown_by(self) -> str:
        return " ".join(self.body.partition("- **Shown by**")[2].split())


def read_entries() -> list[Entry]:
    _, *sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    found = []
    for section in sections:
        heading, _, body = section.partition("\n")
        match = re.fullmatch(r"D-(\d+)\. (.+)", heading)
        assert match, heading
        found.append(Entry(int(match[1]), match[2], body))
    return found


def test_numbers_are_consecutive_and_titles_differ() -> None:
    found = read_entries()

    assert [entry.number for entry in found] == list(range(1, len(found) + 1))
    assert len({entry.title for entry in found}) == len(found)


@pytest.mark.parametrize("entry", read_entries(), ids=lambda entry: f"D-{entry.number}")
def test_an_entry_has_its_parts_and_its_tests_exist(entry: Entry) -> None:
    assert entry.parts == list(PARTS)
    if re.fullmatch(r"nothing to run: [^/]+\.", entry.shown_by):
        return
    named = re.findall(r"`([^`]+)`", entry.shown_by)
    assert entry.shown_by == ", ".join(f"`{name}`" for name in named) + "."
    assert [name for name in named if is_missing(name)] == []


def test_every_mention_anywhere_is_of_an_entry() -> None:
    known = {entry.number for entry in read_entries()}
    files = [
        path
        for folder in ("src", "tests", "docs", "research")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md"}
    ]

    unknown = {
        str(path.relative_to(ROOT)): numbers
        for path in files
        if (numbers := {int(n) for n in MENTION.findall(parse_entry(path))} - known)
    }

    assert unknown == {}


def test_a_test_that_speaks_for_an_entry_is_named_in_it() -> None:
    """Acceptance tests open their docstring with the entry's number."""
    shown = {entry.number: entry.shown_by for entry in read_entries()}
    for path in (ROOT / "tests" / "acceptance").glob("test_*.py"):
        for name, number in re.findall(
            r'def (test_\w+)\(.*\n    """D-(\d+)\.', parse_entry(path)
        ):
            assert f"{path.relative_to(ROOT)}::{name}" in shown[int(number)]


def parse_entry(path: Path) -> str:
    return path.read_text(encoding="utf-8")
