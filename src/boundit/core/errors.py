"""Errors that several packages raise; others stand beside the functions that raise them.

Each is a class that writes its own message of one line: what is wrong, with the value; then
what to write instead. The facts stay on the error, so that a program can read them
too; so does the option it is about, which the command line spells as its flag.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from traceback import StackSummary, TracebackException

from boundit.core.message import ANY, Message, Option
from boundit.core.names import join_names, sort_names, write_name


class BounditError(Exception):
    """The root: catch this to catch everything boundit refuses.

    ``option`` is the option of the library that the error is about, where it is about one: the
    first that ``message`` names, by default.
    """

    def __init__(self, *parts: str | Option | Message, option: str | None = None) -> None:
        self.message = Message(*parts)
        self.option = option or self.message.option
        super().__init__(str(self.message))

    def _render_traceback_(self) -> list[str]:
        """Write what IPython shows of the error: the frames of the caller alone."""
        found = TracebackException.from_exception(self)
        ours = str(Path(__file__).parents[1]), f"{os.sep}IPython{os.sep}"
        frames = [at for at in found.stack if not any(part in at.filename for part in ours)]
        found.stack = StackSummary.from_list(frames)
        return "".join(found.format(chain=False)).splitlines()


class BounditWarning(UserWarning):
    """A critical caveat of a result: the answer may be wrong or empty for this reason."""


class GraphError(BounditError):
    """Something that cannot be a causal graph."""


class MalformedText(GraphError):
    """Text that is not a graph in its format."""

    def __init__(self, reason: str, *, line: int, column: int) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(f"line {line}, column {column}: {reason}")


class InvalidName(GraphError):
    """A name that cannot be written down and read back."""

    def __init__(self, name: object) -> None:
        self.name = name
        super().__init__(
            f"{shorten(repr(name))} cannot name a node. "
            "Write printable text without blanks at its ends."
        )


class EmptyGraph(GraphError):
    """A graph that says nothing of any observed variable."""

    def __init__(self, reason: str = "it has no nodes") -> None:
        super().__init__(
            f"The graph is empty: {reason}. Write at least one edge, as in 'X -> Y'."
        )


class HasCycle(GraphError):
    """Causes that chase each other."""

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        shown = " -> ".join(map(write_name, cycle))
        super().__init__(
            f"The graph has a cycle ({shorten(shown)}). Causes precede effects: remove an edge."
        )


class SelfLoop(GraphError):
    """An edge from a node to itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{write_name(name)} has an edge to itself. Remove it.")


class SelectionHasChildren(GraphError):
    """A selection node that causes something."""

    def __init__(self, selection: str, children: Iterable[str]) -> None:
        self.selection, self.children = selection, sort_names(children)
        super().__init__(
            f"The selection node {write_name(selection)} has an edge to "
            f"{shorten(', '.join(map(write_name, self.children)))}. "
            "Remove the edge: being logged happens last and causes nothing."
        )


class UnknownNode(GraphError):
    """A question names a variable the graph does not have."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        self.name, self.known = name, sort_names(known)
        near = get_close_matches(name, self.known, n=1) or [
            k for k in self.known if k.casefold() == name.casefold()
        ]
        hint = (
            f"Did you mean {near[0]!r}?"
            if near
            else f"It has {shorten(join_names(self.known))}."
        )
        super().__init__(f"The graph has no node {name!r}. {hint}")


class QueryError(BounditError):
    """A question that makes no sense."""


class OverlappingRoles(QueryError):
    """A variable in two roles that exclude each other."""

    def __init__(self, name: str, first: str, second: str) -> None:
        self.name, self.first, self.second = name, first, second
        super().__init__(
            f"{name!r} is {first} and {second} at once. Give it one of these roles."
        )


class DataError(BounditError):
    """Data that cannot be read or counted, or that do not fit what is asked."""


class OptionError(BounditError):
    """An option whose value makes no sense, or not together with others."""


class OutOfTime(BounditError):
    """Work that was given up because the time for it is over."""

    def __init__(self) -> None:
        super().__init__(Option("time_limit"), " is over", option="time_limit")


class UnreadableFile(BounditError):
    """A file that cannot be opened or decoded."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"cannot read {self.path!r}: {reason}")


class MissingExtra(BounditError):
    """A feature whose optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(
            f"This needs {package}. Install it with: pip install 'boundit[{extra}]'"
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
