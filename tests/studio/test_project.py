from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from boundit.graph.text import GraphDraft
from boundit.studio.drawing import draw_draft, read_drawing, read_project, write_project
from boundit.studio.examples import open_example
from boundit.studio.folder import Folder
from boundit.studio.project import (
    FORMAT,
    VERSION,
    DataSource,
    Project,
    ProjectQuery,
    Settings,
    name_file,
    read_json,
)
from tests.graph.test_draft import drafts
from tests.studio.projects import refused


def test_a_project_with_nothing_in_it_has_every_default() -> None:
    project = msgspec.json.decode(b"{}", type=Project)

    assert project == Project()
    assert (project.format, project.version) == (FORMAT, VERSION)
    assert project.settings.confidence == 0.95
    assert project.settings.missing == "drop"


GOLDEN = Path(__file__).parents[1] / "golden" / "files" / "studio_project_2.json"
OLD = GOLDEN.with_name("studio_project.json")


def make_project() -> Project:
    return Project(
        name="Golden",
        graph=read_drawing(
            "# why\nZ = {Age, Sex}; Z -> X -> Y; U -> X; hidden U; Y -> [S]"
        ).graph,
        query=ProjectQuery(outcome="Y", treatments=("X",), context=("Age",)),
        data=DataSource(file="log.csv", bins={"Age": (30, 45)}, levels={"X": (1, "a", True)}),
        settings=Settings(selection_rate=(0.3, 0.6), confounding_limit={"X <-> Y": 1.5}),
    )


def test_the_format_is_that_of_the_golden_file() -> None:
    """Whoever changes the format writes a new version, and keeps reading this one."""
    assert write_project(make_project()) == GOLDEN.read_text(encoding="utf-8")
    assert read_project(GOLDEN.read_text(encoding="utf-8")) == make_project()


def test_a_project_of_the_first_version_is_read() -> None:
    text = OLD.read_text(encoding="utf-8")
    refusing = text.replace('"missing": "drop"', '"missing": "refuse"')

    assert read_project(text) == make_project()
    assert refusing != text
    assert read_project(refusing).settings.missing == "error"


@given(drafts())
def test_a_project_is_read_back_as_it_was_written(draft: GraphDraft) -> None:
    project = Project(graph=draw_draft(draft))

    assert read_project(write_project(project)) == project


@pytest.mark.parametrize("name", ["pharmacy", "paper", "empty"])
def test_examples_are_read_back(name: str, tmp_path: Path) -> None:
    project = open_example(name, Folder(tmp_path))

    assert read_project(write_project(project)) == project


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("nix", None, "no JSON"),
        ("[]", "format", "no project file"),
        ('{"nodes": []}', "format", "no project file"),
        ('{"format": "boundit project", "version": 7}', "version", "version 7"),
        ('{"format": "boundit project", "version": 1, "ghost": 1}', None, "'ghost'"),
        (
            '{"format": "boundit project", "version": 1, "graph": {"text": "X -> Y"}}',
            "graph.text",
            "says something else",
        ),
        (
            '{"format": "boundit project", "version": 1, "graph": {"text": "X -> -> Y"}}',
            "graph.text",
            "expected a node",
        ),
    ],
)
def test_what_is_no_project_is_refused_in_one_line(
    text: str, where: str | None, said: str
) -> None:
    with refused("malformed", said) as caught:
        read_project(text)

    assert caught.value.where == where
    assert "\n" not in str(caught.value)


def test_a_text_that_says_something_else_is_not_written() -> None:
    project = make_project()
    with refused("malformed"):
        write_project(replace(project, graph=replace(project.graph, text="X -> Y")))


def test_a_file_is_named_for_its_project() -> None:
    assert name_file(Project()) == "project.boundit.json"
    assert name_file(Project(name="../../etc/passwd")) == "etc-passwd.boundit.json"


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ('{"graf": {}}', None, "'graf' is no field here; there are format, version, name"),
        ('{"graph": {"edges": [{"tail": "X", "head": "Y"}, {"tail": 3}]}}',
         "graph.edges[1].tail", "expected str, got int"),
        ('{"graph": {"edges": [{"tail": "X", "head": "Y", "kind": "--"}]}}',
         "graph.edges[0].kind", "invalid enum value '--'"),
        ('{"graph": {"edges": [{"tail": "X"}]}}',
         "graph.edges[0]", "object missing required field head"),
        ('{"data": {"bins": {"Age": [1, "x"]}}}',
         "data.bins.Age[1]", "expected float, got str"),
        ('{"settings": {"confidence": 2}}', "settings.confidence", "expected float < 1.0"),
        ('{"version": 7}', "version", "invalid enum value 7"),
        ("{", None, "this is no JSON"),
        ('{"name": "a", "name": "b"}', None, "a key stands twice in one object"),
        ('{"name": "\\u003a", "graph": {"text": "A", "text": "B"}}', None, "a key stands "),
        ("[" * 100_000, None, "this is no JSON"),
        ('{"name": "\udcff"}', None, "this is no JSON"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_place(
    body: str, where: str | None, said: str
) -> None:
    with refused("malformed") as caught:
        read_json(Project, body.encode("utf-8", "surrogatepass"))

    assert caught.value.where == where
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
