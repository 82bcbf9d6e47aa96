"""What is asked of an engine, and what comes back: the one pass over the data.

Every engine answers the same ``GroupBy`` with the same ``Cells``. It groups rows by the keys,
nulls and NaN being one more value, and adds up a few columns; whatever is judged about the
data (bad weights, nulls, levels) is judged from the cells, the same way for all engines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.counts.named_array import Floats

Column: TypeAlias = NDArray[np.generic] | Sequence[object]
CELL_LIMIT = 2**24
"""The most cells that are brought back; an engine may stop at one more."""


class ColumnKind(Enum):
    """What a column holds, in the words of an error message."""

    NUMBERS = "numbers"
    BOOLEANS = "booleans"
    TEXT = "text"
    TIMES = "dates or times"
    OBJECTS = "Python objects"
    NESTED = "lists or structures"
    MIXED = "values of several types"

    @property
    def may_be_summed(self) -> bool:
        """Whether a column of this kind may be added up, as a reward or a weight is.

        A column of Python objects counts as one: only its rows can tell. So does one of several
        types, which its source refuses with the line.
        """
        return self not in {ColumnKind.TEXT, ColumnKind.TIMES, ColumnKind.NESTED}


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One GROUP BY: the columns to group by, where to cut them, and what to add up."""

    keys: tuple[str, ...]
    cuts: Mapping[str, Sequence[float]] = field(default_factory=dict)
    reward: str | None = None
    weight: str | None = None
    flags: tuple[str, ...] = ()
    most_cells: int = CELL_LIMIT
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Cells:
    """One line per combination of key values; a key that is cut holds the number of its bin.

    ``lines`` are the rows of a cell. The other aggregates are there when the plan asks:

    - ``weighed``: rows whose weight is a number; ``weight``, ``least_weight``,
      ``most_weight`` their sum and range, ``part_weight`` the largest fractional part;
    - ``rewarded``: rows whose reward is a number; ``rewarded_weight``, ``sums``, ``squares``
      their weight and weighted sums, ``lowest``, ``highest`` the range where weights are
      positive;
    - ``flag_0``, ``flag_1`` and so on: rows whose flag is 1 or true.
    """

    keys: tuple[Column, ...]
    aggregates: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.aggregates[name]


class Oddity(NamedTuple):
    """A text where a number was meant; which row it is in, if rows have an order."""

    text: str
    row: int | None = None

    def __str__(self) -> str:
        return repr(self.text) + (f" in row {self.row:,}" if self.row else "")


class Source(Protocol):
    """Rows somewhere, and an engine that can group them."""

    @property
    def label(self) -> str:
        """What messages call the source of rows: a file's name, or "the dict of columns"."""

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The source's columns, and what each holds: numbers, text, times."""

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows by the plan's keys and add up its other columns, in one pass.

        Returns one cell for each combination of values. Each source has its own engine for it.
        """

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look how many values each column has; the engine may guess where there are many."""

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is no number, for a message."""


AGGREGATES = {
    "lines": ("", "rows"),
    "weighed": ("weight", "count"),
    "weight": ("weight", "sum"),
    "least_weight": ("weight", "min"),
    "most_weight": ("weight", "max"),
    "part_weight": ("part", "max"),
    "rewarded": ("reward", "count"),
    "rewarded_weight": ("given", "sum"),
    "sums": ("once", "sum"),
    "squares": ("twice", "sum"),
    "lowest": ("counted", "min"),
    "highest": ("counted", "max"),
}
"""Each aggregate: the derived column it is made of, and how. Flags are counted besides."""
NUMBER = r"^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$"
"""What a number looks like as text."""


_CELL_BYTES = 8
_AGGREGATES = 12  # numbers of a cell beside its keys
_COPIES = 4  # from the engine's answer to the sorted table


def limit_cells(n_keys: int, memory_limit: int | None) -> int:
    """Limit how many cells are brought back, by the memory that they may take here."""
    if memory_limit is None:
        return CELL_LIMIT
    return max(1, min(CELL_LIMIT, memory_limit // estimate_memory(1, n_keys)))


def estimate_memory(n_cells: int, n_keys: int) -> int:
    """Estimate the bytes that it takes to bring back and sort so many cells of so many keys."""
    return n_cells * _CELL_BYTES * _COPIES * (n_keys + _AGGREGATES)


def choose_aggregates(plan: GroupBy) -> dict[str, tuple[str, str]]:
    """Choose which aggregates (sums, counts, extremes) a GROUP BY needs, by their names.

    Returns for each aggregate the column and how it is added up; without weights or a reward
    they are fewer.
    """
    names = ["lines"]
    if plan.weight:
        names += ["weighed", "weight", "least_weight", "most_weight", "part_weight"]
    if plan.reward:
        names += ["rewarded", "sums", "squares", "lowest", "highest"]
        names += ["rewarded_weight"] if plan.weight else []
    flags = [f"flag_{i}" for i in range(len(plan.flags))]
    return {name: AGGREGATES[name] for name in names} | {f: (f, "count") for f in flags}
