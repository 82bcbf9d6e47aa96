"""A log: rows somewhere, and the rules by which they are counted, when they are."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import get_args

from duckdb import DuckDBPyRelation

from boundit.core.errors import DataError, OptionError
from boundit.core.message import ANY, Option
from boundit.core.names import ADAPTIVE_COLUMN, sort_names
from boundit.core.public_names import refuse_renamed
from boundit.counts.errors import MissingColumn, NotACategory, NotNumeric
from boundit.counts.files import connect, find_files
from boundit.counts.frames import read_frame
from boundit.counts.sources import (
    ColumnKind,
    GroupBy,
    RelationSource,
    Source,
    limit_cells,
    read_columns,
)
from boundit.counts.table import CountTable
from boundit.counts.tabulate import Missing, Request, tabulate
from boundit.graph.implications import ask_by_name


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Rows to be counted, with the graph's names for its columns.

    Made by ``read_log``. ``count`` makes the one pass over the rows, on the engine that holds
    them, and brings back only the contingency table.

    >>> from boundit.counts.log import read_log
    >>> log = read_log({"x": [0, 1, 1], "Y": [True, False, True]}, columns={"X": "x"})
    >>> print(log)
    a log of X, Y in the dict of columns
    >>> log.count(["X"], reward="Y").sum_rewards("X").values
    array([1., 1.])
    """

    source: Source
    renamed: Mapping[str, str]
    weight: str | None
    exact: bool
    bins: Mapping[str, Sequence[float]]
    missing: Missing
    adaptive: bool = False

    def __post_init__(self) -> None:
        """Check the schema: whatever the rules name is there and of the right kind."""
        kinds = self.source.kinds
        if not kinds:
            raise DataError(f"Nothing to count in {self.source.label}: it has no columns")
        for column in (*self.renamed.values(), self.weight):
            if column is not None and column not in kinds:
                raise MissingColumn(column, kinds, is_node=False)
        if self.weight is not None:
            self._check_may_be_summed(self.weight, self.weight, "weight")
        for name in self.bins:
            if name not in self.names:
                raise MissingColumn(name, self.names)
            self._check_may_be_summed(name, self.names[name], "binned column")

    @cached_property
    def names(self) -> dict[str, str]:
        """From the graph's name of each column to its name in the source of rows."""
        nodes = {column: node for node, column in self.renamed.items()}
        hidden = (self.renamed.keys() - nodes.keys()) | {self.weight, ADAPTIVE_COLUMN}
        kept = [column for column in self.source.kinds if column not in hidden]
        return {nodes.get(column, column): column for column in kept}

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables that can be counted, by the graph's names; the weight is none of them."""
        return tuple(self.names)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of any number from this log should know, such as cuts into bins.

        For users; tables counted from the log carry these and more in their own caveats.
        """
        return tuple(map(_warn_of_bins, self.bins))

    def describe(self) -> str:
        """Say in one line what is logged, where, and how it is counted.

        It is also what ``str`` and ``repr`` of a log show.
        """
        rules = [
            f"weighted by {self.weight}" if self.weight else "",
            "as an exact distribution" if self.exact else "",
            f"{', '.join(self.bins)} in bins" if self.bins else "",
            "written while a policy learned" if self.adaptive else "",
            f"missing={self.missing!r}" if self.missing != "drop" else "",
        ]
        shown = [f"a log of {', '.join(self.columns)} in {self.source.label}", *rules]
        return ", ".join(filter(None, shown))

    __str__ = __repr__ = describe

    def count(
        self,
        variables: Iterable[str],
        *,
        reward: str | None = None,
        selection: str | None = None,
        domain: Mapping[str, Sequence[object]] | None = None,
        unmarked: Collection[str] = (),
        cluster: str | None = None,
        measured: Collection[str] = (),
        memory_limit: int | None = None,
    ) -> CountTable:
        """Count every combination of values of ``variables``, in one pass over the rows.

        ``reward`` is a numeric or boolean column that is added up in the same pass, not
        counted. If the log has a column ``selection``, it must be 1 in every row. ``domain``
        adds levels to those seen. ``unmarked`` are nodes that may be an unmarked
        selection node; the table's caveats ask about one that is 1 in every row. ``cluster`` is a
        column whose rows belong together, in the graph or not: the table then says in
        ``clusters`` how often each of them fell into each cell. ``measured`` are variables that
        are not categories, each value of which counts as it is. Of distinct rows, no more are
        brought back than fit into ``memory_limit`` bytes. The table keeps the order of
        ``variables``.
        """
        names, kinds = self.names, self.source.kinds
        asked = self._list_variables(variables)
        selection = selection if selection in names else None
        if selection is not None:
            self._check_may_be_summed(selection, names[selection], "selection")
        if reward is not None:
            if reward in asked:
                msg = f"{reward!r} is both counted and added up; leave it out of the variables"
                raise OptionError(msg)
            if reward in self.bins:
                msg = f"the outcome {reward!r} is a number; take it out of bins"
                raise OptionError(msg, option="bins")
            if reward not in names:
                raise MissingColumn(reward, names)
            self._check_may_be_summed(reward, names[reward], "reward")
        by_cluster = () if cluster is None else self.find_cluster(cluster, reward)
        plain = {ColumnKind.NUMBERS, ColumnKind.BOOLEANS}
        suspects = [n for n in sort_names(unmarked) if n in names and kinds[names[n]] in plain]
        flags = tuple(suspects) if selection is None else (selection,)
        cuts = {name: self.bins[name] for name in asked if name in self.bins}
        plan = GroupBy(
            keys=(*(names[name] for name in asked), *by_cluster),
            cuts={names[name]: edges for name, edges in cuts.items()},
            reward=None if reward is None else names[reward],
            weight=self.weight,
            flags=tuple(names[name] for name in flags),
            most_cells=limit_cells(len(asked) + len(by_cluster), memory_limit),
            memory_limit=memory_limit,
        )
        request = Request(
            label=self.source.label,
            variables=asked,
            reward=reward,
            weight=self.weight,
            selection=selection,
            flags=flags,
            exact=self.exact,
            missing=self.missing,
            cuts=cuts,
            domain=domain or {},
            notes=(
                *map(_warn_of_bins, cuts),
                *(ask_by_name(unmarked, names) if unmarked else ()),
            ),
            most_cells=plan.most_cells,
            cluster=cluster,
            adaptive=self.adaptive,
            measured=frozenset(measured),
        )
        return tabulate(self.source.group(plan), request)

    def count_levels(self, variables: Iterable[str]) -> dict[str, int]:
        """Look how many values each variable has, in one cheap pass; large numbers are guesses.

        A variable in bins has as many as there are bins, whatever the rows hold.
        """
        asked = self._list_variables(variables)
        binned = {name: len(self.bins[name]) + 1 for name in asked if name in self.bins}
        seen = [name for name in asked if name not in binned]
        found = self.source.count_levels([self.names[name] for name in seen])
        return dict(zip(seen, found, strict=True)) | binned

    def find_cluster(self, cluster: object, reward: str | None = None) -> tuple[str, ...]:
        """Find the column of clusters in the source, or refuse what cannot be one.

        A tuple of that column, or of none where no cluster is asked for.
        """
        if cluster is None:
            return ()
        if not isinstance(cluster, str):
            msg = f"a cluster is the name of a column, found {cluster!r}"
            raise OptionError(msg, option="cluster")
        if cluster not in self.names:
            raise MissingColumn(cluster, self.names, is_node=False)
        wrong = {
            cluster == reward: "is the reward",
            cluster in self.bins: "is cut into bins",
            self.exact: "has no meaning for an exact distribution, which has no rows",
        }
        if True in wrong:
            message = (
                f"the cluster {cluster!r} {wrong[True]}; name a column such as a user's id"
            )
            raise OptionError(message, option="cluster")
        if self.source.kinds[self.names[cluster]] is ColumnKind.NESTED:
            raise NotACategory(cluster, ColumnKind.NESTED.value)
        return (self.names[cluster],)

    def _list_variables(self, variables: Iterable[str]) -> tuple[str, ...]:
        """List the variables to count once each; refuse one without a column of categories."""
        if isinstance(variables, str):
            variables = (variables,)
        # A set has no order of its own, and an answer may not depend on hashes.
        in_turn = sort_names(variables) if isinstance(variables, Set) else variables
        asked = tuple(dict.fromkeys(in_turn))
        for name in asked:
            if name not in self.names:
                raise MissingColumn(name, self.names, may_hide=True)
            if self.source.kinds[self.names[name]] is ColumnKind.NESTED:
                raise NotACategory(name, ColumnKind.NESTED.value)
        return asked

    def _check_may_be_summed(self, name: str, column: str, role: str) -> None:
        """Refuse a weight or reward column without numbers, with an example where there is one."""
        kind = self.source.kinds[column]
        if not kind.may_be_summed:
            # A file with a header and no rows holds no numbers either.
            if not self.source.group(GroupBy(()))["lines"].sum():
                raise DataError(f"Nothing to count in {self.source.label}: it has no rows")
            odd = self.source.find_oddity(column) if kind is ColumnKind.TEXT else None
            raise NotNumeric(name, role, kind.value, odd and str(odd))


def _warn_of_bins(name: str) -> str:
    """Say of a variable cut into bins that the graph must hold for the bins."""
    return (
        f"{name} was cut into bins; the graph must hold for the binned {name}, "
        "and within a bin it may still confound"
    )


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
        The weights are an exact distribution: any non-negative numbers, which are made to sum to 1.
    bins
        ``{"Age": [18, 30, 50]}`` cuts a numeric column into categories named by their
        interval, from ``"< 18"`` to ``">= 50"``. The graph must then hold for the bins.
    missing
        Rows with a null or NaN in a column in use: ``"drop"`` counts and drops them and says
        so in the caveats, ``"level"`` makes null a level of its own, ``None``, and
        ``"error"`` is an error.
    adaptive
        The rows were written by a policy that learned meanwhile, so that how often an arm was
        tried depends on its rewards. Bounds then take intervals that hold all the same, and
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
            raise OptionError(msg)
        return source
    if missing not in get_args(Missing):
        raise OptionError(
            Option("missing", missing), " is not a rule; use 'drop', 'level' or 'error'"
        )
    if exact and weight is None:
        given, column = Option("exact", True), Option("weight", ANY)  # noqa: FBT003, a value
        raise OptionError(given, " needs ", column, ", the column of probabilities")
    cuts = {
        name: _read_edges(name, edges) for name, edges in _read_mapping("bins", bins).items()
    }
    renamed = {node: str(column) for node, column in _read_mapping("columns", columns).items()}
    if len(set(renamed.values())) < len(renamed):
        raise OptionError("two nodes share a column in ", Option("columns", renamed))
    opened = _open_source(source)
    marked = ADAPTIVE_COLUMN in opened.kinds
    if marked and adaptive is False:
        raise OptionError(
            f"the column {ADAPTIVE_COLUMN!r} says that a policy learned while it wrote this "
            "log; leave out ",
            Option("adaptive", False),  # noqa: FBT003, a value
        )
    learned = marked if adaptive is None else adaptive
    if exact and learned:
        option = Option("adaptive", True)  # noqa: FBT003, a value
        raise OptionError(
            "an exact distribution was not written row by row; leave out ", option
        )
    return Log(opened, renamed, weight, exact, cuts, missing, learned)


def _open_source(source: object) -> Source:
    """Make a source of rows of what the user gave: paths, a relation, a dict, a frame."""
    kinds = {(base.__module__.split(".")[0], base.__name__) for base in type(source).__mro__}
    match source:
        case str() | Path():
            return find_files(source)
        case list() | tuple() if all(isinstance(path, str | Path) for path in source):
            return find_files(source)
        case DuckDBPyRelation():
            return RelationSource(source)
        case dict():
            return read_columns(source)
        case _ if ("pyarrow", "Dataset") in kinds:
            return RelationSource(connect().from_arrow(source), "the PyArrow dataset")
        case _:
            return read_frame(source)


def _read_mapping(option: str, value: object) -> Mapping[str, object]:
    """Return an option's value if it is a mapping, or refuse it by the option's name."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        example = {"bins": "{'Age': [18, 30]}", "columns": "{'node': 'column'}"}[option]
        raise OptionError(
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
        raise OptionError(found, " must be numbers that increase, as 18, 30, 50 do")
    return numbers
