"""Test of one independence: generalized Cochran-Mantel-Haenszel, careful of small counts.

Rows alike in the variables given are a group. Within a group of N rows with margins r and c, and
all margins fixed, the count of a cell has mean r_i c_j / N under independence (hypergeometric).
Sums over groups are compared with sums of such means, so that very many groups of a few rows each
say as much as a few large ones, of whatever dependence is alike in them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, chndtrinc, gammainc, ndtr, ndtri, pdtrik

from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.levels import Codes, Levels
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence

Whole: TypeAlias = NDArray[np.integer[Any]]
DENSE = 2**20  # up to so many cells, adding up in place beats sorting
POWER = 0.8  # a test detects what it finds in so large a share of logs
EXACT = 1e-6  # Cramér's V below which an exact distribution is independent up to rounding
MOST_LEVELS = 20  # levels of a variable that are kept; the rarest others are merged
ENOUGH = 5.0  # expected counts below which rare levels are joined (Cochran 1954)
_MANY = 1e6  # counts beyond which a Poisson distribution is normal to all digits that matter
_CHUNK = 2**22


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes of ``levels``, in narrow columns; ``n`` is how often each was logged.

    A graph of a hundred nodes implies thousands of independences, each a small table counted
    anew. ``n`` is None where each row was logged once.
    """

    levels: Mapping[str, Levels]
    columns: Mapping[str, Whole]
    n: Floats | None
    length: int
    _groups: dict[Nodes, tuple[Whole, int]] = field(default_factory=dict, init=False)

    @classmethod
    def from_table(cls, table: CountTable, *, binary_outcome: bool = False) -> Self:
        """Make narrow columns of a table; a binary outcome can be a variable like any other."""
        columns = {
            name: table.codes[:, i].astype(_narrow(len(table.levels[name])))
            for i, name in enumerate(table.variables)
        }
        levels, n = dict(table.levels), table.n
        if binary_outcome and table.reward is not None and table.sums is not None:
            ones = np.rint(table.sums)
            n = np.concatenate([n - ones, ones])
            seen, outcome = n > 0, np.repeat(np.arange(2, dtype=np.uint8), len(table.n))
            columns = {name: np.tile(column, 2)[seen] for name, column in columns.items()}
            columns[table.reward], levels[table.reward] = outcome[seen], (0, 1)
            n = n[seen]
        once = not table.exact and bool((n == 1).all())
        return cls(levels, columns, None if once else n, len(n))

    def number_groups(self, given: Nodes) -> tuple[Whole, int]:
        """Number the groups of rows alike in some variables: the group of each row, how many.

        The last answer is kept, for independences given the same one after another.
        """
        if given not in self._groups:
            self._groups.clear()
            group: Whole = np.zeros(self.length, dtype=np.uint8)
            size = 1
            for name in sort_names(given):
                n_levels = len(self.levels[name])
                group = group.astype(_narrow(size * n_levels))
                group *= n_levels
                group += self.columns[name]
                size *= n_levels
                if size > DENSE // 4:
                    seen, group = np.unique(group, return_inverse=True)
                    size = len(seen)
            self._groups[given] = group, size
        return self._groups[given]

    def stratify(self, statement: Independence, *, drop_nulls: bool) -> "Strata":
        """Make the two-way tables of an independence, in the groups where both variables vary.

        Which groups these are depends on the margins alone, so that no answer is favored. With
        ``drop_nulls``, rows with a null in a variable of the independence are left out.
        """
        names = statement.one, statement.other
        groups, size = self.number_groups(statement.given)
        n_levels = [len(self.levels[name]) for name in names]
        size *= n_levels[0] * n_levels[1]
        packed, n = groups.astype(_narrow(size)), self.n
        for name, count in zip(names, n_levels, strict=True):
            packed *= count
            packed += self.columns[name]
        if drop_nulls and (holed := self._nulls.keys() & {*statement.given, *names}):
            whole = ~np.any([self.columns[v] == self._nulls[v] for v in holed], axis=0)
            packed, n = packed[whole], n if n is None else n[whole]
        if size <= DENSE:
            counts = np.bincount(packed, n, size)
            at = np.flatnonzero(counts)
            counts = counts[at]
        else:
            at, line = np.unique(packed, return_inverse=True)
            counts = np.bincount(line, n, len(at))
        place, pair = np.divmod(at.astype(np.int64), n_levels[0] * n_levels[1])
        one, other = np.divmod(pair, n_levels[1])
        return Strata(place, one, other, counts.astype(float)).keep_varied()

    def find_values(self, given: Nodes, group: int) -> tuple[tuple[str, object], ...]:
        """Find the value of each given variable in one group."""
        row = int((self.number_groups(given)[0] == group).argmax())
        return tuple((v, self.levels[v][self.columns[v][row]]) for v in sort_names(given))

    @cached_property
    def _nulls(self) -> dict[str, int]:
        return {v: levels.index(None) for v, levels in self.levels.items() if None in levels}


def _narrow(size: int) -> Any:
    """The narrowest type of whole numbers that holds all up to ``size``."""
    return np.min_scalar_type(size) if size < 2**32 else np.int64


@dataclass(frozen=True, eq=False)
class Strata:
    """The cells of the two-way tables of all groups, group by group; cells without rows not.

    ``place`` is the number that ``CodedRows.number_groups`` gave each cell's group.
    """

    place: Codes
    one: Codes
    other: Codes
    n: Floats

    def keep_varied(self) -> "Strata":
        """Keep the groups in which both variables take two values or more."""
        if not len(self.n):
            return self
        starts = np.flatnonzero(np.diff(self.place, prepend=-1))
        varied = np.ones(len(starts), dtype=bool)
        for level in (self.one, self.other):
            varied &= np.minimum.reduceat(level, starts) < np.maximum.reduceat(level, starts)
        kept = np.repeat(varied, np.diff(starts, append=len(self.n)))
        return Strata(self.place[kept], self.one[kept], self.other[kept], self.n[kept])

    @cached_property
    def group(self) -> Codes:
        """The groups, numbered close together."""
        return np.cumsum(np.diff(self.place, prepend=self.place[:1]) > 0)

    def pool(self, most: int | None = MOST_LEVELS) -> "PooledTable":
        """Add up the tables of all groups, the rarest of more than ``most`` levels as one."""
        n_groups, margins, codes, lines = int(self.group[-1]) + 1, [], [], []
        for level in (self.one, self.other):
            rows = np.bincount(level, self.n)
            common = np.argsort(-rows, kind="stable")[: np.count_nonzero(rows)]
            if most is not None and len(common) > most:
                own = np.append(np.sort(common[: most - 1]), -1)  # -1: all the rest
            else:
                own = np.sort(common)
            line = np.full(len(rows), len(own) - 1)
            line[own[own >= 0]] = np.flatnonzero(own >= 0)
            at = self.group * len(own) + line[level]
            margin: Floats = np.bincount(at, self.n, n_groups * len(own)).astype(float)
            codes.append(own)
            lines.append(line[level])
            margins.append(margin.reshape(n_groups, -1))
        shape = len(codes[0]), len(codes[1])
        pair = lines[0] * shape[1] + lines[1]
        counts: Floats = np.bincount(pair, self.n, shape[0] * shape[1]).astype(float)
        return PooledTable(
            (codes[0], codes[1]), (margins[0], margins[1]), counts.reshape(shape)
        )

    @cached_property
    def expected(self) -> Floats:
        """What each cell would have if the variables were independent in its group."""
        table = self.pool(None)
        at = [
            np.searchsorted(c, v)
            for c, v in zip(table.codes, (self.one, self.other), strict=True)
        ]
        first, second = (m[self.group, i] for m, i in zip(table.margins, at, strict=True))
        return np.asarray(first * second / table.totals[self.group])


@dataclass(frozen=True, eq=False)
class PooledTable:
    """The counts of two variables over all groups, and the margins of every group.

    ``margins`` have a line for each group and a column for each level; ``codes`` are the levels'.
    """

    codes: tuple[Codes, Codes]
    margins: tuple[Floats, Floats]
    counts: Floats

    @property
    def totals(self) -> Floats:
        """The rows of each group."""
        return np.asarray(self.margins[0].sum(axis=1))

    @cached_property
    def expected(self) -> Floats:
        """The mean count of each pair of levels under independence within every group."""
        rows, columns = self.margins
        return np.asarray(rows.T @ (columns / self.totals[:, None]))

    @cached_property
    def leeway(self) -> Floats:
        """The mean count of each cell or, where that is rarer in a group, of what it leaves.

        A level that nearly all rows of a group have shows as little as one that few rows have.
        It is inf where the two levels never can meet, or not fail to.
        """
        n = self.totals[:, None]
        rows, columns = (np.minimum(margin, n - margin) for margin in self.margins)
        found = rows.T @ (columns / n)
        return np.where(found > 0, found, np.inf)

    def join_rare_levels(self) -> "PooledTable":
        """Join rare levels until expected counts are enough, or both variables have two left.

        Independence holds of coarser levels too, and which are joined depends on margins alone.
        """
        table = self
        while table.leeway.min() < ENOUGH and max(table.counts.shape) > 2:
            i, j = np.unravel_index(table.leeway.argmin(), table.leeway.shape)
            rarer = int(table.expected[:, j].sum() < table.expected[i].sum())
            axis = rarer if table.counts.shape[rarer] > 2 else 1 - rarer
            first, second = np.argsort(table.margins[axis].sum(axis=0), kind="stable")[:2]
            join = np.eye(table.counts.shape[axis])
            join[first, second] = 1
            join = np.delete(join, first, axis=1)
            rows, columns = table.margins
            if axis == 0:
                rows, counts = rows @ join, join.T @ table.counts
            else:
                columns, counts = columns @ join, table.counts @ join
            table = PooledTable(table.codes, (rows, columns), counts)
        return table

    def measure_deviation(self) -> tuple[float, int]:
        """Measure how far pooled counts are from their means: a chi-square and its df.

        The general association statistic Q_GMH (Landis, Heyman and Koch 1978). The last level of
        each variable is left out; levels that never meet in a group cost degrees of freedom.
        """
        rows, columns = (margin[:, :-1] for margin in self.margins)
        n, (r, c) = self.totals, (rows.shape[1], columns.shape[1])
        added = np.zeros((r * r, c * c))
        size = max(1, _CHUNK // (r * r + c * c))
        for i in range(0, len(n), size):
            total = n[i : i + size, None, None]
            left, right = (
                m[i : i + size, :, None] * (np.eye(m.shape[1]) - m[i : i + size, None] / total)
                for m in (rows, columns)
            )
            added += (left / (total - 1)).reshape(-1, r * r).T @ right.reshape(-1, c * c)
        covariance = added.reshape(r, r, c, c).transpose(0, 2, 1, 3).reshape(r * c, r * c)
        values, vectors = np.linalg.eigh(covariance)
        free = values > ROUNDING * max(values.max(), ROUNDING)
        away = (self.counts - self.expected)[:-1, :-1].ravel()
        parts = away @ vectors[:, free] / np.sqrt(values[free])
        return float(parts @ parts), int(free.sum())


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """What the test of one independence came to; ``rows`` in so many ``groups`` counted.

    ``weight`` turns what exceeds sampling error into Cramér's V: V² = (statistic - df) / weight.
    ``least`` is the smallest expected count, inf in an exact distribution.
    """

    statistic: float
    df: int
    p: float
    weight: float
    least: float
    rows: float
    groups: int

    @property
    def exact(self) -> bool:
        """Whether the log is an exact distribution, where p is 0 or 1."""
        return self.least == inf

    @property
    def strength(self) -> float:
        """Cramér's V beyond sampling error: 0 independent, 1 one variable determines the other."""
        return sqrt(max(self.statistic - self.df, 0.0) / self.weight)

    def find_detectable(self, level: float) -> float:
        """Find the weakest dependence (Cramér's V) that 8 logs of 10 would show; inf if none.

        It is one that is alike in all groups. The statistic is then noncentral chi-square, with
        V² times the weight as its noncentrality; ``level`` is the test's false alarm rate.
        """
        if self.exact:
            return 0.0
        # The statistic whose p-value is the level: the inverse of _find_tail.
        away = (pdtrik(1 - level / 2, self.least) + 1 - self.least) / sqrt(self.least)
        limit = float(chdtri(self.df, 2 * ndtr(-away)))
        if not isfinite(limit):
            return inf
        found = sqrt(chndtrinc(limit, self.df, 1 - POWER) / self.weight)
        return found if found <= 1 else inf


def judge_independence(strata: Strata, *, exact: bool = False) -> IndependenceTest | None:
    """Test whether two variables are independent in all groups; None where no group shows it.

    Of an ``exact`` distribution p is 0 or 1.
    """
    if not len(strata.n):
        return None
    rows, groups = float(strata.n.sum()), int(strata.group[-1]) + 1
    if exact:
        levels = [(margin > 0).sum(axis=1) for margin in strata.pool(None).margins]
        totals = np.bincount(strata.group, strata.n)
        weight = float(totals @ (np.minimum(*levels) - 1))
        away = max(float((strata.n / strata.expected * strata.n).sum()) - rows, 0.0)
        return IndependenceTest(
            away, 0, float(sqrt(away / weight) <= EXACT), weight, inf, rows, groups
        )
    table = strata.pool().join_rare_levels()
    statistic, df = table.measure_deviation()
    if not df:
        return None
    least, weight = min(float(table.leeway.min()), _MANY), rows * (min(table.counts.shape) - 1)
    return IndependenceTest(
        statistic, df, _find_tail(statistic, df, least), weight, least, rows, groups
    )


def _find_tail(statistic: float, df: int, least: float) -> float:
    # Chi-square is the limit of large counts, and its tail is too light for small ones. Under
    # independence a cell's count is a sum of independent coins (the generating function of the
    # hypergeometric distribution has real roots), so that it is at most as skewed than a Poisson
    # count. The p-value is that of a Poisson count with the smallest expected count as its mean,
    # on both sides, if it is off by as many standard deviations as chi-square's tail says. For
    # 2 x 2 tables it is at most the level at 0.05 and below, however sparse the groups; a test
    # enumerates the tables of random margins. For larger tables it is an approximation.
    deviations = -ndtri(chdtrc(df, statistic) / 2)
    return min(1.0, 2 * float(gammainc(least + deviations * sqrt(least), least)))


def correct_by_holm(p_values: list[float]) -> list[float]:
    """Correct p-values for their number, so that all of them hold at once (Holm 1979).

    >>> correct_by_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, floor, left = [0.0] * len(p_values), 0.0, len(p_values)
    for place in sorted(range(left), key=p_values.__getitem__):
        floor = max(floor, min(1.0, left * p_values[place]))
        corrected[place] = floor
        left -= 1
    return corrected


@dataclass(frozen=True, slots=True)
class Evidence:
    """Among ``rows`` with one level, the share of a level of the other, and what it should be.

    ``where`` is the group; it is empty where all groups are added up.
    """

    one: object
    other: object
    share: float
    expected: float
    rows: float
    where: tuple[tuple[str, object], ...] = ()
    pooled: bool = False


def find_evidence(
    strata: Strata, statement: Independence, log: CodedRows, *, exact: bool = False
) -> Evidence:
    """Find the pair of levels that contradicts an independence most.

    Over all groups, and in its group where the log is an exact distribution.
    """
    if exact:
        worst = int(_measure_surprise(strata.n, strata.expected).argmax())
        own = strata.place == strata.place[worst]
        strata = Strata(
            *(each[own] for each in (strata.place, strata.one, strata.other, strata.n))
        )
    table = strata.pool()
    surprise = _measure_surprise(table.counts, table.expected)
    surprise[table.codes[0] < 0] = surprise[:, table.codes[1] < 0] = -np.inf
    i, j = np.unravel_index(surprise.argmax(), surprise.shape)
    rows = float(table.counts[i].sum())
    return Evidence(
        log.levels[statement.one][table.codes[0][i]],
        log.levels[statement.other][table.codes[1][j]],
        float(table.counts[i, j]) / rows,
        float(table.expected[i, j]) / rows,
        rows,
        log.find_values(statement.given, int(strata.place[0])) if exact else (),
        pooled=strata.group[-1] > 0,
    )


def _measure_surprise(counts: Floats, expected: Floats) -> Floats:
    """How unlikely each count is under independence, on the log scale: rare cells do not win."""
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return np.asarray(counts * np.log(ratio) - (counts - expected))
