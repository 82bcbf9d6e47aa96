"""Public names that are listed once, in a package's stub, and loaded when first used.

A type checker reads ``__init__.pyi`` as it is: ``from boundit.graph.read import parse_graph as
parse_graph``. At run time the same lines say where each name is found, so that importing a
package imports none of what it offers.
"""

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, str] = MappingProxyType({})
_FORWARDED: dict[str, str] = {}


def forward(method: str, home: str) -> None:
    """Say in which module the function is that a method of the lowest room hands its work to.

    That room imports none above it, and the module is loaded when first asked for. Called when
    ``boundit`` is imported.
    """
    _FORWARDED[method] = home


def find_forwarded(method: str) -> Callable[..., Any]:
    """Find the function that a method hands its work to, and load its module."""
    found: Callable[..., Any] = getattr(import_module(_FORWARDED[method]), method)
    return found


def attach_names(
    package: str, file: str, *, hints: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub.

    So public names load their modules on first use. ``hints`` are old names, which are refused,
    and what to use instead. The rooms themselves load on first use too.
    """
    folder = Path(file).parent
    homes = _read_stub(folder / "__init__.pyi", package)

    def find(name: str) -> object:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        if (folder / name / "__init__.py").exists():
            return import_module(f"{package}.{name}")
        hint = f"; {hints[name]}" if name in hints else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")

    names = sorted(homes)
    rooms = sorted(init.parent.name for init in folder.glob("*/__init__.py"))
    return find, lambda: [*names, *rooms], names


def _read_stub(path: Path, package: str) -> dict[str, str]:
    """Read from a package's ``.pyi`` which module each public name is imported from.

    Subpackages that it lists are left out.
    """
    return {
        alias.name: node.module
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != package
        for alias in node.names
    }
