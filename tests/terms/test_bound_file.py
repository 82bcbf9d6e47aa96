import json
import os
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from boundit.terms import bound_file
from boundit.terms.bound import Bound, RuleRecord
from boundit.terms.bound_errors import CannotSave, CannotWrite, DamagedFile
from boundit.terms.errors import BounditError, UnreadableFile

RECORD: dict[str, object] = {"outcome": "Y", "numbers": [0.1, 1, None], "odd": "é"}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    bound_file.write(tmp_path / "b.json", RECORD)

    assert bound_file.read(tmp_path / "b.json") == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.parametrize(
    "level",
    [
        0,
        1.5,
        True,
        None,
        "2024-01-01",
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        time(12, 30),
        timedelta(days=-1, microseconds=3),
    ],
)
def test_a_level_keeps_its_type(level: object) -> None:
    found = bound_file.decode_level(json.loads(json.dumps(bound_file.encode_level(level))))

    assert (type(found), found) == (type(level), level)


def test_a_level_without_spelling_is_refused() -> None:
    with pytest.raises(CannotSave):
        bound_file.encode_level(object())


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """Whatever still reads as JSON has another checksum."""
    path = tmp_path / "b.json"
    bound_file.write(path, RECORD)
    whole = path.read_bytes()
    for i in range(len(whole)):
        for bit in (0, 1, 4):
            path.write_bytes(whole[:i] + bytes([whole[i] ^ (1 << bit)]) + whole[i + 1 :])
            with pytest.raises(DamagedFile) as caught:
                bound_file.read(path)
            assert "\n" not in str(caught.value)


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    bound_file.write(path, RECORD)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedFile):
            bound_file.read(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "it does not say so"),
        ('{"format": "another"}', "it does not say so"),
        ('{"format": "boundit bounds", "version": 3}', "this release reads 1 and 2"),
        ('{"format": "boundit bounds", "version": 1}', "it was changed after it was saved"),
        ('{"format": "boundit bounds", "version": 2}', "it was changed after it was saved"),
        ("[" * 100_000, "it is not whole JSON"),
        ("\ufeff{}", "it is not whole JSON"),
    ],
)
def test_a_foreign_file_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(DamagedFile, match=reason):
        bound_file.read(path)


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="No such file"):
        bound_file.read(tmp_path / "none.json")


@pytest.mark.parametrize("method", ["write", "replace"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "b.json"
    bound_file.write(path, RECORD)
    if method == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(CannotWrite, match="No space left on device"):
        bound_file.write(path, {"outcome": "Z"})

    monkeypatch.undo()
    assert bound_file.read(path) == RECORD
    assert [found.name for found in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.parametrize("name", ["", "none/b.json"])
def test_a_place_that_takes_no_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotWrite):
        bound_file.write(tmp_path / name, RECORD)


def test_rows_and_rules_are_read_strictly() -> None:
    row = {
        "lower": 0,
        "upper": 1,
        "lower_estimate": 0,
        "upper_estimate": 1,
        "n": 2,
        "lower_rule": "range",
        "upper_rule": "range",
        "marks": ["a mark"],
    }

    assert bound_file.bound_from(row) == Bound(
        0, 1, 0, 1, 2, "range", "range", marks=("a mark",)
    )
    for changed in ({"lower": "0"}, {"lower": 2}, {"extra": 1}, {"n": None}):
        with pytest.raises((TypeError, BounditError)):
            bound_file.bound_from(row | changed)
    assert bound_file.rule_from({"name": "r", "claim": "c", "steps": ["s"]}) == RuleRecord(
        "r", "c", ("s",)
    )
    with pytest.raises(TypeError, match="steps are no list"):
        bound_file.rule_from({"name": "r", "claim": "c", "steps": "s"})
