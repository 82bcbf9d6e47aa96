"""What would have been found: silence from little data is no support for a graph."""

from functools import lru_cache
from math import inf

from scipy.optimize import brentq
from scipy.special import chdtri, chndtr

from boundit.checks.association import Statistic

POWER = 0.8
"""A statement is called able to find what it finds in so large a share of logs."""


@lru_cache(maxsize=2**14)
def find_detectable_excess(df: int, level: float, power: float = POWER) -> float:
    """Find by how much a chi-square must exceed its degrees of freedom to be noticed.

    Noticed means significant at ``level`` in a share ``power`` of logs. Called by
    ``find_weakest_detectable``.

    >>> round(find_detectable_excess(1, 0.05), 2)
    7.85
    """
    limit, missed = chdtri(df, level), 1 - power
    high = 1.0
    while chndtr(limit, df, high) > missed:
        high *= 2
    return float(brentq(lambda away: missed - chndtr(limit, df, away), 0.0, high))


def find_weakest_detectable(statistic: Statistic, level: float) -> float:
    """Find the weakest association (Cramér's V) seen in 8 logs of 10; inf if V = 1 is not.

    ``level`` is the false alarm rate. Called by ``TestOutcome.find_detectable`` for the
    statistic of each question (any association, or a steady one).

    >>> find_weakest_detectable(Statistic(0.0, 1, weight=785.0), level=0.05)
    0.0999...
    >>> find_weakest_detectable(Statistic(0.0, 1, weight=5.0), level=0.05)
    inf
    """
    found = statistic.find_strength(find_detectable_excess(statistic.df, level))
    return found if found <= 1 else inf
