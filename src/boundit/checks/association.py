r"""Two measures of what an independence leaves unexplained, and what chance makes of them.

Within a group of N rows with margins r and c, and all margins fixed, the count of a cell has
mean :math:`e_{ij} = r_i c_j / N` under independence. ``measure_any_association`` adds up

.. math:: (N - 1) / N \cdot \sum_{ij} (n_{ij} - e_{ij})^2 / e_{ij}

over the groups: Pearson's statistic with the factor that makes its mean *exactly* the degrees
of freedom, which matters when groups are many and small. It sees an association of whatever
shape, also one that turns around from group to group, and pays for it with many degrees of
freedom. ``PooledGroups.make_statistic`` first adds up the cells of all groups and then measures
how far the sum is from its mean (the general association statistic of Cochran, Mantel and
Haenszel). It has few degrees of freedom however many groups there are, and sees what is alike
in them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from boundit.checks.strata import Mask, Strata
from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats
from boundit.terms.rounding import ROUNDING

MOST_LEVELS = 20
"""A steady association is looked for among so many levels of each variable, the commonest."""
_CHUNK = 2**22


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic that chance makes about as large as its degrees of freedom.

    ``weight`` turns what is beyond chance into Cramér's V: V² = (value - df) / weight.
    """

    value: float
    df: int
    weight: float

    def find_strength(self, excess: float | None = None) -> float:
        """Compute Cramér's V beyond chance: 0 nothing, 1 one variable tells the other.

        With an ``excess``, what V would be if the statistic were that much above its degrees of
        freedom. Called by ``find_weakest_detectable``, and by ``Finding.strength`` for the
        number that a report shows.
        """
        beyond = self.value - self.df if excess is None else excess
        return float(np.sqrt(max(beyond, 0.0) / self.weight))


def measure_any_association(strata: Strata) -> Statistic:
    """Measure association of whatever shape: the sum of Pearson's statistics over the groups.

    Called by ``_answer_by_formula`` and ``_answer_by_shuffles`` for each independence that is
    tested.
    """
    ones, others = strata.sizes
    df = int(((ones - 1) * (others - 1)).sum())
    spare = strata.totals - 1
    weight = float((spare * (np.minimum(ones, others) - 1)).sum())
    return Statistic(float(spare @ compute_phi_squared(strata)), df, weight)


def compute_phi_squared(strata: Strata) -> Floats:
    """Compute phi squared, Pearson's chi-square divided by the number of rows, of each group.

    Called by ``measure_any_association``, and by ``judge_exact_law`` where shares are tested
    instead of rows.
    """
    ratio = np.bincount(strata.group, strata.n / strata.expected * strata.n, len(strata))
    return np.asarray(ratio / strata.totals - 1)


@dataclass(frozen=True, eq=False)
class PooledGroups:
    """The cells of all groups added up: what was seen, its mean, and how it varies by chance.

    The last level of each variable is left out: the others tell its counts.
    """

    strata: Strata

    @cached_property
    def levels(self) -> tuple[list[int], list[int]]:
        """The codes of the levels that occur, of the first variable and of the second.

        Read by ``PooledGroups.margins``, and by ``_find_strongest_pair`` to name the levels of
        a cell.
        """
        return np.unique(self.strata.one).tolist(), np.unique(self.strata.other).tolist()

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """The rows of each level (column) in each group (line), of both variables.

        Read by ``PooledGroups.expected`` and ``PooledGroups.whitener``, and by ``draw_tables``,
        which keeps them in every shuffle.
        """
        strata, (ones, others) = self.strata, self.levels
        rows = strata.first_margin.to_dense(len(strata), ones)
        return rows, strata.second_margin.to_dense(len(strata), others)

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the levels of each cell stand among those that occur, of both variables.

        Read by ``PooledGroups.counts``, ``_mark_rarest_level`` and ``_lay_out_log``.
        """
        ones, others = self.levels
        return np.searchsorted(ones, self.strata.one), np.searchsorted(
            others, self.strata.other
        )

    @cached_property
    def counts(self) -> Floats:
        """The number of rows with each pair of levels, all groups together, as a matrix.

        Read by ``PooledGroups.make_statistic`` and ``_find_strongest_pair``.
        """
        table = np.zeros((len(self.levels[0]), len(self.levels[1])))
        np.add.at(table, self.places, self.strata.n)
        return table

    @cached_property
    def expected(self) -> Floats:
        """The mean count of each pair of levels under independence within every group.

        Read by ``PooledGroups.measure_deviation`` and ``_mark_rarest_level``.
        """
        rows, columns = self.margins
        return np.asarray(rows.T @ (columns / self.strata.totals[:, None]))

    @cached_property
    def whitener(self) -> Floats:
        """The matrix that makes deviations of pooled counts independent, of variance 1.

        It has a column for each degree of freedom. Read by ``PooledGroups.measure_deviation``
        and ``PooledGroups.df``.
        """
        rows, columns = (margin[:, :-1] for margin in self.margins)
        n, (r, c) = self.strata.totals, (rows.shape[1], columns.shape[1])
        added = np.zeros((r * r, c * c))
        size = max(1, _CHUNK // (r * r + c * c))
        for i in range(0, len(n), size):
            part = slice(i, i + size)
            left = _find_spread(rows[part], n[part]) / (n[part] - 1)[:, None, None]
            right = _find_spread(columns[part], n[part])
            added += left.reshape(-1, r * r).T @ right.reshape(-1, c * c)
        covariance = added.reshape(r, r, c, c).transpose(0, 2, 1, 3).reshape(r * c, r * c)
        values, vectors = np.linalg.eigh(covariance)
        full = values > ROUNDING * values.max()
        return np.asarray(vectors[:, full] / np.sqrt(values[full]))

    @property
    def df(self) -> int:
        """The degrees of freedom: in how many ways the pooled counts can deviate.

        Read by ``PooledGroups.make_statistic``.
        """
        return int(self.whitener.shape[1])

    def measure_deviation(self, counts: Floats) -> Floats:
        """Measure how far pooled counts are from the expected ones, as a chi-square statistic.

        Takes one table of counts or a stack of them. Called by ``PooledGroups.make_statistic``
        for the log and by ``find_chances`` for shuffles.
        """
        away = (counts - self.expected)[..., :-1, :-1]
        free = away.reshape(*away.shape[:-2], away.shape[-2] * away.shape[-1]) @ self.whitener
        return np.asarray((free * free).sum(axis=-1))

    def make_statistic(self) -> Statistic:
        """Compute the log's statistic of a steady association, alike in every group.

        Called by ``_answer_by_formula`` and ``_answer_by_shuffles`` where there are several
        groups.
        """
        fewest = min(self.counts.shape) - 1
        return Statistic(
            float(self.measure_deviation(self.counts)), self.df, self.strata.rows * fewest
        )


def _find_spread(margin: Floats, n: Floats) -> Floats:
    """Compute ``diag(m) - m m' / N`` of each group: how the counts of its levels vary together.

    Takes one variable's margin m, and the number of rows N of each group. Called by
    ``PooledGroups.whitener`` for both variables.
    """
    squares = -margin[:, :, None] * margin[:, None, :] / n[:, None, None]
    each = np.arange(margin.shape[1])
    squares[:, each, each] += margin
    return np.asarray(squares)


def pool_groups(strata: Strata, least: float = 0.0) -> PooledGroups | None:
    """Add up the two-way tables of all groups over common levels; None when no group is left.

    Rare levels are left out until every pooled cell has an expected count of ``least``. Called
    by ``_answer_by_formula``, and by ``find_evidence`` for an association over all groups.
    """
    common = _mark_common_levels(strata.one, strata.n) & _mark_common_levels(
        strata.other, strata.n
    )
    kept = strata if common.all() else strata.select(common)
    while len(kept):
        total = PooledGroups(kept)
        if (total.expected >= least).all():
            return total
        kept = kept.select(~_mark_rarest_level(total))
    return None


def _mark_common_levels(level: Codes, n: Floats) -> Mask:
    """Mark the cells whose level is among the ``MOST_LEVELS`` with the most rows.

    Called by ``pool_groups`` for each of the two variables.
    """
    rows = np.bincount(level, n)
    last = np.sort(rows)[::-1][:MOST_LEVELS][-1]
    return np.asarray(rows[level] >= last)


def _mark_rarest_level(total: PooledGroups) -> Mask:
    """Mark the cells of the level with the smallest expected count, so that they are dropped.

    Of the two variables, the one whose level is rarer. Called by ``pool_groups`` until every
    cell that is left is common enough.
    """
    i, j = np.unravel_index(total.expected.argmin(), total.expected.shape)
    if total.expected[i].sum() <= total.expected[:, j].sum():
        return np.asarray(total.places[0] == i)
    return np.asarray(total.places[1] == j)
