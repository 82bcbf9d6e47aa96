"""Which kinds of files a log may be in, told by how their names end."""

from enum import Enum

_PACKED = ("", ".gz", ".zst")


class FileFormat(Enum):
    """A kind of file, and what it is called in messages."""

    PARQUET = "Parquet"
    CSV = "CSV"
    JSON = "JSON lines"
    ARROW = "Arrow"

    @property
    def has_types(self) -> bool:
        """Whether files of this kind say of what type their columns are."""
        return self in {FileFormat.PARQUET, FileFormat.ARROW}


ENDINGS = {
    FileFormat.PARQUET: (".parquet", ".parq", ".pq"),
    FileFormat.CSV: tuple(name + pack for pack in _PACKED for name in (".csv", ".tsv")),
    FileFormat.JSON: tuple(name + pack for pack in _PACKED for name in (".jsonl", ".ndjson")),
    FileFormat.ARROW: (".arrow", ".feather", ".ipc"),
}
"""How the names of files of each kind end."""
KINDS = "Parquet, CSV, JSON lines or Arrow"
"""The kinds in the words of a message."""


def find_format(path: str) -> FileFormat | None:
    """Find the kind of a file by how its name ends; None where that says nothing.

    >>> find_format("logs/2024.JSONL.gz"), find_format("notes.txt")
    (<FileFormat.JSON: 'JSON lines'>, None)
    """
    name = path.lower()
    return next((kind for kind, ends in ENDINGS.items() if name.endswith(ends)), None)
