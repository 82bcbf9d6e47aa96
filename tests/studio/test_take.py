"""What is taken away repeats what the page shows: commands in a shell, and Python."""

import json
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import boundit as bd
from boundit.cli.main import main
from boundit.estimand.query import EffectQuery
from boundit.studio.claims import write_question
from boundit.studio.drawing import read_project, write_project
from boundit.studio.folder import Folder
from boundit.studio.project import (
    DataSource,
    Project,
    ProjectQuery,
    SimulateSettings,
)
from boundit.studio.take import TakePart, take_part, write_command
from tests.studio.projects import NAMES, answer, list_projects, make_small, refused

ENDS = ("lower", "upper", "lower_estimate", "upper_estimate", "n", "lower_rule", "upper_rule")


def run_command(command: str | None, *more: str) -> Any:
    """Run a shown command here, and read its JSON."""
    assert command is not None
    name, *arguments = shlex.split(command)
    assert name == "boundit"
    out = StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as left:
        main([*arguments, *more, "--json"])
    assert left.value.code in {0, 1}, out.getvalue()
    return json.loads(out.getvalue())


def run_python(text: str) -> dict[str, Any]:
    """Run shown Python here; give what it defines, and what it printed."""
    out, found = StringIO(), dict[str, Any]()
    with redirect_stdout(out):
        exec(compile(text, "shown", "exec"), found)
    return {**found, "printed": out.getvalue()}


@pytest.mark.parametrize("name", NAMES)
def test_command_and_python_give_the_numbers_of_the_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = list_projects(tmp_path)[name]
    shown = answer(project, "bound", tmp_path)
    taken = take_part(project, "bound", Folder(tmp_path))

    printed = run_command(taken.command)["rows"]
    bounds = run_python(taken.python)["bounds"]
    assert isinstance(bounds, bd.BoundTable)
    assert len(shown["rows"]) == len(printed) == len(bounds.bounds)
    for row, line, own in zip(shown["rows"], printed, bounds.rows(), strict=True):
        keys = [*shown["treatments"], *shown["context"]]
        assert [*row["arm"], *row["context"]] == [line[key] for key in keys]
        for end in ENDS:
            assert row[end] == line[end] == own[end]


def test_a_project_file_opens_in_another_folder_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    project = list_projects(here)["shop"]
    monkeypatch.chdir(here)
    first = answer(project, "bound", here)
    text = write_project(project)

    shutil.copytree(here, there)
    shutil.rmtree(here)
    monkeypatch.chdir(there)
    assert str(tmp_path) not in text
    assert answer(read_project(text), "bound", there) == first


def test_the_command_runs_in_a_shell(tmp_path: Path) -> None:
    project = list_projects(tmp_path)["shop"]
    command = write_command(project, "bound", Folder(tmp_path))
    assert command is not None
    spelled = command.replace("boundit", f"{sys.executable} -m boundit", 1)
    ran = subprocess.run(
        f"{spelled} --json",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    rows = json.loads(ran.stdout)["rows"]
    assert {row["Ad kind"] for row in rows} == {"A", "B, large"}


def test_other_parts_say_what_their_commands_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project, folder = list_projects(tmp_path)["external"], Folder(tmp_path)

    def take(part: TakePart) -> Any:
        return run_command(take_part(project, part, folder).command)

    assert answer(project, "identify", tmp_path)["formula"] == take("identify")["formula"]
    checked, said = answer(project, "check", tmp_path), take("check")
    assert [s["p"] for s in checked["findings"]] == [f["p"] for f in said["findings"]]
    assert take("choose")["sure"]
    stressed, report = answer(project, "stress", tmp_path), take("stress")
    assert [i["width_after"] for i in stressed["items"]] == [
        each["mean_width"] for each in report["edges"]
    ]
    assert "graph" in take("graph") or take("graph")["nodes"]
    for part in ("graph", "identify", "check", "choose"):
        assert run_python(take_part(project, part, folder).python)["printed"]
    written = run_command(take_part(project, "report", folder).command)
    assert written["rows"]
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_suggestions_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = make_small(tmp_path)
    shown = answer(asked, "suggest", tmp_path)
    taken = take_part(asked, "suggest", Folder(tmp_path))

    found = run_command(taken.command)
    assert [i["width_after"] for i in shown["items"]] == [s["width"] for s in found["steps"]]
    assert shown["width"] == found["width"]
    about = {item["kind"]: item for item in shown["items"]}
    assert about["edge"]["edge"] == {"tail": "X", "head": "Y", "kind": "<->"}
    assert [edge["tail"] for edge in about["edge"]["lit"]["edges"]] == ["U", "U"]
    assert about["trial"]["edge"] is None


def test_policies_lose_what_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    how = SimulateSettings(rounds=100, runs=2, policies=("UCB", "UCB-PCB"))
    project = replace(make_small(tmp_path), simulate=how)
    shown = answer(project, "simulate", tmp_path)
    taken = take_part(project, "simulate", Folder(tmp_path))

    played = run_command(taken.command)
    assert [p["mean"] for p in shown["policies"]] == [p["mean"] for p in played["policies"]]
    assert set(shown["curves"]) == set(how.policies)
    assert shown["caveats"] == []
    assert run_python(taken.python)["printed"].startswith(
        "5 environments: 10 runs of 100 rounds"
    )

    other = replace(project, settings=replace(project.settings, selection_rate=0.5))
    taken = take_part(other, "simulate", Folder(tmp_path))
    assert taken.command is None
    assert taken.note
    assert "selection_rate=0.5" in taken.python


@pytest.mark.parametrize(
    "data",
    [
        DataSource(file="a.csv", levels={"X": ("a,b",)}),
        DataSource(file="a.csv", levels={"X": ("1",)}),
        DataSource(file="a.csv", columns={"X=1": "x"}),
    ],
)
def test_what_flags_cannot_say_is_python_alone(data: DataSource, tmp_path: Path) -> None:
    query = ProjectQuery(outcome="Y", treatments=("X",))
    taken = take_part(Project(query=query, data=data), "check", Folder(tmp_path))

    assert taken.command is None
    assert taken.note == "No command says all that is set here; the Python does."
    assert "bd.check(graph, log)" in taken.python


def test_a_part_that_is_missing_is_refused_with_its_place(tmp_path: Path) -> None:
    cases: tuple[tuple[TakePart, str], ...] = (("bound", "query"), ("check", "data.file"))
    for part, where in cases:
        with refused("refused") as caught:
            take_part(Project(), part, Folder(tmp_path))
        assert caught.value.where == where


def test_names_are_quoted_as_queries_read_them() -> None:
    query = ProjectQuery(outcome="my Y", treatments=("do",), context=('6" pipe', "Z"))

    written = write_question(query)
    assert written is not None
    assert bd.parse_query(written) == EffectQuery(("my Y",), ("do",), ('6" pipe', "Z"))
