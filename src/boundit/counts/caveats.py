"""What a reader of a table should know of the rows behind it: each a line in its caveats."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from boundit.core.message import ANY, SOME, Message, Note, Option
from boundit.counts.levels import Levels
from boundit.counts.table import CountTable

MANY_LEVELS = 32
"""With more levels than this, a whole number is often a measurement, such as an age."""
_MISSING = {"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"}


def warn_of_dropped_rows(missing: Mapping[str, int], rows: float) -> str:
    """Say how many rows were dropped for a null, by variable, and what that does."""
    shown = ", ".join(f"{name} ({n:,})" for name, n in missing.items())
    return (
        f"of {rows:,.0f} rows, those with a null were dropped: {shown}; "
        "the numbers speak of complete rows, and being complete may itself be a selection"
    )


def warn_of_averages(reward: str, weight: str) -> str:
    """Warn that each weighted reward may be a mean of many rows: their spread is then unknown."""
    return (
        f"rows stand for many by {weight}, with rewards other than 0 and 1: if "
        f"{reward} holds averages their spread is lost and intervals are too narrow; "
        "count each value of the reward in a row of its own"
    )


def warn_of_many_levels(levels: Mapping[str, Levels]) -> tuple[Message, ...]:
    """Suggest bins for variables that are whole numbers with many levels.

    Returns a line for each.

    >>> print(*warn_of_many_levels({"Age": tuple(range(18, 91)), "Ad": ("A", "B")}))
    Age has 73 levels, each counted by its own rows: if it is a measurement, cut it with bins={'Age': [...]}
    """  # noqa: E501
    known = {name: [v for v in of if v is not None] for name, of in levels.items()}
    return tuple(
        Message(
            f"{name} has {len(of):,} levels, each counted by its own rows: if it is a "
            "measurement, cut it with ",
            Option("bins", {name: [SOME]}),
        )
        for name, of in known.items()
        if len(of) > MANY_LEVELS and all(isinstance(level, int) for level in of)
    )


def warn_of_missing_words(levels: Mapping[str, Levels]) -> tuple[str, ...]:
    """Ask about levels such as 'NA', which other programs write where a value is missing.

    >>> print(*warn_of_missing_words({"Age": ("NA", "old", "young")}))
    Age has the level 'NA': if it says that a value is missing, leave the cell empty
    """
    found = {name: [level for level in of if level in _MISSING] for name, of in levels.items()}
    return tuple(
        f"{name} has the level {missing[0]!r}: if it says that a value is missing, leave the "
        "cell empty"
        for name, missing in found.items()
        if missing
    )


MOST_CHANCE = 1e-3
"""Repeats are noted where sampling would make counts as even in so few logs."""
_BY_DESIGN = 2
_NEAR = 1e-9


def warn_of_repeated_rows(table: CountTable) -> tuple[Note, ...]:
    """Warn that all counts of a table are multiples, as if each row were there several times.

    Returns a line for the caveats of a count table, or none: of an exact distribution, and where
    clusters say which rows belong together, too.

    >>> from boundit.counts.log import read_log
    >>> places = [i for i in range(8) for _ in range(i * i + 1)]
    >>> rows = {"X": [i % 4 for i in places], "C": [i // 4 for i in places]}
    >>> rows["Y"] = [int(i % 3 > 0) for i in range(len(places))]
    >>> twice = {name: values * 3 for name, values in rows.items()}
    >>> print(*read_log(twice).count(["X", "C"], reward="Y").caveats)
    every count is a multiple of 3, as if each row were there 3 times: repeated rows make intervals too narrow; give each row once, or for bounds name what repeats share with cluster=
    >>> read_log(rows).count(["X", "C"], reward="Y").caveats
    ()
    """  # noqa: E501
    if table.exact or table.clusters is not None:
        return ()
    k, p = find_repeats(table)
    if k < 2 or p >= MOST_CHANCE:
        return ()
    return (
        Message(
            f"every count is a multiple of {k:,}, as if each row were there {k:,} times: "
            "repeated rows make intervals too narrow; give each row once, or for bounds name "
            "what repeats share with ",
            Option("cluster", ANY),
        ),
    )


def find_repeats(table: CountTable) -> tuple[int, float]:
    """Find the number that all counts of a table are multiples of, and its p-value."""
    rows = np.rint(table.n).astype(np.int64)
    won = _count_successes(table)
    k = int(np.gcd.reduce(rows if won is None else np.concatenate([rows, won])))
    if k < 2:
        return k, 1.0
    sizes = len(np.unique(rows))
    mixed = won[(won > 0) & (won < rows)] if won is not None else rows[:0]
    of_rewards = float(k) ** -len(np.unique(mixed))
    return k, of_rewards * (0.5**sizes if sizes > _BY_DESIGN else 1.0)


def _count_successes(table: CountTable) -> NDArray[np.int64] | None:
    """Count the rows of each line with the higher of two rewards, or None if there are others."""
    sums, squares, lowest, highest = table.sums, table.squares, table.lowest, table.highest
    if sums is None or squares is None or lowest is None or highest is None:
        return None
    low, high = float(lowest.min()), float(highest.max())
    between = (low + high) * sums - squares - low * high * table.n
    scale = max(abs(low), abs(high)) ** 2
    if low == high or (between > _NEAR * table.n * scale).any():
        return None
    return np.rint((sums - low * table.n) / (high - low)).astype(np.int64)
