"""Commands that work on a log alone start without Numba, which takes a second to load."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from boundit.cli.init import init

QUERY = "Refill | do(Reminder), Age"
COMMANDS = [
    ["graph", "graph.txt"],
    ["identify", "graph.txt", QUERY],
    ["check", "graph.txt", "log.csv"],
    ["bound", "graph.txt", QUERY, "log.csv", "--report", "page.html", "--out", "bounds.json"],
    ["compare", "bounds.json", "--policy", "call", "--baseline", "letter"],
    ["choose", "graph.txt", QUERY, "log.csv"],
    ["stress", "graph.txt", QUERY, "log.csv", "--time-limit", "1"],
    ["suggest", "graph.txt", QUERY, "log.csv", "--time-limit", "1"],
]
CODE = """
import sys
sys.modules["numba"] = None  # an import of it raises
from boundit.cli.main import main
main(sys.argv[1:])
"""


def test_offline_commands_load_no_numba(tmp_path: Path) -> None:
    CliRunner().invoke(init, [str(tmp_path)], catch_exceptions=False)
    for words in COMMANDS:
        ran = subprocess.run(
            [sys.executable, "-c", CODE, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode in {0, 1}, f"{words[0]}: {ran.stderr}"
