"""Projects are files: saved, listed, opened, exported with their data, and part of reports."""

from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

import boundit as bd
from boundit.studio.convert import Reading, convert_file
from boundit.studio.folder import Folder
from boundit.studio.pool import make_key
from boundit.studio.project import DataSource, Project, Settings
from boundit.studio.saved import (
    embed_project,
    export_project,
    find_folder,
    list_saved,
    open_project,
    read_any,
    save_project,
)
from tests.studio.projects import list_projects, refused


@pytest.fixture
def pharmacy(tmp_path: Path) -> Project:
    return list_projects(tmp_path)["pharmacy"]


def test_a_project_is_saved_listed_and_opened(tmp_path: Path, pharmacy: Project) -> None:
    folder = Folder(tmp_path)

    file = save_project(pharmacy, None, folder)
    assert save_project(pharmacy, None, folder) != file
    assert save_project(replace(pharmacy, name="Anew"), file, folder) == file
    assert {each.name for each in list_saved(folder)} == {"Pharmacy", "Anew"}
    assert open_project(file, folder) == replace(pharmacy, name="Anew")


def test_a_project_is_never_saved_outside_the_folder(tmp_path: Path, pharmacy: Project) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()

    assert save_project(pharmacy, "../../out.boundit.json", Folder(inside))
    assert [path.name for path in tmp_path.glob("*.boundit.json")] == []


def test_a_report_holds_its_project(pharmacy: Project) -> None:
    odd = replace(pharmacy, name="</script><b>")
    page = embed_project("<!doctype html><body>page</body>", odd)

    assert page.count("</script>") == 1
    assert read_any(page) == odd
    with refused("malformed"):
        read_any("<!doctype html><body>page</body>")


def test_an_export_opens_elsewhere_with_its_data(tmp_path: Path, pharmacy: Project) -> None:
    census = replace(pharmacy, settings=Settings(external=("census.csv",)))
    away = tmp_path / "away"
    away.mkdir()
    moved = export_project(census, Folder(tmp_path)).rename(away / "colleague.boundit")

    home, project = find_folder(moved)
    again, _ = find_folder(moved)

    assert (home, again) == (away / "colleague", away / "colleague-2")
    assert project is not None
    assert project.graph == pharmacy.graph
    rows = (tmp_path / str(pharmacy.data.file)).read_bytes()
    assert (home / str(project.data.file)).read_bytes() == rows
    assert (home / project.settings.external[0]).is_file()


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.boundit").write_bytes(b"no archive")

    with refused("malformed"):
        find_folder(tmp_path / "bad.boundit")


def test_the_secret_of_a_folder_stays_and_is_its_owner_s_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    secret = folder.keep_secret()
    kept = tmp_path / ".boundit-studio" / "secret"

    assert folder.keep_secret() == secret
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.chmod(0o644)
    assert folder.keep_secret() != secret
    kept.rename(tmp_path / "other")
    kept.symlink_to(tmp_path / "other")
    assert folder.keep_secret() != (tmp_path / "other").read_text()


def test_a_file_is_read_as_it_should_be(tmp_path: Path) -> None:
    text = "Größe;Tag;Kauf\n1,5;2024-02-29;1\n-99;2024-12-31;0\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    reading = Reading(
        encoding="cp1252", decimal_comma=True, missing=("-99",), dates={"Tag": "month"}
    )

    folder = Folder(tmp_path)
    name = convert_file("a.csv", reading, folder)
    log = bd.read_log(str(tmp_path / name))
    assert name == "a-read.parquet"
    assert list(log.columns) == ["Größe", "Tag", "Kauf"]
    rows = duckdb.read_parquet(str(tmp_path / name)).fetchall()
    assert rows == [(1.5, "2024-02", 1), (None, "2024-12", 0)]
    assert (tmp_path / "a.csv").read_bytes() == text.encode("cp1252")
    with refused("refused"):
        convert_file("a.csv", Reading(encoding="utf-16"), folder)


def test_a_look_at_a_file_serves_every_graph(tmp_path: Path, pharmacy: Project) -> None:
    folder = Folder(tmp_path)
    bare = Project(data=DataSource(file=pharmacy.data.file))

    assert make_key("look", pharmacy, folder) == make_key("look", bare, folder)
    assert make_key("match", pharmacy, folder) != make_key("match", bare, folder)
