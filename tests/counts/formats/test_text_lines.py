"""Lines of files, and why they cannot be read."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from boundit.counts.formats.text_lines import read_lines


def join(texts: Iterator[str]) -> str:
    return "|".join(text.strip() for text in texts)


def test_lines_come_unpacked_and_no_more_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\nc\n")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"a\nb\nc\n"))

    assert read_lines(str(tmp_path / "a.txt"), join, lines=2) == "a|b"
    assert read_lines(str(tmp_path / "a.txt.gz"), join) == "a|b|c"
    assert read_lines(str(tmp_path / "a.zst"), join) is None


def test_what_is_no_text_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\n\xff\n")
    (tmp_path / "a.gz").write_bytes(b"a\n")

    said = "line 2 is not UTF-8 text; save the file as UTF-8"
    assert read_lines(str(tmp_path / "a.txt"), join) == said
    assert "cut short" in str(read_lines(str(tmp_path / "a.gz"), join))
    assert read_lines(str(tmp_path / "b.txt"), join) == "No such file or directory"
