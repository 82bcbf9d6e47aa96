"""Arrow files: of either form, with columns that meet by name."""

import datetime as dt
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pytest

from boundit.counts.errors import SameName
from boundit.counts.formats.arrow_files import open_arrow
from boundit.counts.read import read_log
from boundit.terms.errors import MissingExtra, UnreadableFile
from tests.counts.backends import arrow, arrow_stream


def write(path: Path, table: pa.Table) -> Path:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def test_columns_meet_by_name_and_a_missing_one_is_null(tmp_path: Path) -> None:
    write(tmp_path / "1.arrow", arrow({"X": [1], "Y": [2]}))
    write(tmp_path / "2.arrow", arrow({"Y": [5], "Z": ["a"]}))

    table = read_log(tmp_path, missing="level").count(["X", "Y", "Z"])

    assert table.levels == {"X": (1, None), "Y": (2, 5), "Z": ("a", None)}


def test_streams_and_files_may_stand_together(tmp_path: Path) -> None:
    stream = arrow_stream(arrow({"X": [0, 1]}), tmp_path)
    write(tmp_path / "file.arrow", arrow({"X": [1], "Y": [2]}))

    assert isinstance(open_arrow([*stream, str(tmp_path / "file.arrow")]), pa.Table)
    assert read_log(tmp_path).count(["X"]).n.tolist() == [1, 2]


def test_parts_of_the_path_are_columns(tmp_path: Path) -> None:
    for place in ("north", "south"):
        (tmp_path / f"place={place}").mkdir()
        write(tmp_path / f"place={place}" / "a.arrow", arrow({"X": [0, 1]}))

    assert read_log(tmp_path).count(["place"]).levels["place"] == ("north", "south")


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arrow", arrow({"Y": [1], "y": [0]}))
    fine = write(tmp_path / "b.arrow", arrow({"Y": [1], "Y_1": [0]}))

    with pytest.raises(SameName, match=r"a\.arrow' has several columns called '[Yy]'"):
        read_log(path)
    assert read_log(fine).columns == ("Y", "Y_1")


@pytest.mark.parametrize("cut", [0, 3, 7, 100, -20, -1])
def test_a_file_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    whole = write(tmp_path / "whole.arrow", arrow({"X": list(range(9)) * 50})).read_bytes()
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
    path = write(tmp_path / "a.arrow", arrow({"X": [1]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"needs pyarrow; .* 'boundit\[arrow\]'"):
        read_log(path)
