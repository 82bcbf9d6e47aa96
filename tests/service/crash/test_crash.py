import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def _run(store: str, kills: int) -> dict[str, Any]:
    arguments = ["--store", store, "--kills", str(kills), "--seed", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.service.crash", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.full
@pytest.mark.parametrize(("store", "kills"), [("sqlite", 5), ("postgres", 5)])
def test_engines_that_are_killed_lose_nothing_that_was_acknowledged(
    store: str, kills: int, request: pytest.FixtureRequest
) -> None:
    """``make crash-small`` does the same a hundred times, ``make crash`` a thousand times."""
    if store == "postgres":
        request.getfixturevalue("postgres_server")  # or it is said that there is none
    found = _run(store, kills)

    assert found["faults"] == []
    engines = ("kills", "kills_at_statements", "kills_before_answers")
    assert sum(found[name] for name in engines) + found["database_kills"] == kills
    assert found["acknowledged_decisions"] > 0
