"""The package as its source says: every function, every class, and who mentions whom."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "boundit"
_CALLER = re.compile(r"(?i:called|used|read) by ((?:``[\w.]+``(?:,| and| or|, and)? ?)+)")


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method: where it stands, what it is called, what its docstring says."""

    path: str
    qualname: str
    docstring: str
    decorators: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The class it is a method of, or nothing."""
        return self.qualname.rpartition(".")[0]

    @property
    def summary(self) -> str:
        """The first sentence of its docstring, on one line."""
        paragraph = " ".join(self.docstring.partition("\n\n")[0].split())
        return re.split(r"(?<=[.;])\s", paragraph)[0].rstrip(".;")

    @property
    def callers(self) -> tuple[str, ...]:
        """Who calls it, as its docstring says."""
        text = " ".join(self.docstring.split())
        return tuple(
            name
            for found in _CALLER.findall(text)
            for name in re.findall(r"``([\w.]+)``", found)
        )


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that stands in the code of a function, or of a module outside any function.

    ``home`` is the file it comes from, by the imports of the file it stands in; None for what
    comes after a dot, unless a module stands before it.
    """

    path: str
    inside: str
    name: str
    home: str | None

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.path}::{self.inside}"


class Source:
    """All functions and classes of a package, and every mention of a name in its code."""

    def __init__(self, package: Path = PACKAGE) -> None:
        self.functions: list[Function] = []
        self.classes: list[tuple[str, str]] = []
        self.mentions: list[Mention] = []
        self.folders: dict[str, list[str]] = defaultdict(list)
        self._forwarded = _read_forwarded(package)
        for path in sorted(package.rglob("*.py")):
            where = path.relative_to(package)
            if where.name != "__init__.py":
                self.folders[where.parent.as_posix()].append(where.name)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self._read(tree, where.as_posix(), (), _read_imports(tree), is_function=False)

    def _read(
        self,
        node: ast.AST,
        path: str,
        inside: tuple[str, ...],
        imports: Mapping[str, tuple[str, str]],
        *,
        is_function: bool,
    ) -> None:
        """Take in the definitions and mentions below a node of a file's syntax tree."""
        for child in ast.iter_child_nodes(node):
            within, below = inside, is_function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                within = (*inside, child.name)
                if not is_function:  # one inside a function belongs to that function
                    self.functions.append(_read_function(child, path, ".".join(within)))
                below = True
            elif isinstance(child, ast.ClassDef):
                within = (*inside, child.name)
                self.classes.append((path, ".".join(within)))
            elif isinstance(child, ast.Name):
                home, name = imports.get(child.id, (path, child.id))
                self.mentions.append(Mention(path, ".".join(inside), name, home))
            elif isinstance(child, ast.Call) and (forwarded := self._find_forwarded(child)):
                name, home = forwarded
                self.mentions.append(Mention(path, ".".join(inside), name, home))
            elif isinstance(child, ast.Attribute):
                module = _find_module(child.value, imports)
                self.mentions.append(Mention(path, ".".join(inside), child.attr, module))
            self._read(child, path, within, imports, is_function=below)

    def _find_forwarded(self, call: ast.Call) -> tuple[str, str] | None:
        """Find the function that a value asks a later room for, and its file."""
        match call:
            case ast.Call(ast.Name("find_forwarded"), [ast.Constant(str(name))]):
                return name, self._forwarded[name]
            case _:
                return None

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str], Function]:
        """Every function by its path and name."""
        return {(each.path, each.qualname): each for each in self.functions}

    @cached_property
    def _by_name(self) -> Mapping[str, list[Mention]]:
        """The mentions of each name."""
        found = defaultdict[str, list[Mention]](list)
        for mention in self.mentions:
            found[mention.name].append(mention)
        return found

    def list_callers(self, function: Function) -> list[str]:
        """List the places outside a function that mention it, and so may call it.

        A method is mentioned by whatever names it after a dot, whichever class was meant.
        """
        own = f"{function.path}::{function.qualname}"
        return sorted(
            {
                mention.place
                for mention in self._by_name.get(function.name, ())
                if mention.place != own
                and mention.home == (None if function.owner else function.path)
            }
        )

    def list_false_callers(self) -> Iterator[str]:
        """List what docstrings say of callers that the code does not bear out."""
        for function in self.functions:
            places = self.list_callers(function)
            for caller in function.callers:
                if not any(_is_within(place.partition("::")[2], caller) for place in places):
                    yield f"{function.path} {function.qualname}: not called by {caller}"

    def list_unreached(self, is_root: Callable[[Function], bool]) -> list[str]:
        """List the functions that nothing leads to: no root, no other function that is reached.

        Code outside functions is reached when its module is; a special method with its class.
        """
        waiting = {
            f"{each.path}::{each.qualname}": self.list_callers(each)
            for each in self.functions
            if not (is_root(each) or each.name.startswith("__"))
        }
        while True:
            reached = {
                name
                for name, places in waiting.items()
                if any(self._leads(place, waiting) for place in places)
            }
            if not reached:
                return sorted(waiting)
            waiting = {name: found for name, found in waiting.items() if name not in reached}

    @staticmethod
    def _leads(place: str, waiting: Mapping[str, object]) -> bool:
        """Tell whether code at a place is reached; called by ``list_unreached``."""
        path, _, inside = place.partition("::")
        parts = inside.split(".")
        return not any(
            f"{path}::{'.'.join(parts[:i])}" in waiting for i in range(1, len(parts) + 1)
        )


def _read_forwarded(package: Path) -> dict[str, str]:
    """Map the functions that the package forwards to when imported to their files."""
    first = package / "__init__.py"
    tree = ast.parse(first.read_text(encoding="utf-8") if first.exists() else "")
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                ast.Name("forward"), [ast.Constant(str(name)), ast.Constant(str(home))]
            ):
                found[name] = f"{home[8:].replace('.', '/')}.py"
            case _:
                pass
    return found


def _read_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, path: str, qualname: str
) -> Function:
    """Read a definition; called by ``Source._read``."""
    decorators = tuple(ast.unparse(each) for each in node.decorator_list)
    return Function(path, qualname, ast.get_docstring(node) or "", decorators)


def _find_module(value: ast.expr, imports: Mapping[str, tuple[str, str]]) -> str | None:
    """Find the file of the module that stands before a dot, if one does."""
    if not isinstance(value, ast.Name) or value.id not in imports:
        return None
    folder, name = imports[value.id]
    module = f"{folder.removesuffix('.py')}/{name}.py"
    return module if (PACKAGE / module).exists() else None


def _read_imports(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """Map the names that a file imports from the package to their files and names there."""
    return {
        alias.asname or alias.name: (f"{node.module[8:].replace('.', '/')}.py", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boundit.")
        for alias in node.names
        if node.module
    }


def _is_within(place: str, caller: str) -> bool:
    """Tell whether a place in the code lies in a caller, which may be named in part."""
    return re.search(rf"(^|\.){re.escape(caller)}($|\.)", place) is not None
