from pathlib import Path

import pytest

from boundit.cli.init import make_example
from boundit.studio.claims import make_claims
from boundit.studio.drawing import make_graph
from boundit.studio.examples import EXAMPLES, open_example
from boundit.studio.folder import Folder
from tests.studio.projects import refused


@pytest.mark.parametrize(
    "name", [example.name for example in EXAMPLES if example.name != "empty"]
)
def test_an_example_can_be_asked(name: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    project = open_example(name, folder)

    assert make_claims(project.graph, project.query).problems == ()
    assert project.data.file is not None
    assert folder.find(project.data.file).stat().st_size > 1_000
    assert all(node.x is not None for node in project.graph.nodes)


def test_the_pharmacy_is_the_one_of_the_story(tmp_path: Path) -> None:
    project = open_example("pharmacy", Folder(tmp_path))

    files = make_example()
    assert (tmp_path / str(project.data.file)).read_text() == files["log.csv"]
    assert project.graph.text == files["graph.txt"]


def test_the_paper_has_its_hidden_cause_and_selection(tmp_path: Path) -> None:
    project = open_example("paper", Folder(tmp_path))

    assert [node.name for node in project.graph.nodes if node.hidden] == ["C1"]
    assert str(make_graph(project.graph)) == (
        "I1 -> [S]; I1 -> Y; U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; I1 <-> Y"
    )
    assert (tmp_path / str(project.data.file)).read_text().startswith(
        "U1,U2,C1,X1,X2,I1,Y"
    ) is False


def test_an_unknown_example_is_refused_by_name(tmp_path: Path) -> None:
    with refused("not_found", "there are pharmacy, paper, empty"):
        open_example("nix", Folder(tmp_path))
