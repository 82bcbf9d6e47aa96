"""The test of one independence: generalised Cochran-Mantel-Haenszel, careful of small counts."""

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np
from scipy.special import chdtrc, chdtri, chndtrinc, gammainc, ndtr, ndtri, pdtrik

from boundit.checks.pooled import PooledTable
from boundit.checks.strata import Strata

POWER = 0.8
"""A test is called able to find what it finds in so large a share of logs."""
EXACT = 1e-6
"""An exact law that is independent up to rounding has a Cramér's V below this."""
_MANY = 1e6  # counts beyond which Poisson's law is normal to all digits that matter


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What the test of one independence came to; ``rows`` in so many ``groups`` had a say.

    ``weight`` turns what is beyond chance into Cramér's V: V² = (statistic - df) / weight.
    ``least`` is the smallest expected count, inf in an exact law, which has no chance in it.
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
        """Whether the log is an exact law, where p is 0 or 1."""
        return self.least == inf

    @property
    def strength(self) -> float:
        """Cramér's V beyond chance: 0 nothing, 1 one variable tells the other."""
        return sqrt(max(self.statistic - self.df, 0.0) / self.weight)

    def find_detectable(self, level: float) -> float:
        """Find the weakest dependence (Cramér's V) that 8 logs of 10 would show; inf if none.

        It is one that is alike in all groups, and ``level`` the false alarm rate of the test.
        The statistic then has a noncentral chi-square law, with V² times the weight as its
        noncentrality.
        """
        if self.exact:
            return 0.0
        limit = _find_limit(level, self.df, self.least)
        if not isfinite(limit):
            return inf
        found = sqrt(chndtrinc(limit, self.df, 1 - POWER) / self.weight)
        return found if found <= 1 else inf


def judge_independence(strata: Strata) -> TestOutcome | None:
    """Test whether two variables are independent in all groups; None when no group can tell."""
    if not len(strata):
        return None
    table = PooledTable.from_strata(strata).join_rare_levels()
    statistic, df = table.measure_deviation()
    if not df:
        return None
    least = min(float(table.leeway.min()), _MANY)
    weight = strata.rows * (min(table.counts.shape) - 1)
    p = _find_tail(statistic, df, least)
    return TestOutcome(statistic, df, p, weight, least, strata.rows, len(strata))


def judge_exact_law(strata: Strata) -> TestOutcome | None:
    """Judge independence in an exact law, where p is 1 or 0; None when no group can tell."""
    if not len(strata):
        return None
    ones, others = strata.sizes
    away = float((strata.n / strata.expected * strata.n).sum()) - strata.rows
    weight = float(strata.totals @ (np.minimum(ones, others) - 1))
    p = 0.0 if sqrt(max(away, 0.0) / weight) > EXACT else 1.0
    return TestOutcome(max(away, 0.0), 0, p, weight, inf, strata.rows, len(strata))


# Chi-square is the limit law of large counts, and its tail is too light for small ones. Under
# independence a cell's count is a sum of independent coins (the generating function of the
# hypergeometric law has real roots), so that it is no more skewed than a Poisson count. The
# p-value is that of a Poisson count with the smallest expected count as its mean, on both sides,
# if it strays by as many standard deviations as chi-square's tail says. For tables of two by two
# it is at most the level at 0.05 and below, however sparse the groups; a test
# enumerates the tables of random margins. For larger tables it is an approximation.


def _find_tail(statistic: float, df: int, least: float) -> float:
    deviations = -ndtri(chdtrc(df, statistic) / 2)
    return min(1.0, 2 * float(gammainc(least + deviations * sqrt(least), least)))


def _find_limit(level: float, df: int, least: float) -> float:
    """Find the statistic whose p-value is ``level``: the inverse of ``_find_tail``."""
    deviations = (pdtrik(1 - level / 2, least) + 1 - least) / sqrt(least)
    return float(chdtri(df, 2 * ndtr(-deviations)))


def correct_by_holm(p_values: list[float]) -> list[float]:
    """Correct p-values for their number, so that all of them hold at once (Holm).

    >>> correct_by_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, floor, left = [0.0] * len(p_values), 0.0, len(p_values)
    for place in sorted(range(left), key=p_values.__getitem__):
        floor = max(floor, min(1.0, left * p_values[place]))
        corrected[place] = floor
        left -= 1
    return corrected
