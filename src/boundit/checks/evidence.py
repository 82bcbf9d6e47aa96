"""Where the log disagrees: the pair of levels that strays furthest from independence."""

from dataclasses import dataclass

import numpy as np

from boundit.checks.association import PooledGroups, pool_groups
from boundit.checks.coded_rows import CodedRows
from boundit.checks.strata import Strata
from boundit.counts.levels import Levels
from boundit.counts.named_array import Floats
from boundit.graph.implications import Independence
from boundit.terms.names import sort_names


@dataclass(frozen=True, slots=True)
class Evidence:
    """Among ``rows`` with one level, how often the other has its own, and how often it should.

    ``where`` says in which group; it is empty when all groups are added up.
    """

    one: object
    other: object
    where: tuple[tuple[str, object], ...]
    share: float
    expected: float
    rows: float
    pooled: bool


def find_evidence(
    strata: Strata,
    statement: Independence,
    log: CodedRows,
    *,
    steady: bool,
) -> Evidence:
    """Find the pair of levels that most plainly contradicts an independence, with its counts.

    It is looked for in the group that strays furthest or, if the association is ``steady``,
    over all groups. Called by ``_TestRunner.run`` where the statement may be contradicted.
    """
    ones, others = log.levels[statement.one], log.levels[statement.other]
    if steady and (total := pool_groups(strata)):
        return _find_strongest_pair(total, ones, others)
    group = _find_strongest_group(strata)
    inside = np.where(
        strata.group == group, _measure_surprise(strata.n, strata.expected), -np.inf
    )
    i = int(inside.argmax())
    values = log.find_values(statement.given, int(strata.places[group]))
    place = tuple(zip(sort_names(statement.given), values, strict=True))
    rows = float(strata.first_margin.n[strata.first_margin.line[i]])
    return Evidence(
        ones[strata.one[i]],
        others[strata.other[i]],
        place,
        float(strata.n[i]) / rows,
        float(strata.expected[i]) / rows,
        rows,
        pooled=False,
    )


def _find_strongest_pair(total: PooledGroups, ones: Levels, others: Levels) -> Evidence:
    """Find the pair of levels that disagrees most with independence over all groups together.

    Called by ``find_evidence`` for a steady association.
    """
    surprise = _measure_surprise(total.counts, total.expected)
    i, j = np.unravel_index(surprise.argmax(), surprise.shape)
    rows = float(total.counts[i].sum())
    return Evidence(
        ones[total.levels[0][i]],
        others[total.levels[1][j]],
        (),
        float(total.counts[i, j]) / rows,
        float(total.expected[i, j]) / rows,
        rows,
        pooled=True,
    )


def _find_strongest_group(strata: Strata) -> int:
    """Find the number of the group whose counts stray furthest beyond chance.

    Groups are compared by likelihood ratio. Called by ``find_evidence`` when the association is
    not steady, alike in all groups.
    """
    ratio = np.bincount(strata.group, strata.n * np.log(strata.n / strata.expected))
    ones, others = strata.sizes
    return int((2 * ratio - (ones - 1) * (others - 1)).argmax())


def _measure_surprise(counts: Floats, expected: Floats) -> Floats:
    """Measure how unlikely each cell's count is under independence, on the log scale.

    On that scale rare cells do not win by themselves. Called by ``find_evidence`` and
    ``_find_strongest_pair`` to choose a pair of levels.
    """
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return np.asarray(counts * np.log(ratio) - (counts - expected))
