from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from boundit.core.long_work import say_nothing
from boundit.simulation.errors import InvalidSimulation
from boundit.studio.answers import CountKeeper, choose_arms, derive, plain
from boundit.studio.ask import AskedProject
from boundit.studio.drawing import read_drawing
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Project, ProjectQuery, SimulateSettings
from boundit.studio.whatif import JobProgress, show_part
from tests.decisions.missing_edges import REFUTED, draw_refuting
from tests.studio.projects import answer, list_projects, make_small, refused


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rows_have_reasons_that_light_up_the_drawing(folder: Path) -> None:
    found = answer(list_projects(folder)["paper"], "bound", folder)
    row = found["rows"][0]
    (reason,) = row["reasons"]

    assert reason["rule"] == row["lower_rule"] == "worst case over I1"
    assert reason["title"] == "worst case over I1 (both bounds)"
    rule = found["rules"][reason["rule"]]
    assert rule["steps"][0]["words"]
    assert {"tail": "C1", "head": "I1", "kind": "->"} in rule["lit"]["edges"]
    assert "C1" in rule["lit"]["nodes"], "the hidden cause is lit, not the edge for it"
    assert row["ruled_out_by"] == [0, 1]


def test_the_answer_opens_with_effects(folder: Path) -> None:
    pharmacy = list_projects(folder)["pharmacy"]
    found = answer(pharmacy, "bound", folder)

    effects = found["effects"]
    assert effects["baseline"] == ["call"], "the arm with most rows"
    assert effects["summary"][0].startswith("Compared with call, letter decreases mean Refill")
    asked = replace(pharmacy, query=replace(pharmacy.query, baseline=("letter",)))
    effects = answer(asked, "bound", folder)["effects"]
    assert effects["baseline_name"] == "letter"
    first = effects["rows"][0]
    assert (first["arm"], first["context"]) == (["call"], ["older"])
    assert {row["direction"] for row in effects["rows"]} <= {"increase", "inconclusive"}
    assert found["summary"].splitlines()[0].startswith("older: call is best.")
    assert any("the domain" in caveat for caveat in found["caveats"])


def test_the_direction_of_better_turns_the_choice_and_no_number(folder: Path) -> None:
    pharmacy = list_projects(folder)["pharmacy"]
    small = replace(pharmacy, settings=replace(pharmacy.settings, goal="min"))
    more, less = (answer(each, "bound", folder) for each in (pharmacy, small))

    assert [row["lower"] for row in more["rows"]] == [row["lower"] for row in less["rows"]]
    assert less["summary"].startswith("Lower is better.")
    assert more["choice"] != less["choice"]


def test_an_end_that_nothing_narrows_says_so_and_what_would_help(folder: Path) -> None:
    project = list_projects(folder)["pharmacy"]
    text = "Reminder -> Refill; Refill -> [Kept]; Reminder <-> [Kept]; Refill <-> [Kept]; Age"
    open_ = replace(project, graph=read_drawing(text).graph)
    found = answer(open_, "bound", folder)

    assert {(row["lower"], row["upper"]) for row in found["rows"]} == {(0.0, 1.0)}
    (reason,) = found["rows"][0]["reasons"]
    assert reason["rule"] not in found["rules"]
    assert reason["title"] == "whole range (both bounds)"
    assert {row["direction"] for row in found["effects"]["rows"]} == {"inconclusive"}


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
    assert plain((1, "a", None, True, Path("x"))) == [1, "a", None, True, "x"]


def test_a_choice_is_made_where_bounds_are_there(folder: Path) -> None:
    asked = AskedProject(make_small(folder), Folder(folder))
    table = derive(asked, CountKeeper(), say_nothing)

    assert choose_arms(table) is not None


def test_statements_speak_of_missing_edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = list_projects(tmp_path)["pharmacy"]
    found = answer(project, "check", tmp_path)
    assert not found["contradicted"]
    assert found["verdict"].startswith("None of 2 tested implications contradicted")
    first = found["findings"][0]
    assert first["edge"] == {"tail": "Age", "head": "Reminder", "kind": "->"}
    assert first["statement"].endswith(
        "are independent among logged rows with the same Illness."
    )

    wrong = replace(project, graph=read_drawing("Age; Illness; Reminder -> Refill").graph)
    found = answer(wrong, "check", tmp_path)
    assert found["contradicted"]
    assert found["findings"][0]["status"] == "contradicted"
    assert found["findings"][0]["explanation"]


def test_what_is_not_determined_shows_the_walk_that_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = list_projects(tmp_path)["pharmacy"]
    found = answer(project, "identify", tmp_path)

    assert not found["identified"]
    walk = found["steps"][-1]["lit"]
    assert {"tail": "Illness", "head": "Kept", "kind": "->"} in walk["edges"]

    plain = replace(
        project, graph=read_drawing("Age -> Reminder -> Refill; Age -> Refill").graph
    )
    found = answer(plain, "identify", tmp_path)
    assert found["identified"]
    assert found["formula"] == "P(Refill | Age, Reminder)"


def test_the_graph_alone_tells_sets_paths_and_implications(folder: Path) -> None:
    text = "Z -> X -> M -> Y; Z -> Y; W -> X; U -> X; U -> M; hidden U"
    query = ProjectQuery(outcome="Y", treatments=("X",))
    asked = Project(graph=read_drawing(text).graph, query=query)
    found = answer(asked, "identify", folder)

    assert [path["words"] for path in found["causal_paths"]] == ["X -> M -> Y"]
    assert [path["words"] for path in found["biasing_paths"]] == [
        "X <- Z -> Y",
        "X <-> M -> Y",
    ]
    lit = found["biasing_paths"][1]["lit"]
    assert "U" in lit["nodes"], "the hidden cause is lit, not the edge for it"
    assert found["adjustment_sets"] == []
    assert found["implications"][0]["lit"]["nodes"]
    seen = answer(
        Project(graph=read_drawing("Z -> X -> Y; Z -> Y").graph, query=query),
        "identify",
        folder,
    )
    assert [each["words"] for each in seen["adjustment_sets"]] == ["Z"]


def test_parts_are_shown_to_whoever_wants_them() -> None:
    steps, parts = list[tuple[str, int, int]](), list[dict[str, Any]]()
    progress = JobProgress(lambda *step: steps.append(step), parts.append)

    progress("count", 1, 2)
    show_part(progress, {"n": 3})
    show_part(say_nothing, {"n": 4})

    assert steps == [("count", 1, 2)]
    assert parts == [{"n": 3}]


def test_the_page_names_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = answer(list_projects(tmp_path)["pharmacy"], "report", tmp_path)

    assert found["name"] == "pharmacy.html"
    assert found["html"].startswith("<!doctype html>")
    assert "boundit bound" in found["html"]
    assert "boundit-examples/pharmacy.csv" in found["html"]


def test_curves_have_bands_and_the_best_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    how = SimulateSettings(rounds=400, runs=2, policies=("UCB", "UCB-PCB"))
    project = make_small(tmp_path)
    asked = replace(
        project,
        simulate=how,
        settings=replace(project.settings, confounding_limit={"X <-> Y": 2.0}),
    )
    found = answer(asked, "simulate", tmp_path)

    for curve in found["curves"].values():
        assert len({len(part) for part in curve.values()}) == 1
        assert curve["rounds"][-1] == 400
        assert all(low <= high for low, high in zip(curve["low"], curve["high"], strict=True))
    best = min(found["policies"], key=lambda one: one["mean"])
    assert found["summary"].startswith(f"{best['policy']} has the least regret")
    assert found["caveats"] == [
        "the confounding limits: not used here; environments are fitted to the log alone"
    ]


def test_unknown_policies_and_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_small(tmp_path)
    with refused("refused"):
        answer(replace(project, simulate=SimulateSettings(policies=())), "simulate", tmp_path)
    asked = replace(project, simulate=SimulateSettings(policies=("UBC",)))
    with pytest.raises(InvalidSimulation):
        answer(asked, "simulate", tmp_path)


def test_missing_edges_are_ranked_with_widths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_small(tmp_path)
    found = answer(project, "stress", tmp_path)

    assert found["summary"]
    assert found["not_covered"]
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

    assert found["summary"].startswith("The data refute the graph: ")
    sentences = {item["sentence"] for item in found["items"]}
    assert "If Z affects Y, the data do not refute the graph." in sentences


def test_suggestions_say_how_wide_intervals_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_small(tmp_path)
    limited = replace(
        project, settings=replace(project.settings, confounding_limit={"X <-> Y": 2.0})
    )
    found = answer(limited, "suggest", tmp_path)

    widths = [item["width_after"] for item in found["items"]]
    assert widths == sorted(widths)
    assert all(width < found["width"] for width in widths)
    assert all(item["cost"] for item in found["items"])
