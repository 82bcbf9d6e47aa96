r"""Multipliers of what is known of a population, found on the pilot.

For a threshold ``t`` let ``v = (worth - t) 1(given)`` be what a cell counts. With multipliers
:math:`y_0` of the total and :math:`y_k` of a table's cells, and ``r`` the weights of kinds,

.. math:: N - t D = y_0 + \sum_k y_k P(k) + \sum_m r(m) F_m, \qquad
          F_m = E[(v - y_0 - y_k) 1(M = m)]

whatever they are, since weighted shares add up to one and agree with the tables. Those are best
that leave most when every ``F_m`` is taken at the worse of its weights: a linear program.
"""

from dataclasses import dataclass
from math import inf
from typing import Final, final

import numpy as np

from boundit.bounds.claims.selection.selection_cells import SelectionCells
from boundit.bounds.lp.program import Program, SolveStatus, SparseMatrix
from boundit.counts.named_array import Floats
from boundit.terms.long_work import TimeBudget

MOST_STEPS: Final = 8
"""How often a threshold is moved to what the pilot's population earns there."""
_SLACK: Final = 8.0  # what it costs to miss a table: the pilot's shares may contradict it
_NEAR: Final = 1e-7


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers of the total and of every table's cells, and the weights of kinds there."""

    total: float
    tables: tuple[Floats, ...]
    weights: Floats


@final
class MultiplierFinder:
    """Finds multipliers for any threshold; the program is made once, its objective changes."""

    def __init__(self, cells: SelectionCells, budget: TimeBudget) -> None:
        self.cells, self.budget = cells, budget
        kinds = cells.shares.sum(axis=1)
        rows, ends = [kinds], [1 - cells.low * kinds.sum()]
        for table in cells.tables:
            for k, share in enumerate(table.shares):
                within = (cells.shares * (table.index == k)).sum(axis=1)
                rows.append(within)
                ends.append(float(share) - cells.low * float(within.sum()))
        # Slack in every row: of a row without any, multipliers would be mended for weights
        # that have no upper limit.
        n_slack = len(rows)
        slack = np.eye(n_slack)
        matrix = np.concatenate([np.array(rows), slack, -slack], axis=1)
        highest = np.concatenate(
            [np.full(len(kinds), cells.high - cells.low), np.full(2 * n_slack, inf)]
        )
        right = np.array(ends)
        self._slack = np.full(2 * n_slack, _SLACK)
        self._program = Program(
            SparseMatrix.from_dense(matrix), lower=right, upper=right, highest=highest
        )

    def find(self, value: Floats) -> Multipliers | None:
        """Find the best multipliers for what cells count at one threshold; None without any."""
        cost = (self.cells.shares * value).sum(axis=1)
        found = self._program.minimise(
            np.concatenate([cost, self._slack]), seconds=self.budget.count_seconds()
        )
        if found.status is not SolveStatus.OPTIMAL:
            return None
        total, *others = found.multipliers
        sizes = np.cumsum([len(table.shares) for table in self.cells.tables])
        tables = tuple(np.split(np.array(others), sizes[:-1])) if len(sizes) else ()
        return Multipliers(total, tables, found.point[: len(cost)] + self.cells.low)

    def solve(self, worth: Floats, there: Floats) -> tuple[float, Multipliers] | None:
        """Find the least mean that the pilot allows for, with its multipliers; None without.

        The threshold goes to the mean at the worst weights until it stays (Dinkelbach).
        """
        t, solved = 0.5, None
        for _ in range(MOST_STEPS):
            found = self.find((worth - t) * there)
            if found is None:
                return None
            masses = self.cells.shares * found.weights[:, None] * there
            if masses.sum() <= _NEAR:
                return None
            before, t = t, float((masses * worth).sum() / masses.sum())
            solved = t, found
            if abs(t - before) < _NEAR:
                break
        return solved
