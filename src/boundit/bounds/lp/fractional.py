"""Expectations under a reweighted law: the least and greatest ratio of two sums of masses.

``E[f(B) | a] = sum f(b) P(b, a) / sum P(b, a)`` is a ratio of two sums that are linear in the
masses of a population. With the denominator set to one, which a homogeneous program allows,
the ratio is a linear objective (Charnes and Cooper 1962). Ends are those that the multipliers
prove, not those the solver says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from boundit.bounds.lp.population import SUMS, MassLayout, Populations
from boundit.bounds.lp.program import Program, SolveStatus
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.lp.worst import find_worst_population
from boundit.counts.named_array import Floats
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.rounding import EXACT_ROUNDING

if TYPE_CHECKING:
    from boundit.bounds.proof import Place, WorstPopulation


@dataclass(frozen=True, eq=False)
class NormedProgram:
    """The program of all populations with the mass of some values set to one."""

    layout: MassLayout
    program: Program


class AttainedEnd(NamedTuple):
    """An end, and the population that attains it where there is one to show."""

    end: float
    population: "WorstPopulation | None" = None


@final
class Expectation:
    """What functions of a block can be on average, at each value of what it is given.

    ``late`` says that some search ran out of time. ``worsts`` are the populations that attain
    the ends of ``find_ends``, by place and by whether the end is the upper one.
    """

    def __init__(
        self, populations: Populations, block: ReweightedBlock, budget: TimeBudget = FOR_EVER
    ) -> None:
        self.populations, self.block, self.budget = populations, block, budget
        self.late = False
        self.worsts: dict[tuple[Place, bool], WorstPopulation | None] = {}
        self._programs: dict[tuple[int, ...], NormedProgram | None] = {}

    def find_ends(
        self, low: Floats, high: Floats, outer: Sequence[str]
    ) -> tuple[Floats, Floats]:
        """Find the least mean of ``low`` and the greatest of ``high`` over a reweighted block.

        The block is variables whose law is that of any population the log leaves possible. Both
        arrays have the axes ``outer`` and then those of the block, of length 1 where nothing
        depends on one; what comes out has the axes ``outer`` alone.
        """
        low, high = np.broadcast_arrays(low, high)
        inner = tuple(range(len(outer), low.ndim))
        if self.populations.has_too_many_cells:
            return low.min(axis=inner), high.max(axis=inner)
        least, most = (np.empty(self.find_outer_shape(low.shape, outer)) for _ in range(2))
        for place in np.ndindex(*least.shape):
            given = self.select_given(place, outer)
            lower = self.solve_greatest(-look_up(low, place), given)
            upper = self.solve_greatest(look_up(high, place), given)
            least[place], most[place] = -lower.end, upper.end
            self.worsts[place, False] = lower.population
            self.worsts[place, True] = upper.population
        return least, most

    def find_outer_shape(self, shape: Sequence[int], outer: Sequence[str]) -> tuple[int, ...]:
        """Find how long each outer axis of the ends is: 1 where nothing depends on it.

        ``shape`` is that of the function whose mean is taken; an axis among those that the
        block is given has all its levels.
        """
        levels = self.populations.levels
        return tuple(
            levels[axis] if axis in self.block.given else size
            for axis, size in zip(outer, shape, strict=False)
        )

    def select_given(self, place: Sequence[int], outer: Sequence[str]) -> dict[str, int]:
        """Select, of the levels at a place on the axes ``outer``, those the block is given.

        The block is the variables over which a mean is taken.
        """
        return {a: i for a, i in zip(outer, place, strict=True) if a in self.block.given}

    def find_greatest(self, values: Floats, given: Mapping[str, int]) -> float:
        """Find the greatest mean of a function of the block, given the levels of others.

        It is over all populations that the log leaves possible: ``solve_greatest`` without the
        population that attains it.
        """
        return self.solve_greatest(values, given).end

    def solve_greatest(self, values: Floats, given: Mapping[str, int]) -> AttainedEnd:
        """Find the greatest mean of a function of the block, and a population that attains it.

        The block is variables whose law is that of any population the log leaves possible.
        ``values`` is the function, one axis for each variable of the block; ``given`` are the
        levels of the variables the block is given.
        """
        low, high = float(values.min()), float(values.max())
        if low == high or not self.populations.has_logged(given):
            return AttainedEnd(high)  # what nobody may have, nobody's law is read off
        if self.populations.reweighting.is_free:
            end = self.populations.find_freest_mean(self.weigh_cells(values, given), given)
            end += EXACT_ROUNDING * (high - low)  # no nearer than what was rounded
            return AttainedEnd(min(max(end, low), high))
        made = self._make_normed_program(given)
        if made is None:
            return AttainedEnd(high)
        objective = self.write_form(values, given, made.layout)
        found = made.program.maximise(objective, seconds=self.budget.count_seconds())
        self.late |= self.budget.is_over()
        if found.status is SolveStatus.EMPTY:  # the facts contradict each other
            return AttainedEnd(high)
        worst = find_worst_population(self.populations, found)
        return AttainedEnd(min(max(found.bound, low), high), worst)

    def write_form(
        self, values: Floats, given: Mapping[str, int], layout: MassLayout
    ) -> Floats:
        """Write, as coefficients of a program, the sum of ``values`` times the masses of cells.

        Only cells with the ``given`` levels count. This is the numerator of a mean.
        """
        return self.populations.write_form(self.weigh_cells(values, given), layout)

    def weigh_cells(self, values: Floats, given: Mapping[str, int]) -> Floats:
        """Put a function of the block on the cells of the population with the ``given`` levels.

        The block is the variables over which a mean is taken. What comes out has an axis for
        every variable of the population, and is zero in other cells.
        """
        axes = self.populations.axes
        order = sorted(range(values.ndim), key=lambda i: axes.index(self.block.variables[i]))
        names = {self.block.variables[i] for i in order}
        sizes = iter(values.transpose(order).shape)
        spread = [next(sizes) if axis in names else 1 for axis in axes]
        return self.populations.weigh_cells(given, values.transpose(order).reshape(spread))

    def _make_normed_program(self, values: Mapping[str, int]) -> NormedProgram | None:
        """Make the linear program over all populations with one as the mass of some cells.

        These are the cells with some levels; None where perhaps nobody has them. Each program
        is made once and kept.
        """
        key = tuple(values[name] for name in sorted(values))
        if key not in self._programs:
            made, least = None, self.populations.find_least_share(values)
            if least > 0:
                cells = self.populations.weigh_cells(values)
                layout = self.populations.lay_out(cells)
                unit = self.populations.write_form(cells, layout)
                rows = self.populations.write_rows(layout, unit)
                made = NormedProgram(layout, rows.make_program(SUMS / least))
            self._programs[key] = made
        return self._programs[key]


def look_up(values: Floats, place: Sequence[int]) -> Floats:
    """Look up the entry at a place on the first axes; one of length 1 holds for every place."""
    index = tuple(
        min(i, size - 1) for i, size in zip(place, values.shape[: len(place)], strict=True)
    )
    return np.asarray(values[index])


def look_up_each(values: Floats, places: Sequence[Sequence[int]]) -> Floats:
    """Look up several places, as ``look_up`` does one; they become the first axis.

    >>> look_up_each(np.arange(6.0).reshape(1, 3, 2), [(0, 1), (5, 2)])
    array([[2., 3.],
           [4., 5.]])
    """
    columns = zip(np.array(places).T, values.shape, strict=False)
    return np.asarray(values[tuple(np.minimum(column, size - 1) for column, size in columns)])
