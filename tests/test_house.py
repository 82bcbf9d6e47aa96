"""Habits as programs: the house is as its documents say."""

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import boundit
from tests.error_tree import write_page

ROOT = Path(__file__).parents[1]
MODULES = [
    name
    for _, name, is_package in pkgutil.walk_packages(boundit.__path__, "boundit.")
    if not is_package and not name.endswith("__main__")
]


def test_every_module_has_a_test_file_of_its_name() -> None:
    missing = []
    for module in MODULES:
        _, *folders, name = module.split(".")
        path = (ROOT / "src" / "boundit").joinpath(*folders, f"{name}.py")
        body = ast.parse(path.read_text()).body
        if not any(isinstance(part, ast.FunctionDef | ast.ClassDef) for part in body):
            continue  # names for types, or numbers as printed: nothing to run
        if not (ROOT / "tests").joinpath(*folders, f"test_{name}.py").exists():
            missing.append(module)
    assert missing == []


def test_all_is_exactly_what_can_be_imported() -> None:
    assert sorted(boundit.__all__) == boundit.__all__
    for name in boundit.__all__:
        assert getattr(boundit, name).__module__.startswith("boundit.")
    assert set(boundit.__all__) <= set(dir(boundit))


def test_the_error_tree_is_drawn_whole() -> None:
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == write_page()


def test_declared_packages_are_those_in_use() -> None:
    """Every outside import of the package is declared, and nothing unused is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = re.compile(r"[\w-]+")
    core = {name.match(line)[0] for line in project["dependencies"]}  # type: ignore[index]
    extras = {
        name.match(line)[0]  # type: ignore[index]
        for extra, lines in project["optional-dependencies"].items()
        if extra not in {"bench", "docs", "test", "dev"}
        for line in lines
    }
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                used.add(node.module.split(".")[0])
    outside = used - set(sys.stdlib_module_names) - {"boundit"}

    assert core <= outside <= core | extras


def test_the_command_line_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "boundit", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("boundit ")
