"""Two-way tables in groups: how often two variables met, among rows alike in all others.

Only what can speak about an independence is kept: groups of rows in which both variables take
two values or more. Which rows those are depends on the margins alone, so the choice does not
favour any answer. Cells without rows are left out.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.checks.coded_rows import CodedRows
from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats
from boundit.graph.implications import Independence

Mask: TypeAlias = NDArray[np.bool_]
_SPARSE = 64
"""Where less than one number in so many occurs, sorting beats marking."""


@dataclass(frozen=True, slots=True)
class Margin:
    """The levels of one variable in each group: one line per group and level."""

    group: Codes
    level: Codes
    n: Floats
    line: NDArray[np.intp]
    """For each cell of the tables, its line here."""

    @classmethod
    def from_cells(cls, group: Codes, level: Codes, n: Floats, n_levels: int) -> Self:
        """Add up the rows of the cells that share a group and a level of one variable.

        Called by ``Strata.first_margin`` and ``Strata.second_margin``.
        """
        size = (int(group[-1]) + 1) * n_levels if len(group) else 0
        seen, line = _number_distinct(group * n_levels + level, size)
        added = np.bincount(line, n, len(seen))
        return cls(seen // n_levels, seen % n_levels, np.asarray(added, np.float64), line)

    def count_levels(self, n_groups: int) -> Codes:
        """Count the levels that the variable takes in each group.

        Called by ``Strata.sizes``.
        """
        return np.bincount(self.group, minlength=n_groups)

    def find_rarest(self, n_groups: int) -> Floats:
        """Find for each group how many rows its rarest level has.

        Called by ``Strata.least_expected`` and ``join_rare_levels``.
        """
        least = np.full(n_groups, np.inf)
        np.minimum.at(least, self.group, self.n)
        return least

    def to_dense(self, n_groups: int, levels: list[int]) -> Floats:
        """Write the margin as an array of rows: a line a group, a column each of some levels.

        ``levels`` are in order and hold all that occur. Called by ``PooledGroups.margins``.
        """
        table = np.zeros((n_groups, len(levels)), order="F")
        table[self.group, np.searchsorted(levels, self.level)] = self.n
        return table


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
        """The rows of each level of the first variable, in each group.

        Read by ``Strata.expected`` and ``join_rare_levels``.
        """
        return Margin.from_cells(self.group, self.one, self.n, self.n_levels[0])

    @cached_property
    def second_margin(self) -> Margin:
        """The rows of each level of the second variable, in each group.

        Read by ``Strata.expected`` and ``join_rare_levels``.
        """
        return Margin.from_cells(self.group, self.other, self.n, self.n_levels[1])

    @cached_property
    def totals(self) -> Floats:
        """The number of rows of each group.

        Read by ``Strata.expected``, ``compute_phi_squared`` and ``measure_any_association``.
        """
        return np.bincount(self.group, self.n, len(self)).astype(np.float64, copy=False)

    @cached_property
    def expected(self) -> Floats:
        """The rows that each cell would have if the variables were independent in its group.

        Read by ``compute_phi_squared`` and ``find_evidence``.
        """
        rows, columns = (
            self.first_margin.n[self.first_margin.line],
            self.second_margin.n[self.second_margin.line],
        )
        return np.asarray(rows * columns / self.totals[self.group])

    @cached_property
    def sizes(self) -> tuple[Codes, Codes]:
        """The number of levels that the two variables have in each group.

        Read by ``measure_any_association`` for the degrees of freedom.
        """
        return self.first_margin.count_levels(len(self)), self.second_margin.count_levels(
            len(self)
        )

    @cached_property
    def least_expected(self) -> Floats:
        """The smallest expected count of each group, its empty cells included.

        Read by ``_needs_shuffles`` to choose between chi-square and shuffles.
        """
        return (
            self.first_margin.find_rarest(len(self))
            * self.second_margin.find_rarest(len(self))
            / self.totals
        )

    @property
    def rows(self) -> float:
        """The number of rows in groups where both variables vary, which alone have a say.

        Read by ``judge_independence`` for its outcome.
        """
        return float(self.n.sum())

    def relevel(self, one: Codes, other: Codes, n_levels: tuple[int, int]) -> "Strata":
        """Give each cell new levels, and add up the cells that became one.

        Called by ``join_rare_levels`` after rare levels were joined.
        """
        packed = (self.group * n_levels[0] + one) * n_levels[1] + other
        seen, line = np.unique(packed, return_inverse=True)
        pair, new_other = np.divmod(seen, n_levels[1])
        group, new_one = np.divmod(pair, n_levels[0])
        n = np.bincount(line, self.n, len(seen)).astype(np.float64, copy=False)
        merged = Strata(group, new_one, new_other, n, self.places, n_levels)
        return merged.select(np.ones(len(n), dtype=np.bool_))

    def select(self, kept: Mask) -> "Strata":
        """Keep the cells that ``kept`` marks, in groups where both variables still vary.

        Called by ``stratify``, ``pool_groups`` and ``Strata.relevel``.
        """
        rest = _select_cells(self, kept)
        ones, others = rest.sizes
        varied = (ones > 1) & (others > 1)
        if varied.all():
            return rest
        held = _select_cells(rest, varied[rest.group])
        renumbered = np.cumsum(varied) - 1
        return replace(held, group=renumbered[held.group], places=self.places[varied])


def stratify(rows: CodedRows, statement: Independence, *, drop_nulls: bool) -> Strata:
    """Split rows into groups alike in the variables given, for the test of one independence.

    ``statement`` names the two variables and those given; with ``drop_nulls``, rows with a null
    in any of them are left out. Called by ``_TestRunner.run``.
    """
    one, other = statement.one, statement.other
    at, n = rows.count_pairs(statement.given, one, other, drop_nulls=drop_nulls)
    n_levels = len(rows.levels[one]), len(rows.levels[other])
    place, pair = np.divmod(at, n_levels[0] * n_levels[1])
    starts = np.ones(len(place), dtype=np.bool_)
    np.not_equal(place[1:], place[:-1], out=starts[1:])
    group = np.cumsum(starts) - 1
    whole = Strata(group, *np.divmod(pair, n_levels[1]), n, place[starts], n_levels)
    return whole.select(np.ones(len(n), dtype=np.bool_))


def _select_cells(strata: Strata, kept: Mask) -> Strata:
    """Keep the cells that ``kept`` marks, also of groups in which a variable no longer varies.

    Called by ``Strata.select``, which then drops such groups.
    """
    if kept.all():
        return strata
    group, one, other = strata.group[kept], strata.one[kept], strata.other[kept]
    return replace(strata, group=group, one=one, other=other, n=strata.n[kept])


def _number_distinct(numbers: Codes, size: int) -> tuple[Codes, NDArray[np.intp]]:
    """List the distinct ones of some numbers below ``size``, and which of them each is.

    Called by ``Margin.from_cells``.
    """
    if size > _SPARSE * len(numbers) + _SPARSE:
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]
