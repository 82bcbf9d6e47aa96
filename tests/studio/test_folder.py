import os
from pathlib import Path

import pytest

from boundit.studio.folder import OWN, Folder
from tests.studio.projects import refused


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "log.csv").write_text("X,Y\n1,0\n")
    (inside / "sub").mkdir()
    (inside / "sub" / "more.parquet").write_bytes(b"PAR1")
    (inside / "notes.txt").write_text("no log")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    return Folder(inside)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "sub/../../secret.csv",
        "/etc/passwd",
        "log.csv\0",
        "log\ncsv",
        "..",
        "",
        "x" * 5_000,
        "..\\secret.csv",
        "*.csv",
        "lo[g].csv",
        "s3://bucket/log.csv",
        "https://example.org/log.csv",
        "-x.csv",
        "sub/./../../secret.csv",
    ],
)
def test_names_that_lead_out_are_refused(folder: Folder, name: str) -> None:
    with refused("outside_folder"):
        folder.find(name)


def test_links_that_lead_out_are_refused_and_not_listed(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder.path / "way").symlink_to(tmp_path, target_is_directory=True)
    (folder.path / "loop.csv").symlink_to(folder.path / "loop.csv")

    for name in ("link.csv", "way/secret.csv"):
        with refused("outside_folder"):
            folder.find(name)
    with refused("not_found"):
        folder.find("loop.csv")
    assert [file.name for file in folder.list_files()] == ["log.csv", "sub/more.parquet"]


def test_files_inside_are_found_and_listed(folder: Folder) -> None:
    (folder.path / "alias.csv").symlink_to(folder.path / "log.csv")

    assert folder.find("log.csv") == folder.path / "log.csv"
    assert folder.find("alias.csv") == folder.path / "log.csv"
    listed = {file.name: (file.bytes, file.kind) for file in folder.list_files()}
    assert listed["log.csv"] == (8, "CSV")
    assert listed["sub/more.parquet"] == (4, "Parquet")
    assert "notes.txt" not in listed
    with refused("not_found") as caught:
        folder.find("gone.csv")
    assert caught.value.hint


def test_folders_and_pipes_are_no_files(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe.csv")

    for name in ("sub", "pipe.csv", "."):
        with refused("not_found"):
            folder.find(name)


def test_an_upload_never_overwrites(folder: Folder) -> None:
    assert folder.choose_name("new.csv") == "new.csv"
    assert folder.choose_name("log.csv") == "log-2.csv"
    assert folder.choose_name("C:\\data\\my [log].csv.gz") == "my _log_.csv.gz"
    assert folder.choose_name("../../etc/log.csv") == "log-2.csv"


@pytest.mark.parametrize(
    "name", ["", ".csv", "x.exe", "x", "a\0.csv", "-a.csv", "a" * 200 + ".csv"]
)
def test_what_is_no_log_is_not_taken(folder: Folder, name: str) -> None:
    with refused("upload_refused"):
        folder.choose_name(name)


def test_a_draft_is_kept_and_a_linked_place_refused(folder: Folder, tmp_path: Path) -> None:
    assert folder.load_draft() is None
    folder.save_draft("{}")
    assert folder.load_draft() == "{}"
    assert [path.name for path in (folder.path / OWN).iterdir()] == ["draft.json"]

    other = Folder(tmp_path / "other")
    other.path.mkdir()
    (other.path / OWN).symlink_to(tmp_path)
    with refused("outside_folder"):
        other.save_draft("{}")


def test_an_example_file_is_written_once(folder: Folder, tmp_path: Path) -> None:
    assert folder.keep("some/a.csv", "1\n") == "some/a.csv"
    folder.keep("some/a.csv", "2\n")
    assert (folder.path / "some/a.csv").read_text() == "1\n"

    (folder.path / "linked").symlink_to(tmp_path, target_is_directory=True)
    with refused("outside_folder"):
        folder.keep("linked/a.csv", "1\n")
