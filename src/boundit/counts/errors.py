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
        has = f" (columns: {shorten(join_names(self.known), 80) or 'none'})"
        said = [f"The data have no column {name!r}{'' if near else has}."]
        if near:
            said.append(f" Did you mean {near[0]!r}?")
        node = write_name(name)
        hide = f", or write 'hidden {node}' in the graph if {name} is unmeasured"
        column = Option("columns", {name: near[0] if near else SOME})
        mapped = (" Map it with ", column, hide if may_hide else "", ".") if is_node else ()
        super().__init__(*said, *mapped)


class NotACategory(DataError):
    """A column whose values cannot be levels."""

    def __init__(self, name: str, held: str) -> None:
        self.name, self.held = name, held
        super().__init__(
            f"{name!r} holds {held}. A category is a whole number, text, a boolean or a date."
        )


class TooManyCells(DataError):
    """A table with nearly as many cells as a log has rows."""


class ClustersDiffer(DataError):
    """Clusters that cannot be counted once, since their rows are not alike."""

    def __init__(self, name: str, n: int, n_clusters: int, read: Sequence[str]) -> None:
        self.name, self.n, self.n_clusters = name, n, n_clusters
        super().__init__(
            f"{n:,} of {n_clusters:,} clusters by {name!r} have rows that differ in "
            f"{shorten(join_names(read))}, but exact inference counts a cluster as one row. Use ",
            Option("inference", "approximate"),
            ".",
            option="cluster",
        )


class NotNumeric(DataError):
    """A column that is to be added up but holds no numbers."""

    def __init__(self, name: str, role: str, held: str, such_as: str | None = None) -> None:
        self.name, self.role, self.held, self.such_as = name, role, held, such_as
        odd = f" such as {such_as}" if such_as else ""
        what = "outcome" if role == "reward" else role
        super().__init__(
            f"The {what} {name!r} holds {held}{odd}, which cannot be added up. Write numbers or "
            "booleans, and nothing where one is missing."
        )


class TooLarge(DataError):
    """A dense table that would not fit; ``option`` is the limit that it would not fit in."""

    def __init__(
        self, names: Iterable[str], size: int, limit: int, *, option: str | None = None
    ) -> None:
        self.names, self.size = tuple(names), size
        wanted = f"A dense table over {shorten(join_names(self.names))} has {size:,} cells, "
        fix = "Ask for fewer variables or levels"
        if option is None:
            super().__init__(f"{wanted}more than {limit:,}. {fix}.")
        else:
            more = Message(Option(option), f" allows {limit:,}. {fix}, or raise it.")
            super().__init__(wanted, more, option=option)


def refuse_infinite(name: str, role: str) -> DataError:
    """Say that a number is infinite."""
    return DataError(f"The {role} {name!r} is infinite in some rows. Correct or filter them.")


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
