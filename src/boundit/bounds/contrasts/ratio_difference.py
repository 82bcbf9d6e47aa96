r"""The greatest difference of two means under one shared population, certified.

Each mean is a ratio of two sums of masses, and a difference of ratios is no linear program. But
where the second mean is known to lie in a short piece ``[s, t]``, the difference is at most

.. math:: \max \mu_a - s \quad\text{such that}\quad s \le \mu_b \le t

which is one (``N_b - s D_b >= 0`` is linear in the masses). The pieces of the second mean's
range with the greatest such end are halved until little can be gained, or the budget is spent:
whenever it stops, the greatest end of all pieces holds. Inside a piece
:math:`\mu_b \ge s + (N_b - s D_b)/d` where ``D_b <= d`` there, which is linear too and nearer.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import SUMS
from boundit.bounds.lp.program import Optimum, SolveStatus
from boundit.counts.named_array import Floats

ACCURACY = 1e-4
"""How near an end must come to what is attained, once its sign is certain."""
ROUGH = 2e-3
"""How near, for its size, when the first arm can be so much better."""
FINEST = 1e-6
"""How near it must come while its sign is not."""
MOST_PIECES = 60
"""How often a piece is halved at most."""
_LEAST_MASS = 1e-300  # to divide by, where nobody is left


@dataclass(frozen=True, eq=False)
class BlockMean:
    """A function of a block, and the values under which its mean is taken."""

    values: Floats
    given: Mapping[str, int]


@final
class RatioDifference:
    """How much one mean can exceed another in the same population.

    Made by ``ChainDifferences._find_greatest_difference`` for two arms at one place.
    """

    def __init__(self, expectation: Expectation, one: BlockMean, other: BlockMean) -> None:
        self._expectation, populations = expectation, expectation.populations
        self.one, self.other = one, other
        masses = [populations.weigh_cells(mean.given) for mean in (one, other)]
        layout = populations.lay_out(masses[0] + masses[1])
        self._top = expectation.write_form(one.values, one.given, layout)
        self._other = expectation.write_form(other.values, other.given, layout)
        self._below = populations.write_form(masses[1], layout)
        rows = populations.write_rows(layout, populations.write_form(masses[0], layout))
        rows = rows.widen(self._other, self._below)
        self._n_masses = rows.n_columns - 2
        self._least = populations.find_least_share(one.given, other.given)
        # N_b - s D_b >= 0 and N_b - t D_b <= 0: only s and t change from piece to piece.
        between = np.zeros(rows.n_columns)
        between[-2:] = 1.0, -1.0
        rows.add(between, 0.0, inf)
        rows.add(between, -inf, 0.0)
        # One program for each objective, so that both start where the last piece ended.
        most = (SUMS + 2) / self._least if self._least else inf
        self._programs = [rows.make_program(most) for _ in range(2)]
        self._piece_rows = len(rows.rows) - 2

    def find_greatest(self) -> float:
        """Find how much the first mean can exceed the second in one population, certified.

        The population is one that the log leaves possible, the same for both means. Infinite
        where nobody may have the levels that a mean is given.
        """
        seen = self._expectation.populations.has_logged
        if not (seen(self.one.given) and seen(self.other.given)) or not self._least:
            return inf
        low = -self._expectation.find_greatest(-self.other.values, self.other.given)
        high = self._expectation.find_greatest(self.other.values, self.other.given)
        waiting, attained = [self._bound_piece(low, high)], -inf
        for _ in range(MOST_PIECES):
            end, start, stop, reached = waiting[0]
            attained = max(attained, reached)
            late = self._expectation.budget.is_over()
            if end == inf or self._is_tight(-end, attained) or stop - start < FINEST or late:
                break
            heapq.heappop(waiting)
            middle = (start + stop) / 2
            for piece in ((start, middle), (middle, stop)):
                heapq.heappush(waiting, self._bound_piece(*piece))
        end = waiting[0][0]
        return -end if end < inf else inf

    def _is_tight(self, end: float, attained: float) -> bool:
        """Tell whether the proved end is so near to an attained difference as to stop."""
        certain = end < 0 or attained >= 0
        return end - attained <= (max(ACCURACY, ROUGH * end) if certain else FINEST)

    def _bound_piece(self, start: float, stop: float) -> tuple[float, float, float, float]:
        """Bound the difference of means where the second mean lies from ``start`` to ``stop``.

        What comes out is an entry for the heap: the end with its sign changed, both sides of
        the piece, and the difference that is attained there.
        """
        seconds = self._expectation.budget.count_seconds()
        for program in self._programs:
            for row, end in enumerate((start, stop), self._piece_rows):
                program.set_coefficient(row, self._n_masses + 1, -end)
        weigh, compare = self._programs
        found = weigh.maximise(self._append_two_zeros(self._below), seconds=seconds)
        if found.status is SolveStatus.EMPTY:
            return inf, start, stop, -inf
        heaviest = max(found.bound, _LEAST_MASS) if found.status is SolveStatus.OPTIMAL else inf
        objective = self._top - (self._other - start * self._below) / heaviest
        found = compare.maximise(self._append_two_zeros(objective), seconds=seconds)
        if found.status is SolveStatus.EMPTY:
            return inf, start, stop, -inf
        return start - found.bound, start, stop, self._read_attained(found)

    def _read_attained(self, found: Optimum) -> float:
        """Compute the difference of the two means in the population that a program found.

        Minus infinity where it found none.
        """
        if found.status is not SolveStatus.OPTIMAL:
            return -inf
        point = found.point[: self._n_masses]
        below = float(self._below @ point)
        if below <= 0:
            return -inf
        return float(self._top @ point - self._other @ point / below)

    def _append_two_zeros(self, form: Floats) -> Floats:
        """Append zeros for the program's last two columns to the coefficients of an objective.

        These columns are the sums of the second mean; the objectives are sums of masses alone.
        """
        return np.append(form, (0.0, 0.0))
