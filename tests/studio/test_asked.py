from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.bounds.options import keep_fitting
from boundit.studio.asked import AskedProject, keep_asked, list_data_options
from boundit.studio.errors import NoSuchPart, OutsideFolder, RefusedRequest
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Project
from tests.studio.projects import list_projects


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AskedProject:
    monkeypatch.chdir(tmp_path)
    return AskedProject(list_projects(tmp_path)["external"], Folder(tmp_path))


def test_logs_are_opened_as_the_project_says(shop: AskedProject) -> None:
    log = shop.open_log()
    assert (log.renamed, log.weight, log.missing) == ({"Age": "age in years"}, "n", "level")
    (table,) = shop.open_external()
    assert (table.renamed, table.weight) == ({"Age": "age in years"}, None)
    assert table.bins.keys() == {"Age"}
    request = shop.make_request()
    assert request.tables == [frozenset({"Age"})]


def test_a_table_that_fits_nothing_is_read_as_it_is(shop: AskedProject) -> None:
    plain = replace(shop.project, data=DataSource(file="census.csv"))

    assert keep_fitting(list_data_options(plain), shop.open_external()[0]) == {
        "missing": "level"
    }


def test_no_file_and_a_file_elsewhere_are_refused_with_their_place(tmp_path: Path) -> None:
    asked = AskedProject(Project(), Folder(tmp_path))
    with pytest.raises(RefusedRequest) as caught:
        asked.open_log()
    assert caught.value.where == "data.file"
    away = Project(data=DataSource(file="../log.csv"))
    with pytest.raises(OutsideFolder) as outside:
        AskedProject(away, Folder(tmp_path)).open_log()
    assert outside.value.where == "data.file"
    settings = replace(Project().settings, external=("gone.csv",))
    with pytest.raises(NoSuchPart) as gone:
        AskedProject(Project(settings=settings), Folder(tmp_path)).open_external()
    assert gone.value.where == "settings.external[0]"


def test_counts_hang_on_the_file_as_it_is(shop: AskedProject) -> None:
    before = shop.log_key
    with shop.folder.find("census.csv").open("a") as file:
        file.write("33\n")

    assert shop.log_key != before


def test_what_answers_hang_on_has_no_places_and_no_name(shop: AskedProject) -> None:
    kept = keep_asked(shop.project)

    assert kept.name == ""
    assert kept.graph.text is None
    assert {node.x for node in kept.graph.nodes} == {None}
    assert kept.settings == shop.project.settings
