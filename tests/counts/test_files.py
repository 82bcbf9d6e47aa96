"""Files found, opened, counted, or refused in one line."""

import datetime as dt
import gzip
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest

from boundit.core.errors import BounditError, DataError, MissingExtra, UnreadableFile
from boundit.counts.errors import NotACategory, NotNumeric
from boundit.counts.files import FileFormat, find_files, open_arrow, write_json_reader
from boundit.counts.log import read_log
from boundit.counts.sources import ColumnKind, GroupBy
from tests.counts.backends import arrow, arrow_stream


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
        with pytest.raises(DataError, match=f"{name}' has several columns called '[Yy]', or"):
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
        (b"", DataError, "the file is empty, it has not even a header"),
        (b"X,Y\n", DataError, "it has no rows"),
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
        ("nowhere.csv", "cannot read 'nowhere.csv': there is no such file or directory"),
        ("nowhere/*.csv", "cannot read 'nowhere/*.csv': no Parquet, CSV, JSON lines or Arrow "
         "file matches"),
        ("s3://bucket/log.parquet", "cannot read 's3://bucket/log.parquet': Install s3fs to "
         "access S3"),
    ],
)  # fmt: skip
def test_a_path_to_nothing(path: str, message: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        find_files(path)
    assert str(caught.value) == message


def test_paths_to_something_else(folder: Path) -> None:
    with pytest.raises(
        UnreadableFile, match=r"unknown kind; name it \.parquet, \.csv, \.jsonl, \.arrow"
    ):
        find_files(folder / "notes.txt")
    with pytest.raises(
        UnreadableFile, match="no Parquet, CSV, JSON lines or Arrow file matches"
    ):
        find_files(str(folder / "*.txt"))
    with pytest.raises(UnreadableFile, match="the list is empty"):
        find_files([])
    with pytest.raises(DataError, match="of different kinds; give files of one kind"):
        find_files(folder)
    (folder / "empty").mkdir()
    with pytest.raises(
        UnreadableFile, match="the directory holds no Parquet, CSV, JSON lines or Arrow file"
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

    with pytest.raises((UnreadableFile, DataError), match=r"log\.parquet"):
        log.count(["X"])


def test_the_first_text_that_is_no_number_is_shown_with_its_row(tmp_path: Path) -> None:
    rows = [f"{i % 3},{'NA' if i in (700, 900) else i % 2}" for i in range(1, 30_000)]
    (tmp_path / "log.csv").write_text("\n".join(["X,Y", *rows]) + "\n")

    with pytest.raises(NotNumeric, match="holds text such as 'NA' in row 700, which"):
        read_log(tmp_path / "log.csv").count(["X"], reward="Y")
    (tmp_path / "more.csv").write_text("X,Y\n1,2\n")
    with pytest.raises(NotNumeric, match="holds text such as 'NA', which cannot"):
        read_log(tmp_path).count(["X"], reward="Y")


def write_arrow(path: Path, table: pa.Table) -> Path:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def test_arrow_columns_meet_by_name_and_a_missing_one_is_null(tmp_path: Path) -> None:
    write_arrow(tmp_path / "1.arrow", arrow({"X": [1], "Y": [2]}))
    write_arrow(tmp_path / "2.arrow", arrow({"Y": [5], "Z": ["a"]}))

    table = read_log(tmp_path, missing="level").count(["X", "Y", "Z"])

    assert table.levels == {"X": (1, None), "Y": (2, 5), "Z": ("a", None)}


def test_streams_and_files_may_stand_together(tmp_path: Path) -> None:
    stream = arrow_stream(arrow({"X": [0, 1]}), tmp_path)
    write_arrow(tmp_path / "file.arrow", arrow({"X": [1], "Y": [2]}))

    assert isinstance(open_arrow([*stream, str(tmp_path / "file.arrow")]), pa.Table)
    assert read_log(tmp_path).count(["X"]).n.tolist() == [1, 2]


def test_arrow_parts_of_the_path_are_columns(tmp_path: Path) -> None:
    for place in ("north", "south"):
        (tmp_path / f"place={place}").mkdir()
        write_arrow(tmp_path / f"place={place}" / "a.arrow", arrow({"X": [0, 1]}))

    assert read_log(tmp_path).count(["place"]).levels["place"] == ("north", "south")


def test_arrow_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    path = write_arrow(tmp_path / "a.arrow", arrow({"Y": [1], "y": [0]}))
    fine = write_arrow(tmp_path / "b.arrow", arrow({"Y": [1], "Y_1": [0]}))

    with pytest.raises(DataError, match=r"a\.arrow' has several columns called '[Yy]'"):
        read_log(path)
    assert read_log(fine).columns == ("Y", "Y_1")


@pytest.mark.parametrize("cut", [0, 3, 7, 100, -20, -1])
def test_a_file_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    whole = write_arrow(
        tmp_path / "whole.arrow", arrow({"X": list(range(9)) * 50})
    ).read_bytes()
    (tmp_path / "cut.arrow").write_bytes(whole[:cut])

    with pytest.raises(UnreadableFile, match=r"cut\.arrow'") as caught:
        read_log(tmp_path / "cut.arrow").count(["X"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [60, 200, -30])
def test_a_stream_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    (path,) = arrow_stream(arrow({"X": list(range(9)) * 50}), tmp_path)
    Path(path).write_bytes(Path(path).read_bytes()[:cut])

    with pytest.raises(UnreadableFile, match=r"stream\.arrow'"):
        read_log(path).count(["X"])


def test_a_dataset_is_filtered_and_counted_where_it_is(tmp_path: Path) -> None:
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
    rows = arrow({"X": [0, 1, 1, 1], "day": [days[0], days[1], days[1], None]})
    pa_dataset.write_dataset(
        rows, tmp_path, format="parquet", partitioning=["X"], partitioning_flavor="hive"
    )
    found = pa_dataset.dataset(tmp_path, partitioning="hive")
    kept = found.filter(pa_dataset.field("X") == 1)

    log = read_log(found)
    assert log.count(["X", "day"]).n.tolist() == [1, 2]
    assert log.count(["X"]).n.tolist() == [1, 3]  # it can be read again
    assert read_log(kept).count(["day"]).levels["day"] == (days[1],)
    assert str(log) == "a log of day, X in the PyArrow dataset"


def test_pyarrow_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_arrow(tmp_path / "a.arrow", arrow({"X": [1]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"needs pyarrow. .* 'boundit\[arrow\]'"):
        read_log(path)


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_kinds_are_those_of_the_values(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "log.jsonl",
        '{"n": 1, "t": "1", "b": true, "d": "2024-02-29", "l": [1], "o": {"a": {"b": 1}}}',
        '{"n": 2.5, "m": null, "l": ["a"], "u": "550E8400-E29B-41D4-A716-446655440000"}',
    )
    log = read_log(path)

    assert log.source.kinds == {
        "n": ColumnKind.NUMBERS,
        "t": ColumnKind.TEXT,
        "b": ColumnKind.BOOLEANS,
        "d": ColumnKind.TIMES,
        "l": ColumnKind.NESTED,
        "o": ColumnKind.NESTED,
        "m": ColumnKind.TEXT,
        "u": ColumnKind.TEXT,
    }
    assert log.count(["u"]).levels["u"] == ("550E8400-E29B-41D4-A716-446655440000",)
    for name in ("l", "o"):
        with pytest.raises(NotACategory, match="lists or structures"):
            log.count([name])


def test_a_key_that_comes_late_is_a_column(tmp_path: Path) -> None:
    lines = ['{"X": 1}'] * 30_000
    path = write_lines(tmp_path / "log.jsonl", *lines, '{"X": 2.5, "W": "a"}')

    table = read_log(path, missing="level").count(["X", "W"])
    assert table.levels == {"X": (1, 2.5), "W": ("a", None)}


def test_many_keys_that_are_seldom_there_are_columns(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.jsonl", *(f'{{"k{i}": {i % 3}}}' for i in range(400)))

    assert len(read_log(path).columns) == 400


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["2024-01-31", "2024-02-01"], (dt.date(2024, 1, 31), dt.date(2024, 2, 1))),
        (["01-02-24", "02-02-24"], ("01-02-24", "02-02-24")),
        (["31-12-2024", "30-12-2024"], ("30-12-2024", "31-12-2024")),
        (["2024-01-31", "later"], ("2024-01-31", "later")),
        (["2024-01-31T10:30:00"], (dt.datetime(2024, 1, 31, 10, 30),)),  # noqa: DTZ001
        (["12", "007"], ("007", "12")),
    ],
)
def test_only_days_written_year_first_are_days(
    tmp_path: Path, values: list[str], levels: tuple[object, ...]
) -> None:
    path = write_lines(tmp_path / "log.jsonl", *(f'{{"X": "{value}"}}' for value in values))

    assert read_log(path).count(["X"]).levels["X"] == levels


def test_keys_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.jsonl", '{"Y": 1, "y": 2}')
    fine = write_lines(tmp_path / "fine.jsonl", '{"Y": 1, "Y_1": 2}')

    with pytest.raises(DataError, match=r"log\.jsonl' has several columns called '[Yy]'"):
        read_log(path)
    assert read_log(fine).columns == ("Y", "Y_1")


def test_json_parts_of_the_path_are_columns(tmp_path: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / f"day={day}").mkdir()
        write_lines(tmp_path / f"day={day}" / "a.jsonl", '{"X": 1}')

    table = read_log(tmp_path).count(["day", "X"])
    assert table.levels["day"] == (dt.date(2024, 1, 1), dt.date(2024, 1, 2))


@pytest.mark.parametrize("text", ["", "\n \n", "{}\n{}\n"])
def test_a_file_without_anything_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.jsonl").write_text(text)

    with pytest.raises(DataError, match=r"Nothing to count in '.*log\.jsonl'"):
        read_log(tmp_path / "log.jsonl")


def test_json_names_are_never_taken_for_sql(tmp_path: Path) -> None:
    name = "a'; DROP TABLE x; --"
    path = write_lines(tmp_path / "log.jsonl", f'{{"{name}": 1}}')

    assert read_log(path).count([name]).levels[name] == (1,)
    assert "'a''; DROP" in write_json_reader({name: "BIGINT"})
