"""Every page's Python runs in a folder of its own, with the data and the pharmacy's example."""  # noqa: INP001

import shutil
from pathlib import Path

import pytest

from boundit.cli.init import make_example

DATA = Path(__file__).parent / "data"
collect_ignore = ["guides/service.md"]
"""Pages that start a server: tests/docs/test_commands.py plays them with their commands."""
WARNS = "data.md"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Ibis warn of much that is not ours."""
    for item in items:
        if item.path.name == WARNS:
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``boundit init pharmacy`` writes is there, and what a page saves goes with it."""
    shutil.copytree(DATA, tmp_path / "data")
    (tmp_path / "pharmacy").mkdir()
    for name, text in make_example().items():
        (tmp_path / "pharmacy" / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
