import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.errors import CannotWrite, DamagedFile, UnreadableFile
from boundit.results import bound_file

RECORD: dict[str, object] = {"outcome": "Y", "numbers": [0.1, 1, None], "odd": "é"}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    bound_file.write(tmp_path / "b.json", RECORD)

    assert bound_file.read(tmp_path / "b.json") == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


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
        ('{"format": "boundit bounds", "version": 2}', "this release reads 3"),
        ('{"format": "boundit bounds", "version": 3}', "it was changed after it was saved"),
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


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3),
    lambda part: st.lists(part, max_size=9) | st.dictionaries(st.text(max_size=2), part),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=2), json_values))
def test_the_checksum_is_that_of_the_whole_text(record: dict[str, object]) -> None:
    """However it is spelled, files that were saved before must be read."""
    whole = json.dumps(record, sort_keys=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound_file, "_AT_ONCE", 2)
        assert bound_file.compute_checksum(record) == sha256(whole.encode()).hexdigest()
