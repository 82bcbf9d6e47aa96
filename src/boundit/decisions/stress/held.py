"""A log that was grouped once, by all columns that may be asked for, and answers from that.

Whoever asks one log many questions about different columns, one graph after another, would
read its rows as often. Here they are read twice: once to see how many values columns have, once
to group them by all columns of few values. Every narrower grouping is then added up from the
cells of that one. What these cannot answer is asked of the rows, as ever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

MOST_VALUES = 100
"""A column of more values is read from the rows when asked for: it has too many cells."""
MOST_REWARDS = 10
"""A reward of so few values is held as a column to group by too, for tests of independence."""
_EXTREMES = {"least_weight": "min", "lowest": "min", "most_weight": "max", "highest": "max",
             "part_weight": "max"}  # fmt: skip
"""How cells are joined where numbers are not added."""


@dataclass(frozen=True, eq=False)
class HeldSource:
    """Rows somewhere, and the cells of one wide grouping of them.

    ``plan`` is what was grouped; ``n_levels`` says how many values columns of the source have.
    """

    source: Source
    plan: GroupBy
    cells: Cells
    n_levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What messages call the source of rows."""
        return self.source.label

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The source's columns, and what each holds."""
        return self.source.kinds

    def group(self, plan: GroupBy) -> Cells:
        """Add up the cells that are held by fewer keys, or ask the rows where that cannot be."""
        if not self._may_answer(plan):
            return self.source.group(plan)
        places = [self.plan.keys.index(key) for key in plan.keys]
        shape = [len(self._coded[i][0]) for i in places]
        codes = np.array([self._coded[i][1] for i in places], dtype=np.int64)
        first, group = find_distinct(
            codes.reshape(len(places), len(self.cells["lines"])).T, shape
        )
        flags = {f"flag_{i}": flag for i, flag in enumerate(plan.flags)}
        added = {
            name: aggregate_by_group(
                self._count_ones(flags[name]) if name in flags else self.cells[name],
                _EXTREMES.get(name, "sum"),
                group,
                len(first),
            )
            for name in choose_aggregates(plan)
        }
        return Cells(
            tuple(self._read_key(i, codes[k][first]) for k, i in enumerate(places)), added
        )

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Say how many values each column has, as the source did when it was asked."""
        unknown = [name for name in columns if name not in self.n_levels]
        counted = self.source.count_levels(unknown) if unknown else []
        asked = dict(zip(unknown, counted, strict=True))
        return [self.n_levels.get(name, asked.get(name, 0)) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is no number, for a message."""
        return self.source.find_oddity(column)

    def _may_answer(self, plan: GroupBy) -> bool:
        """Tell whether the cells that are held have all that a grouping asks for."""
        held = self.plan
        alike = all(plan.cuts.get(key) == held.cuts.get(key) for key in plan.keys)
        return (
            alike
            and {*plan.keys, *plan.flags} <= {*held.keys}
            and held.cuts.keys().isdisjoint(plan.flags)
            and plan.reward in {None, held.reward}
            and plan.weight == held.weight
        )

    @cached_property
    def _coded(self) -> list[tuple[Levels, Codes]]:
        """The levels of each key, and the code of each cell; read by ``HeldSource.group``."""
        pairs = zip(self.plan.keys, self.cells.keys, strict=True)
        return [encode_column(name, column) for name, column in pairs]

    def _read_key(self, place: int, codes: Codes) -> Column:
        """Read the values of a key in some cells, given by their codes."""
        levels = self._coded[place][0]
        if all(type(level) is int and abs(level) < 2**62 for level in levels):
            return np.array(levels, dtype=np.int64)[codes]
        return [levels[code] for code in codes]

    def _count_ones(self, flag: str) -> Floats:
        """Count in each cell the rows in which a column is 1 or true."""
        levels, codes = self._coded[self.plan.keys.index(flag)]
        is_one = np.array([level == 1 for level in levels], dtype=np.bool_)
        return np.where(is_one[codes], self.cells["lines"], 0.0)


def hold_log(
    log: Log,
    variables: Iterable[str],
    *,
    reward: str | None = None,
    cluster: str | None = None,
    memory_limit: int | None = None,
) -> Log:
    """Group a log once by all ``variables``, and make a log that answers from these cells.

    Columns of many values are left to the rows, and so is all of it where the cells would not
    fit into ``memory_limit`` bytes.

    >>> from boundit.counts.log import read_log
    >>> log = hold_log(read_log({"X": [0, 1, 1], "Z": [5, 5, 6]}), ["X", "Z"])
    >>> log.count(["Z"]).n
    array([2., 1.])
    """
    if reward is not None and not _may_be_reward(log, reward):
        return log  # which says so when it is counted
    nodes, n_levels = _list_columns(log, variables)
    few = {reward: MOST_REWARDS}
    kept = [name for name in nodes if n_levels.get(name, 0) <= few.get(name, MOST_VALUES)]
    by = [*(log.names[name] for name in kept), *log.find_cluster(cluster, reward)]
    plan = GroupBy(
        keys=tuple(dict.fromkeys(by)),
        cuts={log.names[name]: log.bins[name] for name in kept if name in log.bins},
        reward=None if reward is None else log.names[reward],
        weight=log.weight,
        most_cells=limit_cells(len(by), memory_limit),
        memory_limit=memory_limit,
    )
    cells = log.source.group(plan)
    if len(cells["lines"]) > plan.most_cells:
        return log
    counted = {log.names[name]: n for name, n in n_levels.items()}
    return replace(log, source=HeldSource(log.source, plan, cells, counted))


def _list_columns(log: Log, variables: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """List the variables that a log can be grouped by, and how many values they have.

    Of those in bins that is not asked: there are as many as bins.
    """
    kinds = log.source.kinds
    held = [name for name in dict.fromkeys(variables) if name in log.names]
    nodes = [name for name in held if kinds[log.names[name]] is not ColumnKind.NESTED]
    plain = [name for name in nodes if name not in log.bins]
    found = log.source.count_levels([log.names[name] for name in plain]) if plain else []
    return nodes, dict(zip(plain, found, strict=True))


def _may_be_reward(log: Log, name: str) -> bool:
    """Tell whether a log has a column that can be added up as the reward."""
    return name in log.names and log.source.kinds[log.names[name]].may_be_summed
