"""Rows that were logged several times: a log read twice shows in its counts.

If every row is there ``k`` times, every count is a multiple of ``k``. That happens by chance
too, so it is told only where chance is no explanation: the counts of successes that differ are
taken for independent, each a multiple of ``k`` with chance ``1 / k``. How many rows a cell has
may be a round number by design, so that each such number counts as a coin does, and none where
there are no more than two different ones. Failures tell nothing new.
"""

import numpy as np
from numpy.typing import NDArray

from boundit.counts.table import CountTable
from boundit.terms.message import ANY, Message, Note, Option

MOST_CHANCE = 1e-3
"""Repeats are told where chance would make counts as even in so few logs."""
_BY_DESIGN = 2
_NEAR = 1e-9


def warn_of_repeated_rows(table: CountTable) -> tuple[Note, ...]:
    """Warn that all counts of a table are multiples, as if each row were there several times.

    Returns a line for the caveats of a count table, or none: of an exact law, and where
    clusters say which rows belong together, too.

    >>> from boundit.counts.read import read_log
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
    k, chance = find_repeats(table)
    if k < 2 or chance >= MOST_CHANCE:
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
    """Find the number that all counts of a table are multiples of, and how likely by chance."""
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
