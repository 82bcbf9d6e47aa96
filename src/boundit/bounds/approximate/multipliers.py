"""Multipliers of programs, chosen on some rows, to be weighed by others.

Feasible multipliers prove an end of a program at any law. Those that are best on the rows they
are weighed by look better than they are; so they are chosen on other rows.
"""

import numpy as np

from boundit.bounds.approximate.flat_rule import FlatProgram
from boundit.bounds.claims.programs.dual_vectors import make_natural_vectors
from boundit.bounds.lp.program import Optimum, SolveStatus
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.response_program import ArmProgram, ProgramLayout
from boundit.counts.errors import TooLarge
from boundit.counts.named_array import Floats

ROOMS = (1.0, 2.0, 4.0, 8.0, 1e9)
"""How many standard errors of room the law gets, until some types can reproduce it."""


def find_multipliers(
    program: FlatProgram, numbers: Numbers, n_rows: float
) -> tuple[Floats, Floats]:
    """Find multipliers of a program for lower ends of successes, and of failures.

    Axes are those of the program's places and cells; ``n_rows`` is how many rows the
    ``numbers`` are from.
    """
    layout = ProgramLayout(program.spec, numbers.levels)
    if program.spec.is_natural:
        return _find_natural(layout)
    search = _MultiplierSearch(layout, numbers, n_rows)
    lower, upper = (search.find(upper=upper) for upper in (False, True))
    return lower, upper


def _find_natural(layout: ProgramLayout) -> tuple[Floats, Floats]:
    """Make the multipliers of natural bounds: who chose the arm and won, or lost."""
    shape = (len(layout.fixed), len(layout.arms), len(layout.inner))
    lower, upper = (
        np.broadcast_to(
            make_natural_vectors(layout, upper=upper).multipliers.reshape(1, *shape[1:]), shape
        ).reshape(_list_shape(layout))
        for upper in (False, True)
    )
    return lower, upper


def _list_shape(layout: ProgramLayout) -> tuple[int, ...]:
    """List how many levels the places and cells of a program have, one axis each."""
    spec = layout.spec
    names = spec.fixed + spec.set_by_hand + spec.varied + spec.inside
    return tuple(layout.levels[name] for name in names)


class _MultiplierSearch:
    """The law that some rows show, and the best multipliers for it at every place."""

    def __init__(self, layout: ProgramLayout, numbers: Numbers, n_rows: float) -> None:
        self.layout, self.budget = layout, numbers.workspace.budget
        self.low, self.high = layout.read_law(numbers)
        share = (self.low + self.high) / 2
        each = max(n_rows / (len(layout.fixed) * len(layout.outer)), 1.0)
        self.room = np.sqrt((share * (1 - share) + 1 / each) / each)

    def find(self, *, upper: bool) -> Floats:
        """Find the best multipliers at every place, of successes or of failures."""
        layout = self.layout
        n_outer, n_cells = len(layout.outer), len(layout.inner)
        found = np.zeros((len(layout.fixed), len(layout.arms), n_outer, n_cells))
        for a, arm in enumerate(layout.arms):
            parts = layout.split_scenarios(arm)
            if parts is None:
                size = layout.most + 1
                raise TooLarge(layout.spec.inside, size, layout.most)
            best = np.full(len(layout.fixed), -np.inf)
            for runs, scenarios in parts:
                search = ArmProgram(layout, runs, scenarios)
                for f in range(len(layout.fixed)):
                    optimum = self._solve(search, f, upper=upper)
                    if optimum.bound > best[f]:
                        best[f] = optimum.bound
                        found[f, a] = self._spread(optimum.multipliers, scenarios)
        return found.reshape(_list_shape(layout))

    def _solve(self, search: ArmProgram, f: int, *, upper: bool) -> Optimum:
        """Solve one program, with as much room as makes it feasible."""
        (target,) = search.successes
        cost = np.where(target.pays != upper, 1.0, 0.0)
        at = f, search.scenarios
        for times in ROOMS:
            room = times * self.room[at]
            low = np.maximum(self.low[at] - room, 0).ravel()
            search.set_law(low, np.minimum(self.high[at] + room, 1).ravel())
            found = search.programs[upper].minimise(cost, seconds=self.budget.count_seconds())
            if found.status is SolveStatus.OPTIMAL:
                break
        return found

    def _spread(self, multipliers: Floats, scenarios: list[int]) -> Floats:
        """Lay the multipliers of some scenarios out over all, with the constant in the first.

        A constant is the mean of itself over the cells of any one scenario.
        """
        n_cells = len(self.layout.inner)
        found = np.zeros((len(self.layout.outer), n_cells))
        found[scenarios] = multipliers[:-1].reshape(len(scenarios), n_cells)
        found[scenarios[0]] += multipliers[-1]
        return found
