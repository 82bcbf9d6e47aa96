"""Habits as programs: the house is as its documents say."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from radon.complexity import cc_visit
from tools.house.source import Function, Source
from tools.reference import list_public_names

import boundit
from tests.error_tree import write_page

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "boundit"
MODULES = [
    name
    for _, name, is_package in pkgutil.walk_packages(boundit.__path__, "boundit.")
    if not is_package and not name.endswith("__main__")
]
SOURCE = Source()
THEATRE = frozenset(
    [
        "backstage",
        "board",
        "cast",
        "coin",
        "contest",
        "course",
        "desk",
        "entrant",
        "guard",
        "lineup",
        "offer",
        "player",
        "roster",
        "scene",
        "seat",
        "seated",
        "sheet",
        "showing",
        "sight",
        "stage",
        "staged",
        "teller",
        "telling",
        "told",
    ]
)
"""Words that once named parts of the house, and said nothing to a stranger."""
VERBS = frozenset(
    ["embed", "exceed", "feed", "heed", "need", "proceed", "seed", "shed", "speed", "succeed"]
)
"""Words that end as participles do and are none."""


def test_every_module_has_a_test_file_of_its_name() -> None:
    missing = []
    for module in MODULES:
        _, *folders, name = module.split(".")
        path = PACKAGE.joinpath(*folders, f"{name}.py")
        body = ast.parse(path.read_text()).body
        if not any(isinstance(part, ast.FunctionDef | ast.ClassDef) for part in body):
            continue  # names for types, or numbers as printed: nothing to run
        if not (ROOT / "tests").joinpath(*folders, f"test_{name}.py").exists():
            missing.append(module)
    assert missing == []


def test_no_class_name_occurs_twice() -> None:
    names = Counter(qualname.rpartition(".")[2] for _, qualname in SOURCE.classes)

    assert [name for name, count in names.items() if count > 1] == []


def test_no_folder_has_more_than_twenty_modules() -> None:
    assert [folder for folder, files in SOURCE.folders.items() if len(files) > 20] == []


def test_no_function_is_above_twelve_by_radon() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for block in cc_visit(path.read_text(encoding="utf-8")):
            parts = [block, *getattr(block, "methods", ())]
            found += [
                f"{path.name} {part.name} {part.complexity}"
                for part in parts
                if part.complexity > 12 and part.letter != "C"
            ]
    assert found == []


def test_every_function_says_what_it_is_for() -> None:
    silent = [
        f"{each.path} {each.qualname}"
        for each in SOURCE.functions
        if not each.docstring
        and not each.name.startswith("__")
        and "overload" not in each.decorators
    ]
    assert silent == []


def test_callers_that_docstrings_name_are_real() -> None:
    assert list(SOURCE.list_false_callers()) == []


def test_names_are_words_of_the_field() -> None:
    found = [
        f"{path} {name}"
        for path, name in [
            *((each.path, each.name) for each in SOURCE.functions),
            *((path, qualname.rpartition(".")[2]) for path, qualname in SOURCE.classes),
            *(
                (f"{folder}/{name}", name)
                for folder, names in SOURCE.folders.items()
                for name in names
            ),
        ]
        if THEATRE & set(_split_words(name.removesuffix(".py")))
    ]
    assert found == []


def test_functions_are_named_by_verbs_not_participles() -> None:
    """What users call keeps the name it was published under."""
    found = [
        f"{each.path} {each.qualname}"
        for each in SOURCE.functions
        if each.name.lstrip("_").split("_")[0].endswith("ed")
        and each.name.lstrip("_").split("_")[0] not in VERBS
        and not any("property" in decorator for decorator in each.decorators)
        and not _is_public(each)
    ]
    assert found == []


def test_nothing_is_reached_by_tests_alone() -> None:
    assert SOURCE.list_unreached(_is_root) == []


def test_the_house_is_drawn_and_walked_as_it_is() -> None:
    """After a change of calls or imports, ``make house`` writes docs/house.md anew."""
    ran = subprocess.run(
        [sys.executable, "-m", "tools.house", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_all_is_exactly_what_can_be_imported() -> None:
    """A name is listed once, in the stub of the package or of its room."""
    rooms = (boundit.bandit, boundit.bounds, boundit.estimand, boundit.graph, boundit.service)
    for package in (boundit, *rooms):
        assert sorted(package.__all__) == package.__all__
        for name in package.__all__:
            assert getattr(package, name).__module__.startswith("boundit.")
        assert set(package.__all__) <= set(dir(package))


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


def _split_words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())


@cache
def _list_public() -> frozenset[tuple[str, str]]:
    """What users call: public functions, and methods with those they inherit."""
    found = set()
    for name in list_public_names():
        value = attrgetter(name)(boundit)
        for part in value.__mro__ if inspect.isclass(value) else (value,):
            # A value such as LOGGED is no function.
            if part.__module__.startswith("boundit.") and hasattr(part, "__qualname__"):
                path = f"{part.__module__[8:].replace('.', '/')}.py"
                found.add((path, part.__qualname__))
    return frozenset(found)


def _is_public(function: Function) -> bool:
    if (function.path, function.qualname) in _list_public():
        return True
    return (function.path, function.owner) in _list_public() and function.name[0] != "_"


def _is_root(function: Function) -> bool:
    """What is called from outside: by users, by a shell, by a library that we hand it to."""
    if _is_public(function) or any("command" in each for each in function.decorators):
        return True
    if function.name == "_repr_html_":  # notebooks call it
        return True
    if not function.owner:
        return False
    module = import_module(f"boundit.{function.path.removesuffix('.py').replace('/', '.')}")
    owner = module
    for part in function.owner.split("."):
        owner = getattr(owner, part)
    foreign = [base for base in owner.__mro__ if not base.__module__.startswith("boundit")]
    return any(hasattr(base, function.name) for base in foreign)
