from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.bounds.options import keep_fitting
from boundit.core.errors import HasCycle, OptionError, OutOfTime, QueryError, UnreadableFile
from boundit.core.message import ANY, Message, Option, Placeholder
from boundit.counts.errors import MissingColumn, NotNumeric
from boundit.studio.ask import (
    AskedProject,
    list_data_options,
    refuse,
    write_for_page,
)
from boundit.studio.errors import Refusal, StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Project, keep_asked
from tests.studio.projects import list_projects, refused


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
    with refused("refused") as caught:
        asked.open_log()
    assert caught.value.where == "data.file"
    away = Project(data=DataSource(file="../log.csv"))
    with refused("outside_folder") as outside:
        AskedProject(away, Folder(tmp_path)).open_log()
    assert outside.value.where == "data.file"
    settings = replace(Project().settings, external=("gone.csv",))
    with refused("not_found") as gone:
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


def test_errors_name_the_part_of_the_project() -> None:
    bins = OptionError(Option("bins", {"Age": [3, 1]}), " must increase")

    assert refuse(bins).where == "data.bins.Age"
    assert str(refuse(bins)) == "bins for Age must increase"
    lack = refuse(MissingColumn("Age", ["age"]))
    assert (lack.where, str(lack)) == ("data.columns.Age", "Age has no column in the log.")
    weight = refuse(MissingColumn("n", ["age"], is_node=False))
    assert str(weight) == "The data have no column 'n' (columns: age)."
    assert refuse(NotNumeric("n", "weight", "text")).where == "data.weight"
    assert refuse(NotNumeric("Age", "binned column", "text")).where == "data.bins.Age"
    assert refuse(UnreadableFile("x.csv", "gone")).where == "data.file"
    assert refuse(HasCycle(["X", "Y", "X"])).where == "graph"
    assert refuse(QueryError("X", "treatments")).where == "query"
    assert refuse(OutOfTime()).where is None
    own = StudioError("not_found", "gone", where="data.file")
    assert refuse(own) is own


def test_options_have_the_names_of_the_page() -> None:
    low, high = Placeholder("low"), Placeholder("high")
    said = Message(
        "set ", Option("outcome_range", (low, high)), ", ", Option("domain", ANY), " or ",
        Option("confidence", None), " or ", Option("selection_limit", 2), "; ", Option("other"),
    )  # fmt: skip

    assert write_for_page(said) == (
        "set the range of the outcome, the domain or no confidence (plug-in ends) or "
        "the selection limit 2; other"
    )
    assert write_for_page("plain") == "plain"


def test_an_error_says_where_and_what_would_help() -> None:
    error = StudioError(
        "too_much", "no", where="$.graph.edges[3]", hint="Draw.", line=2, column=5
    )

    assert (error.status, str(error)) == (413, "no")
    assert error.record() == Refusal("too_much", "no", "graph.edges[3]", "Draw.", 2, 5)
    assert len(StudioError("bug", "x" * 10_000).record().message) <= 1_000
