"""The example of ``boundit init``, bounded by the command itself."""

from pathlib import Path

import pytest

from boundit.cli.main import main


def write_pharmacy(folder: Path) -> Path:
    """Write the example and give its folder."""
    with pytest.raises(SystemExit) as left:
        main(["init", str(folder / "pharmacy")])
    assert left.value.code == 0
    return folder / "pharmacy"


def bound_pharmacy(pharmacy: Path, *options: str) -> int:
    """Bound the example's question and give the exit code."""
    question = "Refill | do(Reminder), Age"
    files = str(pharmacy / "graph.txt"), question, str(pharmacy / "log.csv")
    with pytest.raises(SystemExit) as left:
        main(["bound", *files, *options])
    assert isinstance(left.value.code, int)
    return left.value.code
