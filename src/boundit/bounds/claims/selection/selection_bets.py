r"""Bets that a mean of the population is above a threshold, whatever the weights of kinds are.

Under the hypothesis :math:`N \le t D`, with multipliers fixed by the pilot, a row counts
:math:`U = r(m) u + y_0 + g`, where :math:`u = v - y_0 - y_k` and ``g`` is a guess of
:math:`\sum_k y_k P(k)`. The capital

.. math:: \prod_i (1 + s\, U_i) \prod_j (1 + s' (y_{k_j} - g)), \qquad s n = s' n'

over the rows ``i`` of the log and ``j`` of a table has a mean of at most
:math:`\exp(s n (N - t D)) \le 1`. That is so for the true weights, which nobody knows; but its
logarithm is a sum over kinds of functions concave in ``r(m)``, so that the least is found at a
limit of each. Without an upper limit ``u`` is made nowhere negative, and the least is at the
lower one.

Several multipliers make several capitals, each with its part of the error. If none of them
reached its due at the true weights, no mean of their logarithms would; so a mean, chosen after
all rows are seen, may be held against what is due. The pilot's multipliers, which err as the
pilot does, are moved up and down: the best are then between them.
"""

from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from boundit.bounds.claims.penalties import CAP
from boundit.bounds.claims.selection.selection_cells import SelectionCells
from boundit.counts.named_array import Floats

N_MEANS: Final = 17
"""How many means of two capitals are tried."""


@dataclass(frozen=True, eq=False)
class SelectionBets:
    """What the pilot fixed for one end of one row: thresholds in order, multipliers, scales.

    ``value`` is what cells count, with thresholds on the first axis; ``total`` and ``tables``
    are the multipliers by direction and threshold, ``scale`` the scales alike.
    """

    cells: SelectionCells
    steps: Floats
    value: Floats
    total: Floats
    tables: tuple[Floats, ...]
    scale: Floats

    @property
    def log_parts(self) -> float:
        """The logarithm of how many capitals share the error."""
        return log(len(self.total))

    def count_log(self, counts: Floats, tables: tuple[Floats | None, ...]) -> Floats:
        """Compute the logarithm of the capital at every threshold, for the worst weights.

        ``counts`` are rows of the log by cell, those of ``tables`` follow.
        """
        by_weight, by_table = list[Floats](), list[Floats]()
        for place, scale in enumerate(self.scale):
            left, shift = weigh_cells(
                self.cells, self.value, self.total[place], self._at(place)
            )
            s = scale[:, None, None]
            kinds = [
                (counts * np.log1p(s * (weight * left + shift))).sum(axis=-1)
                for weight in self.cells.weights
            ]
            by_weight.append(np.stack(kinds))
            by_table.append(self._count_tables(place, scale, tables))
        if len(by_weight) == 1:
            alone: Floats = by_weight[0].min(axis=0).sum(axis=-1) + by_table[0]
            return alone
        means = [
            (part * by_weight[0] + (1 - part) * by_weight[1]).min(axis=0).sum(axis=-1)
            + part * by_table[0]
            + (1 - part) * by_table[1]
            for part in np.linspace(0, 1, N_MEANS)
        ]
        best: Floats = np.stack(means).max(axis=0)
        return best

    def _count_tables(
        self, place: int, scale: Floats, tables: tuple[Floats | None, ...]
    ) -> Floats:
        """Compute what the rows of tables add to the logarithm of one capital."""
        found = np.zeros_like(scale)
        n_rows = self.cells.counts.sum()
        for cells, rows, y in zip(self.cells.tables, tables, self._at(place), strict=True):
            if rows is not None and cells.counts is not None:
                own = (scale * n_rows / cells.counts.sum())[:, None]
                found = found + (rows * np.log1p(own * (y - (y @ cells.shares)[:, None]))).sum(
                    axis=-1
                )
        return found

    def _at(self, place: int) -> tuple[Floats, ...]:
        """Take the multipliers of tables in one direction."""
        return tuple(each[place] for each in self.tables)


def weigh_cells(
    cells: SelectionCells, value: Floats, total: Floats, tables: tuple[Floats, ...]
) -> tuple[Floats, Floats]:
    """Compute what is left of a cell's value, and what is added to every row.

    The axes are thresholds, kinds and cells.
    """
    left, shift = value - total[:, None, None], total
    for table, y in zip(cells.tables, tables, strict=True):
        left = left - y[:, table.index]
        shift = shift + y @ table.shares
    return left, shift[:, None, None]


def mend_totals(
    cells: SelectionCells, value: Floats, total: Floats, tables: tuple[Floats, ...]
) -> Floats:
    """Lower the multipliers of the total until nothing left is negative."""
    left, _ = weigh_cells(cells, value, total, tables)
    found: Floats = total + np.minimum(left.min(axis=(1, 2)), 0.0)
    return found


def choose_scale(
    cells: SelectionCells,
    value: Floats,
    total: Floats,
    tables: tuple[Floats, ...],
    log_error: float,
) -> Floats:
    """Choose the scale of every threshold's bets, by the variance that the pilot expects.

    No bet may come near to losing everything, in whichever cell.
    """
    left, shift = weigh_cells(cells, value, total, tables)
    counted = np.stack([weight * left + shift for weight in cells.weights])
    means = (cells.shares * left).sum(axis=-1)
    worse = np.where(means > 0, 0, len(cells.weights) - 1)
    chosen = np.take_along_axis(counted, worse[None, :, :, None], axis=0)[0]
    n_rows = cells.counts.sum()
    spread = (cells.shares * chosen**2).sum(axis=(1, 2))
    worst = -counted.min(axis=(0, 2, 3))
    for table, y in zip(cells.tables, tables, strict=True):
        if table.counts is not None:
            ratio = n_rows / table.counts.sum()
            about = y - (y @ table.shares)[:, None]
            spread = spread + ratio * (about**2 @ table.shares)
            worst = np.maximum(worst, -ratio * about.min(axis=1))
    best = np.sqrt(2 * log_error / (max(n_rows, 1.0) * np.maximum(spread, 1e-12)))
    found: Floats = np.minimum(best, CAP / np.maximum(worst, 1e-12))
    return found
