from pathlib import Path

import pytest
from msgspec.structs import replace

from boundit.studio.drawing import read_drawing
from tests.studio.projects import answer, list_projects


def test_statements_speak_of_missing_edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = list_projects(tmp_path)["pharmacy"]
    found = answer(project, "check", tmp_path)
    assert not found["contradicted"]
    assert found["sentence"].startswith("None of 2 tested implications contradicted")
    first = found["statements"][0]
    assert first["edge"] == {"tail": "Age", "head": "Reminder", "kind": "->"}
    assert first["words"].endswith("are independent among logged rows with the same Illness.")

    wrong = replace(project, graph=read_drawing("Age; Illness; Reminder -> Refill").graph)
    found = answer(wrong, "check", tmp_path)
    assert found["contradicted"]
    assert found["statements"][0]["verdict"] == "contradicted"
    assert found["statements"][0]["explanation"]
