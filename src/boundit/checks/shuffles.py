"""Chance itself: tables drawn with the margins of the log, all as likely as independence makes.

When counts are small no formula says how large a statistic gets by chance. Shuffling one
variable among the rows of each group does, exactly: given the margins, every shuffle is as
likely as what was logged, if the statement is true. A shuffled table is drawn cell by cell, so
a draw costs the same for ten rows and for ten million.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.checks.association import PooledGroups
from boundit.counts.named_array import Floats
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.rounding import ROUNDING

ENOUGH = 50
"""A statistic that so many shuffles reach is explained by chance: no more are drawn."""
WORK = 2 * 10**7
"""So many cells may be drawn for one statement: some seconds."""
_CHUNK = 2**20
_FIRST = 200
_STEPS = 19


@dataclass(frozen=True, slots=True)
class Chance:
    """How often shuffles do what the log did; ``draws`` is how many were looked at."""

    p: float
    draws: int


def count_cells(total: PooledGroups) -> int:
    """Count the cells of the tables that one shuffle draws, over all groups.

    Called by ``_needs_shuffles`` to see what shuffling would cost.
    """
    one, other = total.levels
    return len(total.strata) * (len(one) - 1) * (len(other) - 1)


def draw_tables(total: PooledGroups, draws: int, rng: Generator) -> Floats:
    """Draw two-way tables at random with the log's margins, as if the two were independent.

    The array has axes draw, group, level of the first and of the second variable. Called by
    ``find_chances``, batch by batch.
    """
    rows, columns = (margin.astype(np.int64) for margin in total.margins)
    (n_groups, r), c = rows.shape, columns.shape[1]
    tables = np.zeros((draws, n_groups, r, c), dtype=np.int64)
    left = np.broadcast_to(columns, (draws, n_groups, c)).copy()
    for i in range(r - 1):
        to_place = np.broadcast_to(rows[:, i], (draws, n_groups)).copy()
        beyond = left.sum(axis=-1)
        for j in range(c - 1):
            beyond -= left[:, :, j]
            tables[:, :, i, j] = rng.hypergeometric(left[:, :, j], beyond, to_place)
            to_place -= tables[:, :, i, j]
        tables[:, :, i, -1] = to_place
        left -= tables[:, :, i]
    tables[:, :, -1] = left
    return tables.astype(np.float64)


def find_chances(
    total: PooledGroups,
    most: int,
    rng: Generator,
    *,
    work: int = WORK,
    time: TimeBudget = FOR_EVER,
) -> tuple[Chance, ...]:
    """Find how often shuffles show as much association as the log: any, and steady.

    A steady association is alike in all groups; with a single group the two are one. Drawing
    stops early once chance explains both (Besag and Clifford's sequential test): with l draws
    for h that reach what was seen, p is h / l, and with all ``most`` it is (h + 1) / (most +
    1). Either way p is at most a with a chance of at most a. ``work`` is how many cells may be
    drawn in all, in steps of a part of it. Nothing is returned when the ``time`` is over first.
    Called by ``_answer_by_shuffles``.
    """
    measures = [_make_any_measure(total)]
    if len(total.strata) > 1:
        measures.append(lambda tables: total.measure_deviation(tables.sum(axis=1)))
    seen = [float(measure(_lay_out_log(total)[None])[0]) for measure in measures]
    reached = [np.zeros(0, dtype=np.bool_) for _ in measures]
    # Of many statements each may draw little, and should draw little in vain.
    chunk = min(_CHUNK, work // _STEPS)
    batch = max(1, chunk // (len(total.strata) * total.counts.size))
    while len(reached[0]) < most and min(r.sum() for r in reached) < ENOUGH:
        if time.is_over():
            return ()
        left = most - len(reached[0])
        first = _FIRST if not len(reached[0]) else left
        tables = draw_tables(total, min(first, batch, left), rng)
        for i, measure in enumerate(measures):
            hits = measure(tables) >= seen[i] - ROUNDING * (1 + abs(seen[i]))
            reached[i] = np.concatenate([reached[i], hits])
    return tuple(_read_chance(hits, most) for hits in reached)


def _read_chance(reached: NDArray[np.bool_], most: int) -> Chance:
    """Compute a p-value from which shuffles reached the log's statistic, and their number.

    Returns both as a ``Chance``. Called by ``find_chances``.
    """
    hits = np.flatnonzero(reached)
    if len(hits) >= ENOUGH:
        draws = int(hits[ENOUGH - 1]) + 1
        return Chance(ENOUGH / draws, draws)
    return Chance((len(hits) + 1) / (most + 1), most)


def _make_any_measure(total: PooledGroups) -> Callable[[Floats], Floats]:
    """Make the function that measures the association in shuffled tables, in any group.

    Called by ``find_chances`` once per independence tested, for all batches of shuffles.
    """
    rows, columns = total.margins
    n = total.strata.totals
    product = rows[:, :, None] * columns[:, None, :]
    weights = np.divide(
        (n - 1)[:, None, None], product, out=np.zeros_like(product), where=product > 0
    )
    constant = float((n - 1).sum())
    return lambda tables: np.tensordot(tables * tables, weights, axes=3) - constant


def _lay_out_log(total: PooledGroups) -> Floats:
    """Lay out the log's own tables in the shape of one shuffle, to be measured the same way.

    Called by ``find_chances``, which compares shuffles with it.
    """
    strata = total.strata
    dense = np.zeros((len(strata), *total.counts.shape))
    dense[strata.group, *total.places] = strata.n
    return dense
