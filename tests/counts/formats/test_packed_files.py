"""A packed file that lacks its end is never read as a shorter log."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from boundit.counts.formats.packed_files import is_cut_short
from boundit.counts.read import read_log
from boundit.terms.errors import BounditError
from tests.counts.backends import pack

RNG = random.Random(3)
ROWS = "".join(f"{RNG.randrange(3)},{RNG.random() < 0.5:d}\n" for _ in range(2000))
CSV = f"X,Y\n{ROWS}".encode()
JSON = "".join(f'{{"X": {line[0]}, "Y": {line[2]}}}\n' for line in ROWS.split()).encode()
STORED = bytes(range(256)) * 2000  # blocks that are raw, packed and of one repeated byte
CONTENTS = {"csv": CSV, "jsonl": JSON}


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd"))


@pytest.mark.parametrize("data", [b"", b"x", CSV, STORED, RNG.randbytes(300_000), bytes(10**6)])
def test_every_cut_of_a_file_is_told(tmp_path: Path, data: bytes) -> None:
    path, whole = tmp_path / "a.csv.zst", zstd(data)
    path.write_bytes(whole)
    assert not is_cut_short(str(path))
    cuts = {*range(1, min(40, len(whole))), *range(max(1, len(whole) - 20), len(whole))}
    for cut in sorted(cuts | {RNG.randrange(1, len(whole)) for _ in range(40)}):
        path.write_bytes(whole[:cut])
        assert is_cut_short(str(path)), cut


def test_frames_one_after_the_other_and_frames_to_skip(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    skipped = b"\x53\x2a\x4d\x18\x05\x00\x00\x00notes"
    for whole in (zstd(CSV) + zstd(CSV), skipped + zstd(CSV), zstd(CSV) + skipped):
        path.write_bytes(whole)
        assert not is_cut_short(str(path))
        path.write_bytes(whole[:-1])
        assert is_cut_short(str(path))


def test_frames_with_checksums_and_sizes(tmp_path: Path) -> None:
    """As the program zstd writes them: a window, no size, a checksum; by the format's text."""
    raw = b"X\n1\n"
    block = ((len(raw) << 3) | 1).to_bytes(3, "little") + raw
    magic = b"\x28\xb5\x2f\xfd"
    headers = {
        "window, checksum": b"\x04\x00",
        "window, dictionary": b"\x01\x00\x07",
        "single, size": b"\x20\x04",
        "size of 8 bytes": b"\xc0\x00" + len(raw).to_bytes(8, "little"),
    }
    for name, header in headers.items():
        whole = magic + header + block + b"sums" * (name == "window, checksum")
        (tmp_path / "a.zst").write_bytes(whole)
        assert not is_cut_short(str(tmp_path / "a.zst")), name
        (tmp_path / "a.zst").write_bytes(whole[:-1])
        assert is_cut_short(str(tmp_path / "a.zst")), name


@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_no_prefix_of_a_packed_log_is_counted(tmp_path: Path, kind: str, packed: str) -> None:
    path = tmp_path / f"log.{kind}{packed}"
    whole = pack(CONTENTS[kind], packed)
    path.write_bytes(whole)
    assert read_log(path).count(["X"], reward="Y").rows == 2000
    for cut in [*range(1, 24), len(whole) // 2, *range(len(whole) - 12, len(whole))]:
        path.write_bytes(whole[:cut])
        with pytest.raises(BounditError, match=rf"log\.{kind}{packed}") as caught:
            read_log(path).count(["X"], reward="Y")
        assert "\n" not in str(caught.value)
