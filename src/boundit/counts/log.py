"""A log: rows somewhere, and the rules by which they are counted, when they are."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from boundit.counts.cells import ColumnKind, GroupBy, Source, limit_cells
from boundit.counts.errors import (
    EmptyLog,
    InvalidOption,
    MissingColumn,
    NotACategory,
    NotNumeric,
)
from boundit.counts.table import CountTable
from boundit.counts.tabulate import Missing, Request, tabulate
from boundit.counts.unmarked import ask_by_name
from boundit.terms.names import ADAPTIVE_COLUMN, sort_names


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Rows to be counted, with the graph's names for its columns.

    Made by ``read_log``. ``count`` makes the one pass over the rows, on the engine that holds
    them, and brings back only the contingency table.

    >>> from boundit.counts.read import read_log
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
            raise EmptyLog(self.source.label, "it has no columns")
        named = [*self.renamed.values(), *([self.weight] if self.weight is not None else [])]
        for column in named:
            if column not in kinds:
                raise MissingColumn(column, kinds, is_node=False)
        if self.weight is not None:
            self._check_may_be_summed(self.weight, self.weight, "weight")
        for name in self.bins:
            self._check_may_be_summed(name, self._find_column(name), "the binned column")

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
        return self._list_caveats(self.bins)

    def describe(self) -> str:
        """Say in one line what is logged, where, and how it is counted.

        It is also what ``str`` and ``repr`` of a log show.
        """
        rules = [
            f"weighted by {self.weight}" if self.weight else "",
            "as an exact law" if self.exact else "",
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
        adds levels to those seen. ``unmarked`` are nodes that may be a selection node nobody
        marked; the table's caveats ask about one that is 1 in every row. ``cluster`` is a
        column whose rows belong together, in the graph or not: the table then says in
        ``clusters`` how often each of them fell into each cell. ``measured`` are variables that
        are no categories, each value of which counts as it is. Of no more distinct rows are
        brought back than fit into ``memory_limit`` bytes. The table keeps the order of
        ``variables``.
        """
        asked = _list_once(variables)
        selection = selection if selection in self.names else None
        self._check_variables(asked, reward, selection)
        by_cluster = self.find_cluster(cluster, reward)
        flags = self._choose_flags(unmarked) if selection is None else (selection,)
        cuts = {name: self.bins[name] for name in asked if name in self.bins}
        plan = GroupBy(
            keys=(*(self.names[name] for name in asked), *by_cluster),
            cuts={self.names[name]: edges for name, edges in cuts.items()},
            reward=None if reward is None else self.names[reward],
            weight=self.weight,
            flags=tuple(self.names[name] for name in flags),
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
            notes=self._list_caveats(cuts) + ask_by_name(unmarked, self.names),
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
        asked = _list_once(variables)
        self._check_variables(asked, None, None)
        binned = {name: len(self.bins[name]) + 1 for name in asked if name in self.bins}
        seen = [name for name in asked if name not in binned]
        found = self.source.count_levels([self.names[name] for name in seen])
        return dict(zip(seen, found, strict=True)) | binned

    def _find_column(self, name: str, *, may_hide: bool = False) -> str:
        """Find the name that a variable's column has in the source, or raise MissingColumn."""
        if name not in self.names:
            raise MissingColumn(name, self.names, may_hide=may_hide)
        return self.names[name]

    def _check_variables(
        self, variables: Sequence[str], reward: str | None, selection: str | None
    ) -> None:
        """Refuse variables without a column, and a reward that cannot be added up."""
        for name in variables:
            if self.source.kinds[self._find_column(name, may_hide=True)] is ColumnKind.NESTED:
                raise NotACategory(name, ColumnKind.NESTED.value)
        if selection is not None:
            self._check_may_be_summed(selection, self.names[selection], "selection")
        if reward is None:
            return
        if reward in variables:
            msg = f"{reward!r} is both counted and added up; leave it out of the variables"
            raise InvalidOption(msg)
        if reward in self.bins:
            msg = f"the reward {reward!r} is a number; take it out of bins"
            raise InvalidOption(msg, option="bins")
        self._check_may_be_summed(reward, self._find_column(reward), "reward")

    def find_cluster(self, cluster: object, reward: str | None = None) -> tuple[str, ...]:
        """Find the column of clusters in the source, or refuse what cannot be one.

        A tuple of that column, or of none where no cluster is asked for.
        """
        if cluster is None:
            return ()
        if not isinstance(cluster, str):
            msg = f"a cluster is the name of a column, found {cluster!r}"
            raise InvalidOption(msg, option="cluster")
        if cluster not in self.names:
            raise MissingColumn(cluster, self.names, is_node=False)
        wrong = {
            cluster == reward: "is the reward",
            cluster in self.bins: "is cut into bins",
            self.exact: "has no meaning for an exact law, which has no rows",
        }
        if True in wrong:
            message = (
                f"the cluster {cluster!r} {wrong[True]}; name a column such as a user's id"
            )
            raise InvalidOption(message, option="cluster")
        if self.source.kinds[self.names[cluster]] is ColumnKind.NESTED:
            raise NotACategory(cluster, ColumnKind.NESTED.value)
        return (self.names[cluster],)

    def _choose_flags(self, names: Collection[str]) -> tuple[str, ...]:
        """Choose which of ``names``, possible selection nodes, have a column of numbers."""
        held = [name for name in sort_names(names) if name in self.names]
        plain = {ColumnKind.NUMBERS, ColumnKind.BOOLEANS}
        return tuple(n for n in held if self.source.kinds[self.names[n]] in plain)

    def _check_may_be_summed(self, name: str, column: str, role: str) -> None:
        """Refuse a weight or reward column without numbers, with an example where there is one."""
        kind = self.source.kinds[column]
        if not kind.may_be_summed:
            # A file with a header and no rows holds no numbers either.
            if not self.source.group(GroupBy(()))["lines"].sum():
                raise EmptyLog(self.source.label, "it has no rows")
            odd = self.source.find_oddity(column) if kind is ColumnKind.TEXT else None
            raise NotNumeric(name, role, kind.value, odd and str(odd))

    def _list_caveats(self, cut: Iterable[str]) -> tuple[str, ...]:
        """Say of each variable cut into bins that the graph must hold for the bins.

        Returns a line if there are any.
        """
        return tuple(
            f"{name} was cut into bins; the graph must hold for the binned {name}, "
            "and within a bin it may still confound"
            for name in cut
        )


def _list_once(variables: Iterable[str]) -> tuple[str, ...]:
    """List the variables to count once each, a set in sorted order so that answers repeat."""
    if isinstance(variables, str):
        return (variables,)
    # A set has no order of its own, and an answer may not depend on hashes.
    in_turn = sort_names(variables) if isinstance(variables, Set) else variables
    return tuple(dict.fromkeys(in_turn))
