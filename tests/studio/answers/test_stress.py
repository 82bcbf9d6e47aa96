from pathlib import Path

import pytest

from boundit.studio.drawing import read_drawing
from boundit.studio.project import DataSource, Project, ProjectQuery
from tests.decisions.stress.worlds import REFUTED, draw_refuting
from tests.studio.projects import answer, make_small


def test_missing_edges_are_ranked_with_widths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_small(tmp_path)
    found = answer(project, "stress", tmp_path)

    assert found["sentence"]
    assert found["not_varied"]
    for item in found["items"]:
        assert item["sentence"].startswith("If ")
        assert item["width_after"] is None or item["width_after"] >= item["width_before"] - 1e-9


def test_a_drawing_that_the_log_refutes_is_said_and_edges_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = draw_refuting()
    rows = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "log.csv").write_text(text)
    project = Project(
        name="Instrument",
        graph=read_drawing(REFUTED).graph,
        query=ProjectQuery(outcome="Y", treatments=("X",), context=()),
        data=DataSource(file="log.csv"),
    )
    found = answer(project, "stress", tmp_path)

    assert found["sentence"].startswith("The log refutes the graph as drawn")
    sentences = {item["sentence"] for item in found["items"]}
    assert "If Z acts on Y, the log does not refute the graph." in sentences
