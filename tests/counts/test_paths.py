"""Kinds of files by their names."""

import gzip
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import fsspec
import pyarrow.parquet as pa_parquet
import pytest

from boundit.core.errors import DataError, MissingExtra, UnreadableFile
from boundit.counts.files import ENDINGS, FileFormat, find_files, find_format
from boundit.counts.log import read_log
from tests.counts.backends import BACKENDS, arrow, shown


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.parquet", FileFormat.PARQUET),
        ("a.b.PQ", FileFormat.PARQUET),
        ("a.csv", FileFormat.CSV),
        ("a.tsv.zst", FileFormat.CSV),
        ("a.jsonl", FileFormat.JSON),
        ("a.ndjson.gz", FileFormat.JSON),
        ("a.arrow", FileFormat.ARROW),
        ("a.feather", FileFormat.ARROW),
        ("a.json", None),
        ("a.gz", None),
        ("csv", None),
    ],
)
def test_the_ending_says_what_it_is(name: str, kind: FileFormat | None) -> None:
    assert find_format(name) is kind


def test_no_ending_is_of_two_kinds() -> None:
    ends = [end for kind in FileFormat for end in ENDINGS[kind]]

    assert len(ends) == len(set(ends))


ROWS = arrow({"X": ["a", "b", "b"], "Y": [1, 0, 1]})


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    """A store in memory that goes with the test."""
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()


@pytest.mark.parametrize(
    "backend",
    ["parquet", "csv", "csv gz", "csv zst", "json lines", "json lines gz", "arrow files"],
)
def test_every_kind_of_file_is_read_from_a_store(
    backend: str, tmp_path: Path, store: fsspec.AbstractFileSystem
) -> None:
    BACKENDS[backend](ROWS, tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in files:
        store.pipe(f"/bucket/{path.name}", path.read_bytes())
    expected = shown(read_log(ROWS).count(["X"], reward="Y"))

    for place in ("memory://bucket", "memory://bucket/*", f"memory://bucket/{files[0].name}"):
        if backend == "arrow files" and place[-1] != "*":
            continue  # of one file, some of the rows
        assert shown(read_log(place).count(["X"], reward="Y")) == expected


def test_partitions_in_a_store_are_columns(
    tmp_path: Path, store: fsspec.AbstractFileSystem
) -> None:
    pa_parquet.write_table(ROWS, tmp_path / "a.parquet")
    for place in ("north", "south"):
        store.pipe(f"/log/place={place}/0.parquet", (tmp_path / "a.parquet").read_bytes())
    store.pipe("/log/_SUCCESS", b"")
    store.pipe("/log/_metadata.parquet", b"")

    assert find_files(["memory://log"]).paths == (
        "memory:///log/place=north/0.parquet",
        "memory:///log/place=south/0.parquet",
    )
    table = read_log("memory://log/**/*.parquet").count(["place"])
    assert dict(zip(table.levels["place"], table.n.tolist(), strict=True)) == {
        "north": 3,
        "south": 3,
    }


def test_what_is_not_there_is_said_in_one_line(store: fsspec.AbstractFileSystem) -> None:
    store.pipe("/log/notes.txt", b"")
    store.pipe("/log/broken.csv.gz", gzip.compress(b"X,Y\n1,2\n" * 99)[:20])
    for path, said in {
        "memory://log/none.csv": "there is no such file",
        "memory://log": "no Parquet, CSV, JSON lines or Arrow file is there",
        "memory://log/*.parquet": "no Parquet, CSV, JSON lines or Arrow file is there",
        "s3://bucket/log.parquet": "Install s3fs",
        "gs://bucket/*.parquet": "gcsfs",
        "nonsense://log.csv": "Protocol not known",
    }.items():
        if "broken" in path or path == "memory://log":
            store.rm("/log/broken.csv.gz") if store.exists("/log/broken.csv.gz") else None
        with pytest.raises(UnreadableFile, match=said) as caught:
            read_log(path)
        assert "\n" not in str(caught.value)
    store.pipe("/log/broken.csv.gz", gzip.compress(b"X,Y\n1,2\n" * 99)[:20])
    with pytest.raises((UnreadableFile, DataError), match=r"broken\.csv\.gz") as broken:
        read_log("memory://log/broken.csv.gz").count(["X"])
    assert "\n" not in str(broken.value)


def test_files_of_two_places_are_refused(
    tmp_path: Path, store: fsspec.AbstractFileSystem
) -> None:
    store.pipe("/log/a.csv", b"X\n1\n")
    (tmp_path / "b.csv").write_text("X\n1\n")

    with pytest.raises(UnreadableFile, match=r"not at the same place as 'memory://log/a\.csv'"):
        read_log(["memory://log/a.csv", str(tmp_path / "b.csv")])


def test_fsspec_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)

    with pytest.raises(MissingExtra, match=r"needs fsspec. .* 'boundit\[remote\]'"):
        read_log("s3://bucket/log.csv")


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, and parts of them."""

    def do_GET(self) -> None:
        data = (Path(self.directory) / self.path.lstrip("/")).read_bytes()
        asked = self.headers.get("Range")
        if asked is None:
            self.send_response(200)
            part = data
        else:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            part = data[int(first) : int(last or len(data)) + 1]
            self.send_response(206)
            span = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
            self.send_header("Content-Range", span)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=tmp_path)) as served:
        thread = Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


@pytest.mark.filterwarnings("ignore")  # of the client's own threads, at the end
@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_files_are_read_over_http(name: str, tmp_path: Path, server: str) -> None:
    pa_parquet.write_table(ROWS, tmp_path / "log.parquet")
    (tmp_path / "log.csv").write_text("X,Y\na,1\nb,0\nb,1\n")

    found = shown(read_log(f"{server}/{name}").count(["X"], reward="Y"))
    assert found == shown(read_log(ROWS).count(["X"], reward="Y"))
    with pytest.raises(UnreadableFile, match=r"none\.csv': there is no such file"):
        read_log(f"{server}/none.csv")
