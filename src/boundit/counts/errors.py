"""What can be wrong with a log: each a class that writes its own one-line message."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from boundit.core.errors import BounditError, shorten
from boundit.core.message import ANY, SOME, Message, Option
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


class InvalidLog(BounditError):
    """Something that cannot be read or counted as a log."""


class UnknownSource(InvalidLog):
    """Something that is neither files nor a frame."""

    def __init__(self, found: object) -> None:
        kind = type(found)
        package = kind.__module__.split(".")[0]
        self.kind = kind.__name__ if package == "builtins" else f"{package}.{kind.__qualname__}"
        super().__init__(
            f"cannot read a log from {self.kind}; give paths of Parquet or CSV files, a frame "
            "(pandas, Polars, PyArrow, DuckDB relation, PySpark, Ibis), or a dict of columns"
        )


class NoFiles(InvalidLog):
    """A path or pattern that leads to no data."""

    def __init__(self, pattern: str, reason: str) -> None:
        self.pattern, self.reason = pattern, reason
        super().__init__(f"no log at {pattern!r}: {reason}")


class MixedFiles(InvalidLog):
    """Files of two kinds, which have no common schema."""

    def __init__(self, one: str, other: str) -> None:
        self.one, self.other = one, other
        super().__init__(
            f"{one!r} and {other!r} are of different kinds; "
            "give files of one kind, such as 'logs/*.parquet'"
        )


class InvalidOption(InvalidLog):
    """An argument of ``read_log`` or ``count`` that makes no sense."""


class MissingColumn(InvalidLog):
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


class SameName(InvalidLog):
    """Columns of a file that differ in nothing but case."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name
        super().__init__(
            f"{path!r} has several columns called {name!r}, or that differ from it only in "
            "case; rename all but one"
        )


class NotACategory(InvalidLog):
    """A column whose values cannot be levels."""

    def __init__(self, name: str, held: str) -> None:
        self.name, self.held = name, held
        super().__init__(
            f"{name!r} holds {held}; a category is a whole number, text, a boolean or a date"
        )


class Continuous(InvalidLog):
    """A measurement where a category was meant."""

    def __init__(self, name: str, n_levels: int, *, rows: int, numeric: bool) -> None:
        self.name, self.n_levels, self.rows = name, n_levels, rows
        what = "looks continuous" if numeric else "looks like an identifier"
        cut = Option("bins", {name: [SOME]})
        super().__init__(
            f"{name!r} {what}: {n_levels:,} levels in {rows:,} rows; ",
            Message("cut it with ", cut, " (the graph must then hold for the bins)")
            if numeric
            else "group its values first, or leave it out of the graph",
        )


class TooManyCells(InvalidLog):
    """A table with nearly as many cells as a log has rows."""

    def __init__(self, limit: int, widest: Sequence[tuple[str, int]]) -> None:
        self.limit, self.widest = limit, tuple(widest)
        shown = ", ".join(f"{name!r} ({n:,} levels or more)" for name, n in widest)
        super().__init__(
            f"the log has more than {limit:,} distinct rows; widest are {shown}: "
            "leave them out, or cut them with ",
            Option("bins", ANY),
        )


class TooManyClusters(TooManyCells):
    """A table with more cells than fit, once they are cut up by cluster."""

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit, self.widest = name, limit, ()
        InvalidLog.__init__(
            self,
            f"cut up by the cluster {name!r}, the log has more than {limit:,} distinct rows, "
            "which do not fit; raise ",
            Option("memory_limit"),
            ", or take clusters of more rows each",
        )


class ClustersDiffer(InvalidLog):
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


class NotNumeric(InvalidLog):
    """A column that is to be added up but holds no numbers."""

    def __init__(self, name: str, role: str, held: str, such_as: str | None = None) -> None:
        self.name, self.role, self.held, self.such_as = name, role, held, such_as
        odd = f" such as {such_as}; write numbers, and nothing where one is missing"
        shown = f"{held}{odd if such_as else ''}"
        super().__init__(f"{role} {name!r} must be numeric or boolean; it holds {shown}")


class NoReward(InvalidLog):
    """Sums asked of a table that was counted without a reward."""

    def __init__(self) -> None:
        super().__init__(
            "the table holds no reward; count with ", Option("reward", ANY), " to add one up"
        )


class NotFinite(InvalidLog):
    """A reward or weight that is infinite."""

    def __init__(self, name: str, role: str) -> None:
        self.name, self.role = name, role
        super().__init__(f"{role} {name!r} is infinite in some rows; correct or filter them")


class BadWeight(InvalidLog):
    """Weights that count nothing."""

    def __init__(self, name: str, problem: str, fix: str | Message) -> None:
        self.name, self.problem = name, problem
        super().__init__(f"weight {name!r} {problem}; ", fix, option="weight")


class HasNulls(InvalidLog):
    """Nulls where the log's rule has no place for them."""

    def __init__(self, name: str, n: int, rows: int, fix: Message) -> None:
        self.name, self.n, self.rows = name, n, rows
        super().__init__(f"{name!r} is null or NaN in {n:,} of {rows:,} rows; ", fix)


class EmptyLog(InvalidLog):
    """A log without a row to count."""

    def __init__(self, label: str, reason: str) -> None:
        self.label = label
        super().__init__(f"nothing to count in {label}: {reason}")


class NotAllSelected(InvalidLog):
    """A log that also holds rows that were not selected."""

    def __init__(self, name: str, n: int, rows: int) -> None:
        self.name, self.n, self.rows = name, n, rows
        super().__init__(
            f"selection {name!r} is not 1 in {n:,} of {rows:,} rows; "
            f"filter the log to {name} = 1 and pass the rest as ",
            Option("external", ANY),
        )


class TooLarge(InvalidLog):
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


class LevelsClash(InvalidLog):
    """One level written in two types."""

    def __init__(self, name: str, one: object, other: object) -> None:
        self.name, self.one, self.other = name, one, other
        super().__init__(
            f"{name!r} has both {one!r} and {other!r} as levels; "
            "give its values one type in the log, the external tables and the domain"
        )


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
