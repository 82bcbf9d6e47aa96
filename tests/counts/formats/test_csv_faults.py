"""The line of a CSV file that does not fit, found by ourselves."""

import gzip
from pathlib import Path

import pytest

from boundit.counts.formats.csv_faults import find_fault


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"X,Y\n1,2\n1,2,3\n", "line 3 has 3 values, the header has 2 (X, Y)"),
        (b"X;Y\n1;2\n\n1\n", "line 4 has 1 value, the header has 2 (X, Y)"),
        (b"X\tY\n1\t2\t3\n", "line 2 has 3 values, the header has 2 (X, Y)"),
        (b'X,Y\n"a\nb",2\n1\n', "line 4 has 1 value, the header has 2 (X, Y)"),
        (b'X,Y\n1,2\n"a,2\n1,2\n', "line 3 has 1 value, the header has 2 (X, Y); is a quote "
         "left open, as the row goes on for 2 lines?"),
        (b"\xef\xbb\xbfX,Y\n1\n", "line 2 has 1 value, the header has 2 (X, Y)"),
        (b"X,Y\n1,2\n\xe9,2\n", "line 3 is not UTF-8 text; save the file as UTF-8"),
        (b"X,Y\n1,\x00\n", "line 2 is not UTF-8 text; save the file as UTF-8"),
        (b'X,Y\n"' + b"a" * 200_000 + b'",1\n', "line 2 is no CSV: field larger than field "
         "limit (131072)"),
        (b"X,Y\r,Z\n1,2,3\n", "line 1 has a carriage return within it; save the file with one "
         "kind of line ends"),
        (b"X,Y\n1,2\n1\r,2\n", "line 3 has a carriage return within it; save the file with one "
         "kind of line ends"),
        (b"X,Y\r\n1,2\n3,4\r\n", "line 2 ends otherwise than line 1; save the file with one "
         "kind of line ends"),
        (b"X,Y\r\n1,2\r\n3,4", None),
        (b"X,Y\n1,2\n", None),
        (b"X,Y\n1,2,\n3,4,\n", None),
        (b"", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_the_first_line_that_does_not_fit_is_named(
    tmp_path: Path, text: bytes, said: str | None, packed: bool
) -> None:
    path = tmp_path / ("log.csv.gz" if packed else "log.csv")
    path.write_bytes(gzip.compress(text) if packed else text)

    assert find_fault(str(path)) == said


def test_what_cannot_be_looked_into_has_no_or_a_plain_reason(tmp_path: Path) -> None:
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"X,Y\n" + bytes(9999))[:20])
    (tmp_path / "no.csv.gz").write_bytes(b"X,Y\n1,2\n")
    (tmp_path / "log.csv.zst").write_bytes(b"X,Y\n1\n")

    for name in ("cut.csv.gz", "no.csv.gz"):
        assert find_fault(str(tmp_path / name)) == (
            "it is damaged or was cut short: it cannot be unpacked"
        )
    assert find_fault(str(tmp_path / "log.csv.zst")) is None
    assert find_fault(str(tmp_path / "none.csv")) == "No such file or directory"


def test_no_more_lines_are_read_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("X,Y\n1,2\n1\n")

    assert find_fault(str(tmp_path / "log.csv"), lines=2) is None
