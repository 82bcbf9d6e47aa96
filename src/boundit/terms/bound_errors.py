"""What can be wrong with a table of bounds, or with what it is asked."""

from collections.abc import Sequence

from boundit.terms.errors import BounditError, shorten
from boundit.terms.message import ANY, Message, Option


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
