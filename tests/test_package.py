"""The package as a whole: its names, what it depends on, its layers."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import boundit

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_all_is_exactly_what_can_be_imported() -> None:
    """A name is listed once, in the stub of the package or of its part."""
    stubs = (Path(boundit.__file__).parent).glob("**/__init__.pyi")
    for stub in stubs:
        package = import_module(
            ".".join(("boundit", *stub.relative_to(ROOT / "src/boundit").parts[:-1]))
        )
        assert sorted(package.__all__) == package.__all__
        for name in package.__all__:
            assert getattr(package, name).__module__.startswith("boundit.")
        assert set(package.__all__) <= set(dir(package))


def test_declared_packages_are_those_in_use() -> None:
    """Every outside import of the package is declared, and nothing unused is installed."""
    project = PROJECT["project"]
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                used.add(node.module.split(".")[0])
    outside = used - set(sys.stdlib_module_names) - {"boundit"}
    imported_as = {"scikit-learn": "sklearn"}
    core, extras = (
        {imported_as.get(one, one.replace("-", "_")) for one in names}
        for names in (core, extras)
    )

    assert core <= outside <= core | extras


def test_the_command_line_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "boundit", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("boundit ")


def test_the_diagram_of_layers_is_the_import_contract() -> None:
    """CONTRIBUTING draws the layers by hand, from the top down."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (diagram,) = re.findall(r"```mermaid\n(.*?)```", page, re.DOTALL)
    drawn = [re.findall(r"\w+", part) for part in re.findall(r"\[([^\]]+)\]", diagram)]
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    layers = [re.findall(r"\w+", layer) for layer in contract]

    assert drawn == [layer for layer in layers if layer != ["__main__"]]
