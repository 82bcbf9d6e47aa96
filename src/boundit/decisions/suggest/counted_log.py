"""A log made of a table of counts, to be counted again in parts or with more rows.

Whoever asks many questions of one log reads its rows once; every further count adds up cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boundit.counts.errors import NotACategory
from boundit.counts.log import Log
from boundit.counts.named_array import Floats, find_distinct
from boundit.counts.sources import Cells, ColumnKind, GroupBy, Oddity, choose_aggregates
from boundit.counts.table import CountTable

WEIGHT = "weight of cells"
"""The column that holds the chances of an exact law."""


@dataclass(frozen=True, eq=False)
class CountedSource:
    """The cells of a count table, as a source of rows."""

    table: CountTable

    @property
    def label(self) -> str:
        """What messages call the log that was counted."""
        return self.table.label

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The variables that were counted, and the reward: levels are taken as they are."""
        reward = [self.table.reward] if self.table.reward else []
        held = dict.fromkeys([*self.table.variables, *reward], ColumnKind.NUMBERS)
        return held | ({WEIGHT: ColumnKind.NUMBERS} if self.table.exact else {})

    def group(self, plan: GroupBy) -> Cells:
        """Add up the cells of the table that agree in the keys of a plan."""
        table = self.table
        if table.reward in plan.keys:
            table = split_by_reward(table)
        columns = [table.variables.index(name) for name in plan.keys]
        codes = table.codes[:, columns]
        first, group = find_distinct(codes, [table.shape[i] for i in columns])
        n = _add_up(table.n, group, len(first))
        names = ("lines", "weighed", "weight", "least_weight", "most_weight")
        numbers = dict.fromkeys((*names, "rewarded", "rewarded_weight"), n)
        numbers["part_weight"] = np.zeros(len(first))
        if table.sums is not None and table.squares is not None:
            numbers["sums"] = _add_up(table.sums, group, len(first))
            numbers["squares"] = _add_up(table.squares, group, len(first))
        if table.lowest is not None and table.highest is not None:
            numbers["lowest"] = np.full(len(first), np.inf)
            np.minimum.at(numbers["lowest"], group, table.lowest)
            numbers["highest"] = np.full(len(first), -np.inf)
            np.maximum.at(numbers["highest"], group, table.highest)
        keys = tuple(
            [table.levels[name][code] for code in codes[first, i].tolist()]
            for i, name in enumerate(plan.keys)
        )
        # No column of the log that was not counted can be a selection node here.
        numbers |= {f"flag_{i}": np.zeros(len(first)) for i in range(len(plan.flags))}
        return Cells(keys, {name: numbers[name] for name in choose_aggregates(plan)})

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look up how many levels each variable was counted with, two for a reward."""
        return [len(self.table.levels.get(name, (0, 1))) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:  # noqa: ARG002, of the protocol
        """Find nothing: what cannot be counted was refused when the table was made."""
        return None


def hold_counts(table: CountTable, times: int = 1) -> Log:
    """Make a log of a table that was counted, as if every row had come so many ``times``.

    >>> from boundit.counts.log import read_log
    >>> log = read_log({"X": [0, 1, 1], "Z": [0, 0, 1], "Y": [1, 0, 1]})
    >>> held = hold_counts(log.count(["X", "Z"], reward="Y"), times=4)
    >>> held.count(["X"], reward="Y").n
    array([4., 8.])
    """
    added = {
        name: numbers * times
        for name in ("n", "sums", "squares")
        if (numbers := getattr(table, name)) is not None
    }
    held = table if times == 1 or table.exact else replace(table, clusters=None, **added)
    weight = WEIGHT if table.exact else None
    return Log(
        CountedSource(held),
        {},
        weight,
        exact=table.exact,
        bins={},
        missing="level",
        adaptive=table.adaptive,
    )


def split_by_reward(table: CountTable) -> CountTable:
    """Make a table that counts its 0/1 reward as one more variable, in place of adding it up.

    >>> from boundit.counts.log import read_log
    >>> log = read_log({"X": [0, 1, 1], "Y": [1, 0, 1]})
    >>> print(split_by_reward(log.count(["X"], reward="Y")))
    CountTable of X, Y: 3 rows in 3 of 4 cells
    """
    reward, sums, squares = table.reward, table.sums, table.squares
    if reward is None or sums is None or squares is None:
        raise NotACategory(str(reward), "what was never counted")
    if not np.allclose(sums, squares) or (sums < 0).any() or (sums > table.n + 1e-9).any():
        raise NotACategory(reward, "numbers that were added up, not 0 and 1")
    n = np.concatenate([table.n - sums, sums])
    kept = n > 0
    codes = np.concatenate(
        [np.column_stack([table.codes, np.full(len(table.n), i)]) for i in (0, 1)]
    )
    return CountTable(
        (*table.variables, reward),
        {**table.levels, reward: (0, 1)},
        codes[kept],
        n[kept],
        exact=table.exact,
        label=table.label,
        adaptive=table.adaptive,
    )


def _add_up(numbers: Floats, group: NDArray[np.intp], n: int) -> Floats:
    """Add up the numbers of the cells of each group."""
    return np.asarray(np.bincount(group, weights=numbers, minlength=n), dtype=np.float64)
