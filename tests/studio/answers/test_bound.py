from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.core.long_work import say_nothing
from boundit.studio.answers.bound import CountKeeper, choose_arms, derive, write_values
from boundit.studio.asked import AskedProject
from boundit.studio.drawing import read_drawing
from boundit.studio.folder import Folder
from boundit.studio.project import Project
from tests.studio.projects import answer, list_projects, make_small


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rows_have_reasons_that_light_up_the_drawing(folder: Path) -> None:
    found = answer(list_projects(folder)["paper"], "bound", folder)
    row = found["rows"][0]
    (reason,) = row["reasons"]

    assert reason["rule"] == row["lower_rule"] == "worst case over I1"
    assert reason["words"].startswith("Both ends: worst case over I1.")
    assert reason["steps"] == found["rules"]["worst case over I1"]["steps"]
    assert {"tail": "C1", "head": "I1", "kind": "->"} in reason["lit"]["edges"]
    assert "C1" in reason["lit"]["nodes"], "the hidden cause is lit, not the edge for it"
    assert row["effective_rows"][0] > 0
    assert row["out"] == [0, 1]


def test_the_answer_is_told_in_words(folder: Path) -> None:
    found = answer(list_projects(folder)["pharmacy"], "bound", folder)

    assert found["answer"]["sentence"] == (
        "call has the highest mean in 1 of 2 contexts, and falls least short of the highest "
        "in the other."
    )
    assert found["answer"]["use"][0]["where"] == ["Age=older"]
    assert found["answer"]["choice"][0]["lottery"] == [[["call"], 1.0]]
    assert found["answer"]["choice"][0]["out"] == [["letter"], ["text"]]
    assert found["outcome_range"] == [0, 1]
    assert any("further levels" in caveat for caveat in found["caveats"])


def test_an_end_that_nothing_narrows_says_so_and_what_would_help(folder: Path) -> None:
    project = list_projects(folder)["pharmacy"]
    text = "Reminder -> Refill; Refill -> [Kept]; Reminder <-> [Kept]; Refill <-> [Kept]; Age"
    open_ = replace(project, graph=read_drawing(text).graph)
    found = answer(open_, "bound", folder)

    assert {(row["lower"], row["upper"]) for row in found["rows"]} == {(0.0, 1.0)}
    (reason,) = found["rows"][0]["reasons"]
    assert reason["words"].startswith("Neither end says more than the reward's range")
    assert "What would narrow this?" in reason["words"]
    assert found["answer"]["sentence"].startswith("Nothing can be told")


def test_another_setting_of_the_same_log_reads_no_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, project = CountKeeper(), list_projects(folder)["pharmacy"]
    steps = list[str]()

    def run(asked: Project) -> None:
        derive(AskedProject(asked, Folder(folder)), keeper, lambda step, *_: steps.append(step))

    run(project)
    opened = []
    source = "boundit.counts.files.FileSource.group"
    monkeypatch.setattr(source, lambda *_: opened.append(1))
    run(replace(project, settings=replace(project.settings, confidence=0.9)))
    assert opened == []


def test_a_keeper_forgets_the_oldest() -> None:
    keeper = CountKeeper(most=2)
    first = keeper.find("a")
    assert keeper.find("a") is first
    keeper.find("b")
    keeper.find("c")
    assert keeper.find("a") is not first


def test_values_are_plain() -> None:
    assert write_values((1, "a", None, True, Path("x"))) == (1, "a", None, True, "x")


def test_a_choice_is_made_where_bounds_are_there(folder: Path) -> None:
    asked = AskedProject(make_small(folder), Folder(folder))
    table = derive(asked, CountKeeper(), say_nothing)

    assert choose_arms(table) is not None
