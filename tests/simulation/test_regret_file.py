"""Files are written whole or not at all, and a damaged one is refused whole."""

import os
from pathlib import Path

import numpy as np
import pytest

from boundit.simulation import regret_file
from boundit.simulation.errors import DamagedResult
from boundit.terms.bound_errors import CannotWrite
from boundit.terms.errors import UnreadableFile

ARRAYS = {"at": np.arange(3), "curves": np.arange(12.0).reshape(2, 2, 3)}
HEAD = {"seed": 3, "policies": ["ä", "b"]}


def saved(folder: Path) -> Path:
    path = folder / "regret.npz"
    regret_file.write_regret(path, HEAD, ARRAYS)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    head, arrays = regret_file.read_regret(saved(tmp_path))

    assert {name: head[name] for name in HEAD} == HEAD
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert [path.name for path in tmp_path.iterdir()] == ["regret.npz"]


def test_the_same_result_is_the_same_file(tmp_path: Path) -> None:
    first = saved(tmp_path).read_bytes()

    assert saved(tmp_path).read_bytes() == first


def test_no_byte_can_be_changed_unnoticed(tmp_path: Path) -> None:
    """Whatever is hit (zip, array, head), the file is refused or nothing of it has changed."""
    path = saved(tmp_path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for place in rng.choice(len(whole), 250, replace=False):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        path.write_bytes(broken)
        try:
            head, arrays = regret_file.read_regret(path)
        except DamagedResult:
            refused += 1
        else:
            assert {name: head[name] for name in HEAD} == HEAD
            assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert refused > 120


def test_a_number_changed_by_hand_shows(tmp_path: Path) -> None:
    """An archive that is whole, with the head of another result."""
    path = saved(tmp_path)
    with np.load(path) as parts:
        found = {name: parts[name] for name in parts.files}
    found["curves"] = found["curves"] + 1e-12
    np.savez(path, allow_pickle=True, **found)

    with pytest.raises(DamagedResult, match="it was changed after it was saved"):
        regret_file.read_regret(path)


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for size in (0, 1, 50, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedResult, match="is no saved simulation of ours"):
            regret_file.read_regret(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    letters = {
        "head": np.frombuffer(b'{"format": "other"}', np.uint8),
        "at": np.arange(3, dtype="<i8"),
    }
    np.savez(path, allow_pickle=True, **letters, curves=ARRAYS["curves"])
    with pytest.raises(DamagedResult, match="it does not say so"):
        regret_file.read_regret(path)
    np.savez(path, allow_pickle=True, **letters, curves=np.array(["text"]))
    with pytest.raises(DamagedResult, match="other kinds"):
        regret_file.read_regret(path)
    np.savez(path, allow_pickle=True, at=ARRAYS["at"])
    with pytest.raises(DamagedResult, match="it is not whole"):
        regret_file.read_regret(path)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    monkeypatch.setattr(regret_file, "VERSION", 2)

    with pytest.raises(DamagedResult, match="it has version 1, and this release reads 2"):
        regret_file.read_regret(path)


def test_a_place_that_takes_no_file(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="cannot write"):
        regret_file.write_regret(tmp_path / "nowhere" / "regret.npz", HEAD, ARRAYS)
    with pytest.raises(UnreadableFile):
        regret_file.read_regret(tmp_path / "none.npz")


def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        regret_file.write_regret(path, {"seed": 4}, ARRAYS)

    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["regret.npz"]
