"""A study that goes on where it was interrupted."""

import json
from pathlib import Path
from typing import Any

import pytest

from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.simulate import simulate
from boundit_research.online import log_study
from boundit_research.online.log_study import LogStudySettings, OtherStudy, run_log_study

SMALL: dict[str, Any] = {
    "groups": ("flipped",),
    "points": (500, 2_000),
    "runs": 3,
    "settings": LogStudySettings(rounds=40),
}


def test_every_world_and_length_has_its_policies() -> None:
    heard = list[tuple[int, int]]()
    study = run_log_study(**SMALL, progress=lambda *at: heard.append(at))

    whole = 6 * len(log_study.POLICIES)
    assert heard[-1] == (whole, whole)
    assert [(row.points, row.policy) for row in study.rows()] == [
        (n, name) for n in (500, 2_000) for name in log_study.POLICIES
    ]
    assert "flipped, 2,000 points; 3 runs" in str(study)
    assert json.loads(json.dumps(study.record(), allow_nan=False))["rounds"] == 40
    wrong = run_log_study(**SMALL | {"groups": ("wrong",), "policies": ("LinUCB-PCB",)})
    assert len({row.group for row in wrong.rows()}) == 7


def test_a_study_goes_on_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was played when Ctrl-C came is kept, also within a world."""
    path, played = tmp_path / "logs.json", list[str]()
    whole = run_log_study(**SMALL)
    all_played = [name for _ in SMALL["points"] for name in log_study.POLICIES]

    def stop(*given: Any, **options: Any) -> Any:
        if len(played) == 3:
            raise KeyboardInterrupt
        played.extend(given[1])
        return simulate(*given, **options)

    monkeypatch.setattr(log_study, "simulate", stop)
    with pytest.raises(KeyboardInterrupt):
        run_log_study(**SMALL, path=path)
    assert played == all_played[:3]
    played.clear()
    with pytest.raises(KeyboardInterrupt):
        run_log_study(**SMALL, path=path)
    assert played == all_played[3:6]
    played.clear()
    monkeypatch.setattr(log_study, "simulate", simulate)
    assert run_log_study(**SMALL, path=path).regrets == whole.regrets
    monkeypatch.setattr(log_study, "simulate", stop)
    assert run_log_study(**SMALL, path=path).regrets == whole.regrets
    assert not played


def test_a_crash_loses_no_more_than_the_last_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written while the study goes on, not only when it ends."""
    path, seen = tmp_path / "logs.json", list[int]()

    def look(*given: Any, **options: Any) -> Any:
        kept = json.loads(path.read_text())["regrets"] if path.exists() else []
        seen.append(sum(len(one["finals"]) for one in kept))
        return simulate(*given, **options)

    monkeypatch.setattr(log_study, "simulate", look)
    monkeypatch.setattr(log_study, "KEEP_SECONDS", 0.0)
    run_log_study(**SMALL, policies=("LinUCB-PCB",), path=path)
    assert seen == [0, 1, 2, 3]


def test_each_group_may_have_runs_of_its_own() -> None:
    options = SMALL | {"groups": ("paper", "flipped"), "points": (500,), "policies": ()}
    study = run_log_study(**options | {"runs": {"paper": 2, "flipped": 4}})

    assert [(row.group, row.runs) for row in study.rows()] == [("paper", 2), ("flipped", 4)]


def test_nobody_plays_where_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_study, "simulate", pytest.fail)
    with pytest.raises(InvalidSimulation, match="no policy is called"):
        run_log_study(**SMALL, policies=("LinUCB-PCB", "GLUES"))


def test_an_added_policy_plays_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, played = tmp_path / "logs.json", list[tuple[str, ...]]()
    few = run_log_study(**SMALL, policies=("LinUCB-PCB",), path=path)

    def note(*given: Any, **options: Any) -> Any:
        played.append(tuple(given[1]))
        return simulate(*given, **options)

    monkeypatch.setattr(log_study, "simulate", note)
    more = run_log_study(**SMALL, policies=("LinUCB-PCB", "TS-PCB"), path=path)

    assert played == [("TS-PCB",)] * 2
    assert more.regrets[0].finals["LinUCB"] == few.regrets[0].finals["LinUCB"]
    assert more.regrets == run_log_study(**SMALL, policies=("LinUCB-PCB", "TS-PCB")).regrets


def test_another_study_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    run_log_study(**SMALL, policies=(), path=path)

    for other in ({"seed": 1}, {"rounds": 41}, {"observed": 0.5}):
        settings = LogStudySettings(**{"rounds": 40} | other)
        with pytest.raises(OtherStudy, match=r"keeps a study of 40 rounds, seed 0, .* not of"):
            run_log_study(**SMALL | {"settings": settings}, path=path)
    path.write_text('{"rounds": 3}')
    with pytest.raises(InvalidSimulation, match="keeps no study of logs"):
        run_log_study(**SMALL, path=path)
