from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.studio.projects import answer, make_small


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
    assert any("hidden confounding are not used" in caveat for caveat in found["caveats"])
    assert all(item["cost"] for item in found["items"])
