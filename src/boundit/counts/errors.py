"""What can be wrong with a log: each a class that writes its own one-line message."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from boundit.core.errors import DataError, shorten
from boundit.core.message import SOME, Message, Option
from boundit.core.names import join_names, sort_names, write_name

# Of an engine's message: the data, and its plans.
_ECHOES = (
    "Original Line",
    "Resolved plan",
    "--->",
    "LINE ",
    "^",
    "Query was",
    "query:",
    "Try ",
)


class MissingColumn(DataError):
    """A variable for which the log has no column."""

    def __init__(
        self,
        name: str,
        known: Collection[str],
        *,
        is_node: bool = True,
        may_hide: bool = False,
    ) -> None:
        self.name, self.known = name, sort_names(known)
        near = get_close_matches(name, self.known, n=1) or [
            k for k in self.known if k.casefold() == name.casefold()
        ]
        has = shorten(join_names(self.known)) or "none"
        hint = f"did you mean {near[0]!r}?" if near else f"it has {has}"
        column = near[0] if near else SOME
        rename = Message(" (", Option("columns", {name: column}), " renames)")
        node = write_name(name)
        hide = (
            f"; in the graph, write 'hidden {node}' if nobody measured it, [{node}] if it says "
            "which rows were kept"
        )
        super().__init__(
            f"the log has no column {name!r}; {hint}",
            rename if is_node else "",
            hide if may_hide else "",
        )


class NotACategory(DataError):
    """A column whose values cannot be levels."""

    def __init__(self, name: str, held: str) -> None:
        self.name, self.held = name, held
        super().__init__(
            f"{name!r} holds {held}; a category is a whole number, text, a boolean or a date"
        )


class TooManyCells(DataError):
    """A table with nearly as many cells as a log has rows."""


class ClustersDiffer(DataError):
    """Clusters that cannot be counted once, since their rows are not alike."""

    def __init__(self, name: str, n: int, n_clusters: int, read: Sequence[str]) -> None:
        self.name, self.n, self.n_clusters = name, n, n_clusters
        super().__init__(
            f"{n:,} of {n_clusters:,} clusters by {name!r} have rows that differ in "
            f"{shorten(join_names(read))}; exact intervals can only count a cluster once, as "
            "one row: pass ",
            Option("inference", "approximate"),
            ", which takes clusters as they are",
            option="cluster",
        )


class NotNumeric(DataError):
    """A column that is to be added up but holds no numbers."""

    def __init__(self, name: str, role: str, held: str, such_as: str | None = None) -> None:
        self.name, self.role, self.held, self.such_as = name, role, held, such_as
        odd = f" such as {such_as}; write numbers, and nothing where one is missing"
        shown = f"{held}{odd if such_as else ''}"
        super().__init__(f"{role} {name!r} must be numeric or boolean; it holds {shown}")


class TooLarge(DataError):
    """A dense table that would not fit; ``option`` is the limit that it would not fit in."""

    def __init__(
        self, names: Iterable[str], size: int, limit: int, *, option: str | None = None
    ) -> None:
        self.names, self.size = tuple(names), size
        wanted = f"a dense table over {shorten(join_names(self.names))} has {size:,} cells, "
        fix = "ask for fewer variables or levels"
        if option is None:
            super().__init__(f"{wanted}more than {limit:,}; {fix}")
        else:
            more = Message(Option(option), f" allows {limit:,}; {fix}, or raise it")
            super().__init__(wanted, more, option=option)


def refuse_infinite(name: str, role: str) -> DataError:
    """Say that a number is infinite."""
    return DataError(f"{role} {name!r} is infinite in some rows; correct or filter them")


def shorten_error(error: Exception) -> str:
    r"""Shorten the message of an engine's error (DuckDB, a data frame library) to one line.

    >>> said = "CSV Error on Line: 3\nOriginal Line: 1,2,3\nToo many columns."
    >>> shorten_error(ValueError(said))
    'CSV Error on Line: 3; Too many columns'
    """
    lines = [" ".join(line.split()).removesuffix(".") for line in str(error).splitlines()]
    # Echoes of the data and headings of longer explanations say nothing by themselves.
    said = [s.rstrip(":") for s in lines if s and not s.startswith(_ECHOES)]
    return shorten("; ".join(said[:2]) or type(error).__name__, 200)
