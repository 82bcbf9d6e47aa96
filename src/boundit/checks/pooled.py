"""The two-way tables of all groups added up over common levels, with what chance does to them.

Within a group of N rows with margins r and c, and all margins fixed, the count of a cell has
mean r_i c_j / N under independence (the hypergeometric law). Sums over groups are compared
with sums of such means, so that very many groups of a few rows each say as much as a few large
ones, of whatever dependence is alike in them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from boundit.checks.strata import Strata
from boundit.core.rounding import ROUNDING
from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats

MOST_LEVELS = 20
"""So many levels of each variable are told apart; from the rarest on, others are joined."""
ENOUGH = 5.0
"""Rare levels are joined until expected counts are as large (Cochran's rule, 1954)."""
_CHUNK = 2**22


@dataclass(frozen=True, eq=False)
class PooledTable:
    """The pooled counts of two variables, and the margins of every group.

    ``levels`` holds, of each variable, the codes that a level of the table stands for: one, or
    several that were joined. ``margins`` have a line for each group and a column for each level.
    """

    levels: tuple[list[tuple[int, ...]], list[tuple[int, ...]]]
    margins: tuple[Floats, Floats]
    totals: Floats
    counts: Floats

    @classmethod
    def from_strata(cls, strata: Strata) -> Self:
        """Add up the tables of all groups, the rarest of very many levels as one."""
        (ones, one), (others, other) = (
            _number_common(each, strata.n) for each in (strata.one, strata.other)
        )

        def add_up(line: Codes, column: Codes, shape: tuple[int, int]) -> Floats:
            table = np.bincount(line * shape[1] + column, strata.n, shape[0] * shape[1])
            return table.astype(np.float64, copy=False).reshape(shape)

        rows = add_up(strata.group, one, (len(strata), len(ones)))
        columns = add_up(strata.group, other, (len(strata), len(others)))
        counts = add_up(one, other, (len(ones), len(others)))
        return cls((ones, others), (rows, columns), strata.totals, counts)

    @cached_property
    def expected(self) -> Floats:
        """The mean count of each pair of levels under independence within every group."""
        rows, columns = self.margins
        return np.asarray(rows.T @ (columns / self.totals[:, None]))

    @cached_property
    def leeway(self) -> Floats:
        """The mean count of each cell or, where that is rarer in a group, of what it leaves.

        A level that nearly all rows of a group have tells as little as one that few rows have.
        It is inf where the two levels never can meet, or not fail to.
        """
        n = self.totals[:, None]
        rows, columns = (np.minimum(margin, n - margin) for margin in self.margins)
        found = rows.T @ (columns / n)
        return np.where(found > 0, found, np.inf)

    def join_rare_levels(self) -> "PooledTable":
        """Join rare levels until expected counts are enough, or both variables have two left.

        If one variable tells nothing about another, it tells nothing about any coarser version
        of it; and which levels are joined depends on the margins alone.
        """
        table = self
        while table.leeway.min() < ENOUGH and max(table.counts.shape) > 2:
            i, j = np.unravel_index(table.leeway.argmin(), table.leeway.shape)
            rarer = int(table.expected[:, j].sum() < table.expected[i].sum())
            axis = rarer if table.counts.shape[rarer] > 2 else 1 - rarer
            table = table._join_two_rarest(axis)
        return table

    def _join_two_rarest(self, axis: int) -> "PooledTable":
        rows = self.counts.sum(axis=1 - axis)
        first, second = np.argsort(rows, kind="stable")[:2].tolist()
        levels, margins = list(self.levels), list(self.margins)
        joined = levels[axis][second] + levels[axis][first]
        levels[axis] = [
            joined if i == second else each for i, each in enumerate(levels[axis]) if i != first
        ]
        margins[axis] = _add_and_drop(margins[axis], first, second, 1)
        counts = _add_and_drop(self.counts, first, second, axis)
        return replace(
            self, levels=(levels[0], levels[1]), margins=(margins[0], margins[1]), counts=counts
        )

    def measure_deviation(self) -> tuple[float, int]:
        """Measure how far pooled counts are from their means: a chi-square and its df.

        The general association statistic of Cochran, Mantel and Haenszel (Landis, Heyman and
        Koch 1978, Q_GMH). The last level of each variable is left out, since the others tell
        its counts; levels that never meet in a group cost degrees of freedom.
        """
        covariance = self._find_covariance()
        values, vectors = np.linalg.eigh(covariance)
        free = values > ROUNDING * max(values.max(), ROUNDING)
        away = (self.counts - self.expected)[:-1, :-1].ravel()
        parts = away @ vectors[:, free] / np.sqrt(values[free])
        return float(parts @ parts), int(free.sum())

    def _find_covariance(self) -> Floats:
        """Sum over groups the covariance of the counts, which is hypergeometric."""
        rows, columns = (margin[:, :-1] for margin in self.margins)
        n, (r, c) = self.totals, (rows.shape[1], columns.shape[1])
        added = np.zeros((r * r, c * c))
        size = max(1, _CHUNK // (r * r + c * c))
        for i in range(0, len(n), size):
            part = slice(i, i + size)
            left = _find_spread(rows[part], n[part]) / (n[part] - 1)[:, None, None]
            right = _find_spread(columns[part], n[part])
            added += left.reshape(-1, r * r).T @ right.reshape(-1, c * c)
        return added.reshape(r, r, c, c).transpose(0, 2, 1, 3).reshape(r * c, r * c)


def _find_spread(margin: Floats, n: Floats) -> Floats:
    """Compute ``diag(m) - m m' / N`` of each group: how the counts of its levels vary together."""
    squares = -margin[:, :, None] * margin[:, None, :] / n[:, None, None]
    each = np.arange(margin.shape[1])
    squares[:, each, each] += margin
    return np.asarray(squares)


def _number_common(level: Codes, n: Floats) -> tuple[list[tuple[int, ...]], Codes]:
    """Number the levels that occur, the commonest apart and the rest as the last one."""
    rows = np.bincount(level, n)
    common = np.argsort(-rows, kind="stable")[: np.count_nonzero(rows)]
    apart = np.sort(
        common[:MOST_LEVELS] if len(common) <= MOST_LEVELS else common[: MOST_LEVELS - 1]
    )
    rest = tuple(np.sort(common[len(apart) :]).tolist())
    number = np.full(len(rows), len(apart))
    number[apart] = np.arange(len(apart))
    return [(each,) for each in apart.tolist()] + [rest] * bool(rest), number[level]


def _add_and_drop(array: Floats, dropped: int, kept: int, axis: int) -> Floats:
    """Add one slice of an array to another, and drop it."""
    moved = np.moveaxis(array.copy(), axis, 0)
    moved[kept] += moved[dropped]
    return np.moveaxis(np.delete(moved, dropped, axis=0), 0, axis)
