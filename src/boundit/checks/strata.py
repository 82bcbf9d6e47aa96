"""Two-way tables in groups: how often two variables met, among rows alike in all others.

Only what can speak about an independence is kept: groups of rows in which both variables take
two values or more. Which rows those are depends on the margins alone, so the choice does not
favour any answer. Cells without rows are left out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boundit.checks.coded_rows import CodedRows
from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats
from boundit.graph.implications import Independence

_SPARSE = 64
"""Where less than one number in so many occurs, sorting beats marking."""


@dataclass(frozen=True, slots=True)
class Margin:
    """The levels of one variable in each group: one line per group and level."""

    group: Codes
    n: Floats
    line: NDArray[np.intp]
    """For each cell of the tables, its line here."""

    @classmethod
    def from_cells(cls, group: Codes, level: Codes, n: Floats, n_levels: int) -> Self:
        """Add up the rows of the cells that share a group and a level of one variable."""
        size = (int(group[-1]) + 1) * n_levels if len(group) else 0
        seen, line = _number_distinct(group * n_levels + level, size)
        added = np.bincount(line, n, len(seen))
        return cls(seen // n_levels, np.asarray(added, np.float64), line)

    def count_levels(self, n_groups: int) -> Codes:
        """Count the levels that the variable takes in each group."""
        return np.bincount(self.group, minlength=n_groups)


@dataclass(frozen=True, eq=False)
class Strata:
    """The cells of all groups: group, level of one variable, level of the other, rows.

    Cells are in the order of their groups. ``places`` holds, for each group, the number that
    ``CodedRows.number_groups`` gave it; ``n_levels`` the number of levels of the two variables,
    seen or not.
    """

    group: Codes
    one: Codes
    other: Codes
    n: Floats
    places: Codes
    n_levels: tuple[int, int]

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def first_margin(self) -> Margin:
        """The rows of each level of the first variable, in each group."""
        return Margin.from_cells(self.group, self.one, self.n, self.n_levels[0])

    @cached_property
    def second_margin(self) -> Margin:
        """The rows of each level of the second variable, in each group."""
        return Margin.from_cells(self.group, self.other, self.n, self.n_levels[1])

    @cached_property
    def totals(self) -> Floats:
        """The number of rows of each group."""
        return np.bincount(self.group, self.n, len(self)).astype(np.float64, copy=False)

    @cached_property
    def expected(self) -> Floats:
        """The rows that each cell would have if the variables were independent in its group."""
        rows, columns = (
            self.first_margin.n[self.first_margin.line],
            self.second_margin.n[self.second_margin.line],
        )
        return np.asarray(rows * columns / self.totals[self.group])

    @cached_property
    def sizes(self) -> tuple[Codes, Codes]:
        """The number of levels that the two variables have in each group."""
        return self.first_margin.count_levels(len(self)), self.second_margin.count_levels(
            len(self)
        )

    @property
    def rows(self) -> float:
        """The number of rows in groups where both variables vary, which alone have a say."""
        return float(self.n.sum())

    def select_varied(self) -> "Strata":
        """Keep the groups in which both variables take two values or more."""
        ones, others = self.sizes
        varied = (ones > 1) & (others > 1)
        if varied.all():
            return self
        kept = varied[self.group]
        group = (np.cumsum(varied) - 1)[self.group[kept]]
        cells = self.one[kept], self.other[kept], self.n[kept]
        return Strata(group, *cells, self.places[varied], self.n_levels)


def stratify(rows: CodedRows, statement: Independence, *, drop_nulls: bool) -> Strata:
    """Split rows into groups alike in the variables given, for the test of one independence.

    ``statement`` names the two variables and those given; with ``drop_nulls``, rows with a null
    in any of them are left out.
    """
    one, other = statement.one, statement.other
    at, n = rows.count_pairs(statement.given, one, other, drop_nulls=drop_nulls)
    n_levels = len(rows.levels[one]), len(rows.levels[other])
    place, pair = np.divmod(at, n_levels[0] * n_levels[1])
    starts = np.ones(len(place), dtype=np.bool_)
    np.not_equal(place[1:], place[:-1], out=starts[1:])
    group = np.cumsum(starts) - 1
    whole = Strata(group, *np.divmod(pair, n_levels[1]), n, place[starts], n_levels)
    return whole.select_varied()


def _number_distinct(numbers: Codes, size: int) -> tuple[Codes, NDArray[np.intp]]:
    """List the distinct ones of some numbers below ``size``, and which of them each is."""
    if size > _SPARSE * len(numbers) + _SPARSE:
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]
