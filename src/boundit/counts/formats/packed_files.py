"""Files that were packed by zstd, and whether they are whole."""

from pathlib import Path
from typing import BinaryIO

_FRAME = b"\x28\xb5\x2f\xfd"
_RLE = 1  # a block of one byte that is repeated


def is_cut_short(path: str) -> bool:
    """Tell whether the end of a file that zstd packed is missing.

    DuckDB would read what there is and say nothing. Only the sizes of blocks are read.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        while file.tell() < size:
            magic = file.read(4)
            skipped = magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5
            if skipped:
                file.seek(_read_number(file, 4), 1)
            elif magic == _FRAME:
                _skip_frame(file, size)
            else:
                # Other bytes are an engine's to refuse; too few are a frame that begins.
                return len(magic) < len(_FRAME)
        return file.tell() > size


def _skip_frame(file: BinaryIO, size: int) -> None:
    """Go from the header of a frame to behind its last block and checksum.

    Where the file ends before, the place is behind its end.
    """
    described = _read_number(file, 1)
    single, checked = bool(described & 0x20), bool(described & 0x04)
    content = (int(single), 2, 4, 8)[described >> 6]
    file.seek((not single) + (0, 1, 2, 4)[described & 3] + content, 1)
    last = False
    while not last:
        if file.tell() + 3 > size:
            file.seek(size + 1)
            return
        header = _read_number(file, 3)
        last, kind = bool(header & 1), header >> 1 & 3
        file.seek(1 if kind == _RLE else header >> 3, 1)
    file.seek(4 * checked, 1)


def _read_number(file: BinaryIO, width: int) -> int:
    """Read a number of so many bytes, the least first."""
    return int.from_bytes(file.read(width), "little")
