"""Logs that were grouped once answer as the rows would."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from boundit.counts.log import Log, read_log
from boundit.counts.sources import Cells, ColumnSource, GroupBy
from boundit.counts.table import CountTable
from boundit.decisions.held_log import MOST_VALUES, HeldSource, hold_log, repeat_rows

ROWS: dict[str, list[Any]] = {
    "X": [0, 1, 1, 0, None, 1, 0, 1],
    "Z": ["a", "b", "a", None, "b", "b", "a", "a"],
    "A": [17.5, 30.0, 44.0, 2.0, 60.0, 18.0, None, 30.0],
    "S": [1] * 8,
    "Y": [0, 1, 1, 0, 1, None, 1, 0],
    "n": [2, 1, 3, 1, 1, 4, 1, 2],
}


@dataclass(frozen=True, eq=False)
class CountingSource(ColumnSource):
    """Columns that count how often they are read."""

    read: list[str] = field(default_factory=list)

    def group(self, plan: GroupBy) -> Cells:
        self.read.append("group")
        return super().group(plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        self.read.append("levels")
        return super().count_levels(columns)


def describe(table: CountTable) -> list[object]:
    """All that a table says, for comparison."""
    numbers = (table.codes, table.n, table.sums, table.squares, table.lowest, table.highest)
    parts = [None if of is None else np.asarray(of).tolist() for of in numbers]
    return [table.variables, dict(table.levels), *parts, table.caveats, dict(table.dropped)]


def count_all(log: Log) -> list[list[object]]:
    """Count every set of up to three columns, with the reward and without."""
    return [
        describe(log.count(names, reward=reward, selection="S"))
        for size in range(4)
        for names in combinations(("X", "Z", "A"), size)
        for reward in (None, "Y")
    ]


@pytest.mark.parametrize("make", [dict, pl.DataFrame])
@pytest.mark.parametrize("weight", [None, "n"])
@pytest.mark.parametrize("missing", ["drop"])
def test_a_held_log_counts_as_its_rows_do(make: Any, weight: str | None, missing: Any) -> None:
    log = read_log(make(ROWS), weight=weight, missing=missing, bins={"A": [18, 40]})
    held = hold_log(log, ["X", "Z", "A", "S", "Y"], outcome="Y")

    assert isinstance(held.source, HeldSource)
    assert count_all(held) == count_all(log)
    assert held.count_levels(["X", "Z", "A"]) == log.count_levels(["X", "Z", "A"])


def test_rows_are_read_twice_whatever_is_asked() -> None:
    source = CountingSource(ROWS)
    log = Log(source, {}, None, False, {}, "drop")
    held = hold_log(log, ["X", "Z", "S", "Y"], outcome="Y")
    assert source.read == ["levels", "group"]

    held.count(["X"], reward="Y")
    held.count(["X", "Y"])
    held.count_levels(["X", "Z"])
    assert source.read == ["levels", "group"]

    held.count(["n"])
    assert source.read == ["levels", "group", "group"], "what is not held is read"


def test_a_column_of_many_values_is_left_to_the_rows() -> None:
    many = {"id": list(range(MOST_VALUES + 1)), "X": [0] * (MOST_VALUES + 1)}
    held = hold_log(read_log(many), ["id", "X"], outcome="X")

    assert isinstance(held.source, HeldSource)
    assert held.source.plan.keys == ("X",)


def test_what_does_not_fit_or_has_no_reward_stays_a_plain_log() -> None:
    log = read_log({"X": [0, 1, 2], "Y": ["a", "b", "c"]})

    assert hold_log(log, ["X"], outcome="X", memory_limit=1) is log
    assert hold_log(log, ["X"], outcome="Y") is log
    assert hold_log(log, ["X"], outcome="Z") is log


def test_a_cluster_is_held_too() -> None:
    rows = {"user": [1, 1, 2, 3], "X": [0, 0, 1, 1], "Y": [1, 1, 0, 1]}
    log = read_log(rows)
    held = hold_log(log, ["X"], outcome="Y", cluster="user")
    found, plain = (each.count(["X"], reward="Y", cluster="user") for each in (held, log))

    assert found.clusters is not None
    assert plain.clusters is not None
    assert describe(found.count_clusters_once()) == describe(plain.count_clusters_once())


@pytest.mark.parametrize("weight", [None, "n"])
def test_rows_may_be_taken_several_times(weight: str | None) -> None:
    log = read_log(ROWS, weight=weight)
    longer = read_log({name: column * 3 for name, column in ROWS.items()}, weight=weight)
    held = repeat_rows(hold_log(log, ["X", "Z", "Y"], outcome="Y"), 3)

    assert held is not None
    one, other = (each.count(["X", "Z"], reward="Y") for each in (held, longer))
    assert describe(one)[:-2] == describe(other)[:-2]
    assert repeat_rows(log, 3) is None
