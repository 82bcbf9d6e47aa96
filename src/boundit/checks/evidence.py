"""Where the log disagrees: the pair of levels that strays furthest from independence."""

from dataclasses import dataclass

import numpy as np

from boundit.checks.coded_rows import CodedRows
from boundit.checks.pooled import PooledTable
from boundit.checks.strata import Strata
from boundit.core.names import sort_names
from boundit.counts.named_array import Floats
from boundit.graph.implications import Independence


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


def find_evidence(strata: Strata, statement: Independence, log: CodedRows) -> Evidence:
    """Find the pair of levels that most plainly contradicts an independence over all groups."""
    table = PooledTable.from_strata(strata)
    surprise = _measure_surprise(table.counts, table.expected)
    for axis, levels in enumerate(table.levels):
        joined = [i for i, each in enumerate(levels) if len(each) > 1]
        surprise[(slice(None),) * axis + (joined,)] = -np.inf
    i, j = np.unravel_index(surprise.argmax(), surprise.shape)
    (one,), (other,) = table.levels[0][i], table.levels[1][j]
    rows = float(table.counts[i].sum())
    return Evidence(
        log.levels[statement.one][one],
        log.levels[statement.other][other],
        (),
        float(table.counts[i, j]) / rows,
        float(table.expected[i, j]) / rows,
        rows,
        pooled=len(strata) > 1,
    )


def find_exact_evidence(strata: Strata, statement: Independence, log: CodedRows) -> Evidence:
    """Find the cell of an exact law that contradicts an independence most, in its group."""
    i = int(_measure_surprise(strata.n, strata.expected).argmax())
    values = log.find_values(statement.given, int(strata.places[strata.group[i]]))
    rows = float(strata.first_margin.n[strata.first_margin.line[i]])
    return Evidence(
        log.levels[statement.one][strata.one[i]],
        log.levels[statement.other][strata.other[i]],
        tuple(zip(sort_names(statement.given), values, strict=True)),
        float(strata.n[i]) / rows,
        float(strata.expected[i]) / rows,
        rows,
        pooled=False,
    )


def _measure_surprise(counts: Floats, expected: Floats) -> Floats:
    """Measure how unlikely each cell's count is under independence, on the log scale.

    On that scale rare cells do not win by themselves.
    """
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return np.asarray(counts * np.log(ratio) - (counts - expected))
