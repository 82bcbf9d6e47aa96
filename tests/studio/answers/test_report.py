from pathlib import Path

import pytest

from tests.studio.projects import answer, list_projects


def test_the_page_names_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = answer(list_projects(tmp_path)["pharmacy"], "report", tmp_path)

    assert found["name"] == "pharmacy.html"
    assert found["html"].startswith("<!doctype html>")
    assert "boundit bound" in found["html"]
    assert "boundit-examples/pharmacy.csv" in found["html"]
