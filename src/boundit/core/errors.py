"""Errors that several packages raise; others stand beside the functions that raise them.

Each is a class that writes its own message: lower case, one line, without a full stop: what is
wrong, where, and what would work. The facts stay on the error, so that a program can read them
too; so does the option it is about, which the command line spells as its flag.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from os import PathLike

from boundit.core.message import ANY, Message, Option
from boundit.core.names import join_names, sort_names, write_name


class BounditError(Exception):
    """The root: catch this to catch everything boundit refuses.

    ``option`` is the option of the library that the error is about, where it is about one: the
    first that ``message`` names, unless told otherwise.
    """

    def __init__(self, *parts: str | Option | Message, option: str | None = None) -> None:
        self.message = Message(*parts)
        self.option = option or self.message.option
        super().__init__(str(self.message))


class InvalidGraph(BounditError):
    """Something that cannot be a causal graph."""


class MalformedText(InvalidGraph):
    """Text that is not a graph in its format."""

    def __init__(self, reason: str, *, line: int, column: int) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(f"line {line}, column {column}: {reason}")


class MalformedRecord(InvalidGraph):
    """JSON that is well formed but no graph."""

    def __init__(self, key: str, expected: str, found: object) -> None:
        self.key, self.expected = key, expected
        where = f"key {key!r} of the graph" if key else "the graph"
        shown = shorten(json.dumps(found, default=repr), 40)
        super().__init__(f"{where} must be {expected}, found {shown}")


class UnknownKey(InvalidGraph):
    """A key that means nothing here, so its writer meant something else."""

    def __init__(self, key: str, known: Sequence[str]) -> None:
        self.key = key
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
        super().__init__(f"a graph has no key {shorten(key, 40)!r}; {hint}")


class NotCausal(InvalidGraph):
    """A networkx graph whose parts have no causal reading."""


class InvalidName(InvalidGraph):
    """A name that cannot be written down and read back."""

    def __init__(self, name: object) -> None:
        self.name = name
        super().__init__(
            f"{shorten(repr(name))} cannot name a node; "
            "a name is printable text without blanks at its ends"
        )


class NotAnEdge(InvalidGraph):
    """Something other than a pair of names where an edge was to be."""

    def __init__(self, found: object) -> None:
        shown = shorten(repr(found), 40)
        super().__init__(f"an edge is a pair of names such as ('X', 'Y'), found {shown}")


class EmptyGraph(InvalidGraph):
    """A graph that says nothing of any observed variable."""

    def __init__(self, reason: str = "it has no nodes") -> None:
        super().__init__(f"the graph is empty: {reason}; write at least one, as in 'X -> Y'")


class HasCycle(InvalidGraph):
    """Causes that chase each other."""

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        shown = " -> ".join(map(write_name, cycle))
        super().__init__(
            f"the graph has a cycle: {shorten(shown)}; a cause precedes its effect"
        )


class SelfLoop(InvalidGraph):
    """An edge from a node to itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{write_name(name)} has an edge to itself; remove it")


class SelectionHasChildren(InvalidGraph):
    """A selection node that causes something."""

    def __init__(self, selection: str, children: Iterable[str]) -> None:
        self.selection, self.children = selection, sort_names(children)
        super().__init__(
            f"the selection node {write_name(selection)} has an edge to "
            f"{shorten(', '.join(map(write_name, self.children)))}; "
            "being logged happens last and causes nothing"
        )


class TwoSelectionNodes(InvalidGraph):
    """More than one selection node."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sort_names(names)
        super().__init__(
            f"the graph marks {len(self.names)} selection nodes, "
            f"{shorten(', '.join(map(write_name, self.names)))}; "
            "a row is logged or not: give one node the parents of all of them"
        )


class HiddenSelection(InvalidGraph):
    """A selection node that is declared unobserved."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{write_name(name)} is marked both hidden and selection; "
            "every logged row shows that it was selected"
        )


class UnknownNode(InvalidGraph):
    """A question names a variable the graph does not have."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        self.name, self.known = name, sort_names(known)
        near = get_close_matches(name, self.known, n=1) or [
            k for k in self.known if k.casefold() == name.casefold()
        ]
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else f"it has {shorten(join_names(self.known))}"
        )
        super().__init__(f"the graph has no node {name!r}; {hint}")


class InvalidQuery(BounditError):
    """A question that makes no sense."""


class MalformedQuery(InvalidQuery):
    """Text that is not a query."""

    def __init__(self, text: str, reason: str, *, column: int) -> None:
        self.text, self.reason, self.column = text, reason, column
        super().__init__(
            f"query {shorten(text)!r}, column {column}: {reason}; "
            "a query reads like 'Y | do(X), Z'"
        )


class RepeatedVariable(InvalidQuery):
    """A variable named twice in the same role."""

    def __init__(self, name: str, role: str) -> None:
        self.name, self.role = name, role
        super().__init__(f"{name!r} is named twice among the {role}; name it once")


class OverlappingRoles(InvalidQuery):
    """A variable in two roles that exclude each other."""

    def __init__(self, name: str, first: str, second: str) -> None:
        self.name, self.first, self.second = name, first, second
        super().__init__(
            f"{name!r} is {first} and {second} at once; it can only be one of them"
        )


class InvalidLimit(BounditError):
    """An option of ``derive_bounds`` or ``check`` that makes no sense."""


class OutOfTime(BounditError):
    """Work that was given up because the time for it is over."""

    def __init__(self) -> None:
        super().__init__(Option("time_limit"), " is over", option="time_limit")


class UnreadableFile(BounditError):
    """A file that cannot be opened or decoded."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"cannot read {self.path!r}: {reason}")


class NotText(BounditError):
    """Something other than text where text was to be read."""

    def __init__(self, what: str, found: object, hint: str) -> None:
        self.what = what
        super().__init__(f"a {what} is read from text, found {type(found).__name__}; {hint}")


class NotAGraph(BounditError):
    """Something other than a graph where a graph was to be."""

    def __init__(self, found: object) -> None:
        self.found = found
        if isinstance(found, str | PathLike):
            how = f"{shorten(str(found), 60)!r} looks like a file; open it with read_graph"
        else:
            how = (
                f"found {type(found).__name__}; give a CausalGraph, its text such as 'X -> Y', "
                "or a networkx graph"
            )
        super().__init__(f"a graph is needed; {how}")


class UnknownFormat(BounditError):
    """A format name that is none of ours."""

    def __init__(self, name: object, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"no graph format {name!r}; there are {', '.join(known)}")


class MissingExtra(BounditError):
    """A feature whose optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(
            f"this needs {package}; install it with: pip install 'boundit[{extra}]'"
        )


_SECRET = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s]*(@)", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"([?&](?:ssl)?password=)[^&\s'\"]*", re.IGNORECASE)


class InvalidBounds(BounditError):
    """Something that cannot be a table of bounds."""


class ReservedName(InvalidBounds):
    """A variable that is called like a column of ours."""

    def __init__(self, name: str, reserved: Sequence[str]) -> None:
        self.name = name
        super().__init__(
            f"a variable cannot be called {name!r}: bound tables use {', '.join(reserved)} "
            "for their own columns; rename it with ",
            Option("columns", ANY),
        )


class MalformedRow(InvalidBounds):
    """A row that is no bound."""

    def __init__(self, row: int, reason: str) -> None:
        self.row, self.reason = row, reason
        super().__init__(f"row {row} of the bounds: {reason}")


class NotAKey(InvalidBounds):
    """A look-up that does not name an arm and a context."""

    def __init__(self, key: object) -> None:
        super().__init__(
            f"bounds are looked up by arm and context, as in bounds[(1, 0), (0,)], "
            f"found {shorten(repr(key), 60)}; without context it is bounds[arm, ()]"
        )


class WrongLength(InvalidBounds):
    """An arm or a context with too many or too few values."""

    def __init__(self, what: str, found: Sequence[object], names: Sequence[str]) -> None:
        self.what = what
        wanted = f"one value each for {', '.join(names)}" if names else "no values"
        super().__init__(f"the {what} {tuple(found)!r} must have {wanted}")


class OutsideDomain(InvalidBounds):
    """A value that the variable does not take."""

    def __init__(self, name: str, value: object, levels: Sequence[object]) -> None:
        self.name, self.value = name, value
        shown = shorten(" ".join(repr(value).split()), 60)
        near = [level for level in levels if str(level) == str(value)]
        hint = (
            Message(f"did you mean {near[0]!r} ({type(near[0]).__name__})?")
            if near
            else Message(
                f"it has {shorten(', '.join(map(repr, levels)))}; ",
                Option("domain", ANY),
                " declares others",
            )
        )
        super().__init__(
            f"{name!r} has no level {shown} ({type(value).__name__}); ", hint, option="domain"
        )


class DamagedFile(InvalidBounds):
    """A file that is no bound table, or no longer one."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{self.path!r} is no bound table of ours: {shorten(reason)}")


class CannotWrite(InvalidBounds):
    """A place that takes no file."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"cannot write {self.path!r}: {reason}")


class CannotSave(InvalidBounds):
    """A level that has no spelling in a file."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(
            f"{shorten(repr(value), 40)} ({type(value).__name__}) cannot be kept in a file; "
            "a level is a number, text, a boolean, a date or a time"
        )


def hide_password(text: str) -> str:
    """Replace the passwords of all addresses in a text by ``***``.

    >>> hide_password("--store postgresql://me:secret@host/db?sslpassword=x&a=b")
    '--store postgresql://me:***@host/db?sslpassword=***&a=b'
    """
    return _SECRET_OPTION.sub(r"\1***", _SECRET.sub(r"\1***\2", text))


def shorten(text: str, limit: int = 120) -> str:
    """Cut a long listing in an error message, so that the message stays one line."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."
