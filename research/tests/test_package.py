"""The second package: how its commands are found, and what it needs to be installed."""

import ast
import re
import subprocess
import sys
import tomllib

import click

from boundit.cli.main import app
from tests.docs.pages import ROOT

HELP = """
import sys
from boundit.cli.main import main
try:
    main(["--help"])
finally:
    loaded = {name.partition(".")[0] for name in sys.modules}
    print(sorted({"boundit_research", "numba", "numpy"} & loaded))
"""


def test_help_names_its_commands_and_loads_none() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", HELP], capture_output=True, text=True, check=True
    )

    assert ran.stdout.endswith("  audit, reproduce, study\n[]\n")


def test_its_commands_are_found_by_name() -> None:
    for name in ("audit", "reproduce", "study"):
        command = app.get_command(click.Context(app), name)
        assert command is not None
        assert (command.name, name in app.commands) == (name, False)


def test_it_needs_what_the_package_and_its_figures_need_and_nothing_else() -> None:
    """So that the paper is reproduced without what only tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = tomllib.loads((ROOT / "research" / "pyproject.toml").read_text(encoding="utf-8"))
    assert own["project"]["dependencies"] == ["boundit[plot]"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    installed = {re.split(r"[^\w-]", line)[0] for line in needed} | {"boundit"}
    used = set()
    for path in (ROOT / "research" / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                used.add(node.module.split(".")[0])

    assert used - set(sys.stdlib_module_names) - {"boundit_research"} <= installed
