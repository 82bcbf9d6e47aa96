from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.simulation.errors import InvalidSimulation
from boundit.studio.errors import RefusedRequest
from boundit.studio.project import SimulateSettings
from tests.studio.projects import answer, make_small


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
    assert found["sentence"].startswith(f"{best['policy']} loses least")
    assert found["caveats"] == [
        "the confounding limits: not used here; environments are fitted to the log alone"
    ]


def test_unknown_policies_and_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_small(tmp_path)
    with pytest.raises(RefusedRequest):
        answer(replace(project, simulate=SimulateSettings(policies=())), "simulate", tmp_path)
    asked = replace(project, simulate=SimulateSettings(policies=("UBC",)))
    with pytest.raises(InvalidSimulation):
        answer(asked, "simulate", tmp_path)
