from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.studio.drawing import read_drawing
from boundit.studio.project import DataSource, Project
from tests.studio.projects import answer, list_projects


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_columns_have_kinds_levels_gaps_and_nodes(folder: Path) -> None:
    found = answer(list_projects(folder)["shop"], "look", folder)
    columns = {column["name"]: column for column in found["columns"]}

    assert found["n_rows"] == 600
    age = columns["age in years"]
    assert (age["kind"], age["holds"]) == ("number", "numbers")
    assert sum(age["histogram"]["counts"]) + age["n_missing"] == 600
    assert age["n_missing"] > 0
    assert len(age["histogram"]["edges"]) == len(age["histogram"]["counts"]) + 1
    ad = columns["Ad kind"]
    assert (ad["kind"], ad["n_levels"]) == ("level", 2)
    assert sum(level["n"] for level in ad["levels"]) == 600
    assert columns["Click"]["kind"] == "level"
    assert columns["Click"]["histogram"] is None
    matched = answer(list_projects(folder)["shop"], "match", folder)
    assert matched["nodes"]["age in years"] == "Age"
    assert matched["unmatched_nodes"] == []
    assert matched["problems"] == []


def test_a_wrong_column_is_a_problem_with_its_place_and_a_guess(folder: Path) -> None:
    project = list_projects(folder)["shop"]
    data = DataSource(file=project.data.file, bins={"Ad kind": (1.0,)})
    graph = read_drawing('"Age in Years" -> Ad_Kind; Ad_Kind -> Click; Weather -> Click').graph
    found = answer(Project(graph=graph, data=data), "match", folder)

    assert found["unmatched_nodes"] == ["Ad_Kind", "Age in Years", "Weather"]
    assert found["suggestions"] == {"Ad_Kind": "Ad kind", "Age in Years": "age in years"}
    places = [problem["where"] for problem in found["problems"]]
    assert places == [
        "data.bins.Ad kind",
        "data.columns.Ad_Kind",
        "data.columns.Age in Years",
        "data.columns.Weather",
    ]
    assert "hidden" in found["problems"][-1]["hint"]


def test_a_log_without_rows_is_looked_at(folder: Path) -> None:
    (folder / "none.csv").write_text("X,Y\n")
    found = answer(Project(data=DataSource(file="none.csv")), "look", folder)

    assert found["n_rows"] == 0


def test_a_column_that_misleads_at_its_start_is_read_all_the_same(folder: Path) -> None:
    rows = "\n".join(["1"] * 30_000 + ["many"])
    (folder / "late.csv").write_text(f"X\n{rows}\n")
    project = replace(Project(), data=DataSource(file="late.csv"))
    found = answer(project, "look", folder)

    assert found["n_rows"] == 30_001
    assert found["columns"][0]["holds"] == "text"


def test_a_log_with_times_of_a_zone_can_be_opened(folder: Path) -> None:
    rows = [f"{i % 2},{i % 3},2024-01-01T1{i}:00:00+01:00" for i in range(6)]
    (folder / "log.csv").write_text("\n".join(["X,Y,at", *rows]) + "\n")
    project = Project(graph=read_drawing("X -> Y").graph, data=DataSource(file="log.csv"))
    found = answer(project, "look", folder)

    assert answer(project, "match", folder)["problems"] == []
    assert found["columns"][2]["levels"][0] == {"value": "2024-01-01 09:00:00+00:00", "n": 1}
