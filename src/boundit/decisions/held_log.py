"""A log that is read once for many questions: grouped by all columns, and answered from the cells.

The rows are read twice: to see how many values the columns have, and to group them by all columns
of few values. Narrower groupings are added up from these cells; what they cannot answer is asked
of the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from boundit.counts.levels import Codes, Levels, encode_column
from boundit.counts.log import Log
from boundit.counts.named_array import Floats, find_distinct
from boundit.counts.sources import (
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    Source,
    aggregate_by_group,
    choose_aggregates,
    limit_cells,
)

MOST_VALUES = 100  # a column of more is read from the rows when it is asked for
MOST_OUTCOMES = 10  # an outcome of so few values is a column to group by too, for tests
_EXTREMES = {"least_weight": "min", "lowest": "min", "most_weight": "max", "highest": "max",
             "part_weight": "max"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class HeldSource:
    """Rows, and the cells of one wide grouping of them, each taken ``times`` times."""

    source: Source
    plan: GroupBy
    cells: Cells
    n_levels: Mapping[str, int]
    times: int = 1

    @property
    def label(self) -> str:
        """What messages call the source of rows."""
        return self.source.label

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The columns, and what each holds."""
        return self.source.kinds

    def group(self, plan: GroupBy) -> Cells:
        """Add up the cells by fewer keys, or ask the rows where that cannot be."""
        if not self._may_answer(plan):
            return self.source.group(plan)
        places = [self.plan.keys.index(key) for key in plan.keys]
        codes = np.array([self._coded[i][1] for i in places], dtype=np.int64)
        first, group = find_distinct(
            codes.reshape(len(places), len(self.cells["lines"])).T,
            [len(self._coded[i][0]) for i in places],
        )
        flags = {f"flag_{i}": flag for i, flag in enumerate(plan.flags)}
        added = dict[str, Floats]()
        for name in choose_aggregates(plan):
            numbers = self._count_ones(flags[name]) if name in flags else self.cells[name]
            how = _EXTREMES.get(name, "sum")
            times = self.times if how == "sum" else 1
            added[name] = times * aggregate_by_group(numbers, how, group, len(first))
        keys = [self._read_key(i, codes[k][first]) for k, i in enumerate(places)]
        return Cells(tuple(keys), added)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the values of each column."""
        unknown = [name for name in columns if name not in self.n_levels]
        counted = self.source.count_levels(unknown) if unknown else []
        found = {**self.n_levels, **dict(zip(unknown, counted, strict=True))}
        return [found[name] for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is not a number, for a message."""
        return self.source.find_oddity(column)

    def _may_answer(self, plan: GroupBy) -> bool:
        held = self.plan
        return (
            all(plan.cuts.get(key) == held.cuts.get(key) for key in plan.keys)
            and {*plan.keys, *plan.flags} <= {*held.keys}
            and held.cuts.keys().isdisjoint(plan.flags)
            and plan.reward in {None, held.reward}
            and plan.weight == held.weight
        )

    @cached_property
    def _coded(self) -> list[tuple[Levels, Codes]]:
        pairs = zip(self.plan.keys, self.cells.keys, strict=True)
        return [encode_column(name, column) for name, column in pairs]

    def _read_key(self, place: int, codes: Codes) -> Column:
        levels = self._coded[place][0]
        if all(type(level) is int and abs(level) < 2**62 for level in levels):
            return np.array(levels, dtype=np.int64)[codes]
        return [levels[code] for code in codes]

    def _count_ones(self, flag: str) -> Floats:
        levels, codes = self._coded[self.plan.keys.index(flag)]
        is_one = np.array([level == 1 for level in levels], dtype=np.bool_)
        return np.where(is_one[codes], self.cells["lines"], 0.0)


def hold_log(
    log: Log,
    variables: Iterable[str],
    *,
    outcome: str,
    cluster: str | None = None,
    memory_limit: int | None = None,
) -> Log:
    """Group a log once by all ``variables``, and make a log that answers from these cells.

    Columns of many values are left to the rows, and so is all of it where the cells would not
    fit into ``memory_limit`` bytes.

    >>> from boundit.counts.log import read_log
    >>> log = hold_log(read_log({"X": [0, 1, 1], "Y": [1, 0, 1]}), ["X", "Y"], outcome="Y")
    >>> log.count(["X"]).n
    array([1., 2.])
    """
    kinds, names = log.source.kinds, log.names
    if outcome not in names or not kinds[names[outcome]].may_be_summed:
        return log  # which says so when it is counted
    held = [name for name in dict.fromkeys(variables) if name in names]
    held = [name for name in held if kinds[names[name]] is not ColumnKind.NESTED]
    plain = [name for name in held if name not in log.bins]
    counted = log.source.count_levels([names[name] for name in plain]) if plain else []
    n_levels = dict(zip(plain, counted, strict=True))
    most = {outcome: MOST_OUTCOMES}
    kept = [name for name in held if n_levels.get(name, 0) <= most.get(name, MOST_VALUES)]
    by = [*(names[name] for name in kept), *log.find_cluster(cluster, outcome)]
    plan = GroupBy(
        keys=tuple(dict.fromkeys(by)),
        cuts={names[name]: log.bins[name] for name in kept if name in log.bins},
        reward=names[outcome],
        weight=log.weight,
        most_cells=limit_cells(len(by), memory_limit),
        memory_limit=memory_limit,
    )
    cells = log.source.group(plan)
    if len(cells["lines"]) > plan.most_cells:
        return log
    by_column = {names[name]: n for name, n in n_levels.items()}
    return replace(log, source=HeldSource(log.source, plan, cells, by_column))


def repeat_rows(log: Log, times: int) -> Log | None:
    """The same log as if every row had come so many times; None where it is not held."""
    if log.exact or not isinstance(log.source, HeldSource):
        return None
    return replace(log, source=replace(log.source, times=times))
