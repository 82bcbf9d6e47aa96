"""Files found, opened, counted, or refused in one line."""

import gzip
import tempfile
from pathlib import Path

import pyarrow.parquet as pa_parquet
import pytest

from boundit.counts.cells import ColumnKind, GroupBy
from boundit.counts.errors import (
    EmptyLog,
    InvalidLog,
    MixedFiles,
    NoFiles,
    NotNumeric,
    SameName,
)
from boundit.counts.files import find_files
from boundit.counts.formats.file_format import FileFormat
from boundit.counts.read import read_log
from boundit.terms.errors import BounditError, UnreadableFile
from tests.counts.backends import arrow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two Parquet files, a CSV file, and what others leave beside them."""
    pa_parquet.write_table(arrow({"X": [0, 1], "Y": [1, 1]}), tmp_path / "b.parquet")
    pa_parquet.write_table(arrow({"Y": [0], "X": [2]}), tmp_path / "a.PARQUET")
    for name in ("_metadata.parquet", ".hidden.parquet", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "log.csv").write_text("X,Y\n0,1\n1,0\n")
    return tmp_path


def levels(source: object, *names: str) -> dict[str, tuple[object, ...]]:
    return dict(read_log(source).count(names).levels)


def test_a_pattern_stands_for_its_files_in_order(folder: Path) -> None:
    found = find_files(folder / "[ab].*")

    assert found.paths == (str(folder / "a.PARQUET"), str(folder / "b.parquet"))
    assert found.format is FileFormat.PARQUET
    assert found.label == f"{str(folder / 'a.PARQUET')!r} and 1 more"
    assert levels(folder / "**" / "*.csv", "X") == {"X": (0, 1)}


def test_a_directory_stands_for_the_data_in_it(folder: Path) -> None:
    (folder / "c" / "log.csv").unlink()

    assert len(find_files(folder).paths) == 2
    assert read_log(folder).count(["X", "Y"]).rows == 3


def test_partitions_named_in_the_path_are_columns(tmp_path: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / f"day={day}").mkdir()
        pa_parquet.write_table(arrow({"X": [0]}), tmp_path / f"day={day}" / "0.parquet")

    assert set(find_files(tmp_path).kinds) == {"X", "day"}
    assert read_log(tmp_path).count(["day"]).rows == 2


def test_columns_meet_by_name_and_a_missing_one_is_null(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("X,Y\n1,2\n")
    (tmp_path / "2.csv").write_text("Y,Z\n5,6\n")

    table = read_log(tmp_path, missing="level").count(["X", "Y"])

    assert table.levels == {"X": (1, None), "Y": (2, 5)}
    assert table.codes.tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X,Y\na,b\nc,d\n", {"X": ("a", "c"), "Y": ("b", "d")}),
        ("X;Y\n1;2\n0;1\n", {"X": (0, 1), "Y": (1, 2)}),
        ("\ufeffX,Y\n1.0,2\n0.0,1\n", {"X": (0, 1), "Y": (1, 2)}),
        ('X,Y\n"a,b","\n"\n"c""d",x\n', {"X": ("a,b", 'c"d'), "Y": ("\n", "x")}),
        ("X,Y\ntrue,2024-02-29\nFalse,2024-02-28\n", None),
        ("# X,Y\n1,2\n", {"# X": (1,), "Y": (2,)}),
    ],
)
def test_csv_in_its_dialects(
    tmp_path: Path, text: str, expected: dict[str, tuple[object, ...]] | None
) -> None:
    (tmp_path / "log.csv").write_text(text)
    if expected is None:
        log = find_files(tmp_path)
        assert log.kinds == {"X": ColumnKind.BOOLEANS, "Y": ColumnKind.TIMES}
    else:
        assert levels(tmp_path, *expected) == expected


def test_one_column_and_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(b"X\na b\nc\n"))

    assert levels(tmp_path, "X") == {"X": ("a b", "c")}


def test_a_value_that_comes_late_and_is_of_another_type(tmp_path: Path) -> None:
    """Types are guessed from the first rows; when they mislead, from all rows."""
    (tmp_path / "log.csv").write_text("X,Y\n" + "1,2\n" * 30_000 + "none,2\n")

    assert levels(tmp_path, "X") == {"X": ("1", "none")}


def test_names_are_never_taken_for_sql(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s; -- a "log".parquet'
    pa_parquet.write_table(arrow({'a"; DROP TABLE x; --': [1, 2]}), path)

    assert levels(path, 'a"; DROP TABLE x; --') == {'a"; DROP TABLE x; --': (1, 2)}


def test_a_path_that_exists_is_no_pattern(tmp_path: Path) -> None:
    for name in ("a[1]*.parquet", "a1b.parquet"):
        pa_parquet.write_table(arrow({"X": [name]}), tmp_path / name)

    assert levels(tmp_path / "a[1]*.parquet", "X") == {"X": ("a[1]*.parquet",)}


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    pa_parquet.write_table(arrow({"Y": [1], "y": [0]}), tmp_path / "log.parquet")
    (tmp_path / "log.csv").write_text("Y,X,Y\n1,2,3\n")
    (tmp_path / "fine.csv").write_text("Y,Y_1\n1,2\n")
    pa_parquet.write_table(arrow({"Y": [1], "Y_1": [0]}), tmp_path / "fine.parquet")

    for name in ("log.parquet", "log.csv"):
        with pytest.raises(SameName, match=f"{name}' has several columns called '[Yy]', or"):
            read_log(tmp_path / name)
    for name in ("fine.parquet", "fine.csv"):
        assert read_log(tmp_path / name).columns == ("Y", "Y_1")


def whole_parquet(path: Path) -> bytes:
    pa_parquet.write_table(arrow({"X": list(range(9)) * 50}), path)
    return path.read_bytes()


@pytest.mark.parametrize("cut", [0, 3, 4, 20, -30, -4, -1])
def test_a_parquet_file_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    whole = whole_parquet(tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes(whole[:cut])

    with pytest.raises(UnreadableFile, match=r"cut\.parquet': not a whole Parquet file"):
        read_log(tmp_path).count(["X"])


def test_garbage_inside_a_parquet_file_is_one_line(tmp_path: Path) -> None:
    spoiled = bytearray(whole_parquet(tmp_path / "log.parquet"))
    spoiled[20:60] = b"U" * 40
    (tmp_path / "log.parquet").write_bytes(spoiled)

    with pytest.raises(UnreadableFile, match=r"log\.parquet") as caught:
        read_log(tmp_path).count(["X"])
    assert "\n" not in str(caught.value)


def test_quotes_are_no_part_of_values_wherever_the_first_is(tmp_path: Path) -> None:
    """Of a file whose first rows have no quotes, an engine takes later ones for letters."""
    path = tmp_path / "log.csv"
    path.write_bytes(b"X,Y\n" + b"a,1\n" * 30_000 + b'"a",1\n"b, c",0\n5" pipe,1\n')

    assert read_log(path).count(["X"], reward="Y").levels["X"] == ('5" pipe', "a", "b, c")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (b"", EmptyLog, "the file is empty, it has not even a header"),
        (b"X,Y\n", EmptyLog, "it has no rows"),
        (
            b"X,Y\n1,2\n1,2,3\n4,5\n",
            UnreadableFile,
            r"line 3 has 3 values, the header has 2 \(X, Y\)$",
        ),
        (
            b"X,Y\n" + b"1,2\n" * 30_000 + b"1\n",
            UnreadableFile,
            r"line 30,002 has 1 value, the header has 2 \(X, Y\)$",
        ),
        ("X,Y\né,2\n".encode("latin-1"), UnreadableFile, "line 2 is not UTF-8 text"),
        (bytes(range(256)) * 9, UnreadableFile, "line 2 is not UTF-8 text"),
    ],
)
def test_csv_that_is_no_log(
    tmp_path: Path, text: bytes, error: type[BounditError], message: str
) -> None:
    (tmp_path / "log.csv").write_bytes(text)

    with pytest.raises(error, match=message) as caught:
        read_log(tmp_path).count(["X"], reward="Y")
    assert r"log.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_compressed_file_cut_short(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3},{i * i % 1013}\n" for i in range(9999))
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(f"X,Y\n{rows}".encode())[:5000])

    with pytest.raises(UnreadableFile, match=r"log\.csv\.gz"):
        read_log(tmp_path).count(["X"])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.csv", "no log at 'nowhere.csv': there is no such file or directory"),
        ("nowhere/*.csv", "no log at 'nowhere/*.csv': no Parquet, CSV, JSON lines or Arrow "
         "file matches"),
        ("s3://bucket/log.parquet", "no log at 's3://bucket/log.parquet': Install s3fs to "
         "access S3"),
    ],
)  # fmt: skip
def test_a_path_to_nothing(path: str, message: str) -> None:
    with pytest.raises(NoFiles) as caught:
        find_files(path)
    assert str(caught.value) == message


def test_paths_to_something_else(folder: Path) -> None:
    with pytest.raises(
        NoFiles, match=r"unknown kind; name it \.parquet, \.csv, \.jsonl, \.arrow"
    ):
        find_files(folder / "notes.txt")
    with pytest.raises(NoFiles, match="no Parquet, CSV, JSON lines or Arrow file matches"):
        find_files(str(folder / "*.txt"))
    with pytest.raises(NoFiles, match="the list is empty"):
        find_files([])
    with pytest.raises(MixedFiles, match="of different kinds; give files of one kind"):
        find_files(folder)
    (folder / "empty").mkdir()
    with pytest.raises(
        NoFiles, match="the directory holds no Parquet, CSV, JSON lines or Arrow file"
    ):
        find_files(folder / "empty")


def test_nothing_is_printed_and_nothing_left_behind(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, home = folder / "scratch", folder / "home"
    scratch.mkdir()
    home.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(home)

    find_files(folder / "b.parquet").group(GroupBy(("X",)))

    assert capfd.readouterr() == ("", "")
    assert list(scratch.iterdir()) == list(home.iterdir()) == []


def test_a_file_that_vanishes_between_opening_and_counting(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    whole_parquet(path)
    log = read_log(path)
    path.unlink()

    with pytest.raises((UnreadableFile, InvalidLog), match=r"log\.parquet"):
        log.count(["X"])


def test_the_first_text_that_is_no_number_is_shown_with_its_row(tmp_path: Path) -> None:
    rows = [f"{i % 3},{'NA' if i in (700, 900) else i % 2}" for i in range(1, 30_000)]
    (tmp_path / "log.csv").write_text("\n".join(["X,Y", *rows]) + "\n")

    with pytest.raises(NotNumeric, match="it holds text such as 'NA' in row 700; write"):
        read_log(tmp_path / "log.csv").count(["X"], reward="Y")
    (tmp_path / "more.csv").write_text("X,Y\n1,2\n")
    with pytest.raises(NotNumeric, match="it holds text such as 'NA'; write numbers"):
        read_log(tmp_path).count(["X"], reward="Y")
