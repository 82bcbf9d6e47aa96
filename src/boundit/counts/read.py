"""Open a log: files, frames or columns in, a ``Log`` out."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import get_args

from duckdb import DuckDBPyRelation

from boundit.counts.cells import Source
from boundit.counts.columns import read_columns
from boundit.counts.errors import InvalidOption
from boundit.counts.files import find_files, read_dataset
from boundit.counts.frames import read_frame
from boundit.counts.log import Log
from boundit.counts.relations import RelationSource
from boundit.counts.tabulate import Missing
from boundit.terms.message import ANY, Option
from boundit.terms.names import ADAPTIVE_COLUMN
from boundit.terms.renamed import refuse_renamed


@refuse_renamed
def read_log(
    source: object,
    *,
    columns: Mapping[str, str] | None = None,
    weight: str | None = None,
    exact: bool = False,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: Missing = "drop",
    adaptive: bool | None = None,
) -> Log:
    """Open a log and check its schema; rows are read when they are counted.

    Parameters
    ----------
    source
        Paths, patterns or directories of Parquet, CSV, JSON lines or Arrow files; a pandas,
        Polars, PyArrow, PySpark or Ibis frame, a DuckDB relation or a PyArrow dataset, which
        count on their own engine; a dict of columns; or a Log, which is returned as it is.
    columns
        ``{"node": "column"}``: the graph's names for columns that are called otherwise.
    weight
        A column that says how many rows each row stands for.
    exact
        The weights are an exact law: any non-negative numbers, which are made to sum to 1.
    bins
        ``{"Age": [18, 30, 50]}`` cuts a numeric column into categories named by their
        interval, from ``"< 18"`` to ``">= 50"``. The graph must then hold for the bins.
    missing
        Rows with a null or NaN in a column in use: ``"drop"`` counts and drops them and says
        so in the caveats, ``"level"`` makes null a level of its own, ``None``, and
        ``"error"`` is an error.
    adaptive
        The rows were written by a policy that learned meanwhile, so that how often an arm was
        tried hangs on what it earned. Bounds then take intervals that hold all the same, and
        leave out rules that read how arms were chosen. Unless given, it is so where the log has
        the column ``boundit_adaptive``, as the service writes it.

    Examples
    --------
    >>> log = read_log({"Age": [17, 30, 44, None], "n": [5, 1, 2, 3]}, weight="n",
    ...                bins={"Age": [18, 40]})
    >>> table = log.count(["Age"])
    >>> table.levels["Age"], table.n, dict(table.dropped)
    (('< 18', '[18, 40)', '>= 40'), array([5., 1., 2.]), {'Age': 3})
    """
    plain = (columns, weight, bins, missing) == (None, None, None, "drop")
    if isinstance(source, Log):
        if not plain or exact or adaptive is not None:
            msg = "the log is open already; give its options to the read_log that opened it"
            raise InvalidOption(msg)
        return source
    _check_rules(missing, weight, exact=exact)
    cuts = {
        name: _read_edges(name, edges) for name, edges in _read_mapping("bins", bins).items()
    }
    renamed = {node: str(column) for node, column in _read_mapping("columns", columns).items()}
    if len(set(renamed.values())) < len(renamed):
        raise InvalidOption("two nodes share a column in ", Option("columns", renamed))
    opened = _open_source(source)
    learned = _find_adaptive(opened, exact=exact, adaptive=adaptive)
    return Log(opened, renamed, weight, exact, cuts, missing, learned)


def _find_adaptive(source: Source, *, exact: bool, adaptive: bool | None) -> bool:
    """Find out whether a policy wrote the log while it learned; refuse what contradicts that."""
    marked = ADAPTIVE_COLUMN in source.kinds
    if marked and adaptive is False:
        raise InvalidOption(
            f"the column {ADAPTIVE_COLUMN!r} says that a policy learned while it wrote this "
            "log; leave out ",
            Option("adaptive", False),  # noqa: FBT003, a value
        )
    found = marked if adaptive is None else adaptive
    if exact and found:
        learned = Option("adaptive", True)  # noqa: FBT003, a value
        raise InvalidOption("an exact law was not written row by row; leave out ", learned)
    return found


def _check_rules(missing: Missing, weight: str | None, *, exact: bool) -> None:
    """Refuse rules for counting that there are not, or that do not go together."""
    if missing not in get_args(Missing):
        raise InvalidOption(
            Option("missing", missing), " is no rule; use 'drop', 'level' or 'error'"
        )
    if exact and weight is None:
        law, column = Option("exact", True), Option("weight", ANY)  # noqa: FBT003, a value
        raise InvalidOption(law, " needs ", column, ", the column that holds the law")


def _open_source(source: object) -> Source:
    """Make a source of rows of what the user gave: paths, a relation, a dict, a frame."""
    match source:
        case str() | Path():
            return find_files(source)
        case list() | tuple() if all(isinstance(path, str | Path) for path in source):
            return find_files(source)
        case DuckDBPyRelation():
            return RelationSource(source)
        case dict():
            return read_columns(source)
        case _ if _is_dataset(source):
            return read_dataset(source)
        case _:
            return read_frame(source)


def _is_dataset(source: object) -> bool:
    """Tell whether something is a dataset of PyArrow."""
    return any(
        base.__name__ == "Dataset" and base.__module__.split(".")[0] == "pyarrow"
        for base in type(source).__mro__
    )


def _read_mapping(option: str, value: object) -> Mapping[str, object]:
    """Return an option's value if it is a mapping, or refuse it by the option's name."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        example = {"bins": "{'Age': [18, 30]}", "columns": "{'node': 'column'}"}[option]
        raise InvalidOption(
            Option(option), f" must be a mapping such as {example}; found {value!r}"
        )
    return value


def _read_edges(name: str, edges: object) -> tuple[float, ...]:
    """Read the edges of one variable's bins: numbers that increase."""
    try:
        numbers = tuple(map(float, edges))  # type: ignore[call-overload]
    except (TypeError, ValueError):
        numbers = ()
    increasing = all(a < b for a, b in pairwise(numbers))
    if not numbers or not increasing or not all(map(isfinite, numbers)):
        found = Option("bins", {name: edges})
        raise InvalidOption(found, " must be numbers that increase, as 18, 30, 50 do")
    return numbers
