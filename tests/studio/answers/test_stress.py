from pathlib import Path

import pytest

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
