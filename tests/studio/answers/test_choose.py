from pathlib import Path

import pytest

from tests.studio.projects import answer, list_projects


def test_each_context_has_its_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = answer(list_projects(tmp_path)["pharmacy"], "choose", tmp_path)

    assert [use["context"] for use in found["choice"]] == [["older"], ["younger"]]
    assert [use["known"] for use in found["choice"]] == [True, False]
    assert "confidence" in found["sure"]
