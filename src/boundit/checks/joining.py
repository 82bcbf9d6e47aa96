"""Rare levels joined, until counts are large enough for chi-square.

If one variable tells nothing about another, it tells nothing about any coarser version of it.
Which levels are joined depends on the margins alone, so the choice favours no answer.
"""

import numpy as np

from boundit.checks.strata import Margin, Strata
from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats


def join_rare_levels(strata: Strata, least: float) -> Strata:
    """Join rare levels of two variables, group by group, until expected counts reach ``least``.

    A variable whose levels are common enough for the other's stays as it is. Groups in which a
    variable has one level left are left out. Called by ``_answer_by_formula`` before
    chi-square.
    """
    n, n_groups = strata.totals, len(strata)
    ones, others = (
        strata.first_margin.find_rarest(n_groups),
        strata.second_margin.find_rarest(n_groups),
    )
    both = np.sqrt(least * n)
    need_one = np.where(others >= both, least * n / others, both)
    need_other = np.where(ones >= both, least * n / ones, both)
    if ((ones >= need_one) & (others >= need_other)).all():
        return strata
    one, n_ones = number_levels(strata.first_margin, need_one, strata.n_levels[0])
    other, n_others = number_levels(strata.second_margin, need_other, strata.n_levels[1])
    return strata.relevel(
        one[strata.first_margin.line], other[strata.second_margin.line], (n_ones, n_others)
    )


def number_levels(margin: Margin, least: Floats, n_levels: int) -> tuple[Codes, int]:
    """Renumber one variable's levels in each group so that each has ``least`` rows.

    Returns the new level of each line of the margin, and how many levels there are. From the
    rarest on, rare levels are joined to new ones of twice that size; a remainder goes to the
    last of these, or to the rarest of the levels that are common. Called by
    ``join_rare_levels`` for both variables.
    """
    order = np.lexsort((margin.level, margin.n, margin.group))
    group, level, n = margin.group[order], margin.level[order], margin.n[order]
    rare = n < least[group]
    batch = _number_batches(group, np.where(rare, n, 0.0), least)
    homeless = rare & (batch < 0)
    given = np.where(rare, n_levels + batch, level)
    given[homeless] = _find_first_level(group[~rare], level[~rare], len(least))[group[homeless]]
    back = np.empty_like(given)
    back[order] = given
    return back, n_levels + int(batch.max(initial=0)) + 1


def _number_batches(group: Codes, rows: Floats, least: Floats) -> Codes:
    """Number the batches that each group's rare levels are joined to; -1 where they fill none.

    A batch becomes one level of at least ``least`` rows. No line alone fills a batch, so one of
    twice the size still holds ``least`` rows when a line overlaps its start. Called by
    ``number_levels``.
    """
    start = np.searchsorted(group, np.arange(len(least)))
    before = np.cumsum(rows) - rows
    before -= before[start][group]
    batch = (before // (2 * least[group])).astype(np.int64)
    last = np.zeros(len(least), dtype=np.int64)
    np.maximum.at(last, group[rows > 0], batch[rows > 0])
    remainder = (rows > 0) & (batch == last[group])
    size = np.bincount(group, np.where(remainder, rows, 0.0), len(least))
    return np.asarray(batch - (remainder & (size < least)[group]))


def _find_first_level(group: Codes, level: Codes, n_groups: int) -> Codes:
    """Find the first of the common levels of each group; any number where a group has none.

    Called by ``number_levels`` for rare levels that fill no batch and are joined to it.
    """
    found = np.zeros(n_groups, dtype=np.int64)
    at, first = np.unique(group, return_index=True)
    found[at] = level[first]
    return found
