from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.studio.drawing import read_drawing
from tests.studio.projects import answer, list_projects


def test_what_is_not_determined_shows_the_walk_that_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = list_projects(tmp_path)["pharmacy"]
    found = answer(project, "identify", tmp_path)

    assert not found["found"]
    assert "does not determine" in found["sentence"]
    walk = found["steps"][-1]["lit"]
    assert {"tail": "Illness", "head": "Kept", "kind": "->"} in walk["edges"]

    plain = replace(
        project, graph=read_drawing("Age -> Reminder -> Refill; Age -> Refill").graph
    )
    found = answer(plain, "identify", tmp_path)
    assert found["found"]
    assert found["formula"] == "P(Refill | Age, Reminder)"
    assert found["latex"]
