"""Response types and a reweighted log in one program: the numbers.

The columns are the masses of a population, all divided by that of ``f``, and the shares of the
response types. At every value ``z`` of the instruments the mass of a cell is the chance of
``z`` times the share of the types that run into it. The chances come from a formula, or from
what is known of selection; where they are known between two ends only, boxes of them are
searched (``search_boxes``).
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import TypeAlias, final

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.box_program import BoxProgram
from boundit.bounds.lp.branch_and_bound import (
    MOST_BOXES,
    BoxBound,
    ProbabilityBox,
    search_boxes,
)
from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import SUMS, Populations, ProgramRows
from boundit.bounds.lp.population import MassLayout as Masses
from boundit.bounds.lp.program import Optimum, SolveStatus
from boundit.bounds.lp.response_types import ResponseTypes
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.lp.worst import find_worst_population
from boundit.bounds.numbers import Numbers
from boundit.bounds.proof import WorstPopulation
from boundit.bounds.rules.response_program import Cell, ProgramLayout
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import ROUNDING

End: TypeAlias = tuple[float, WorstPopulation | None]
_LOOSE = 1e-5  # how far a proved end may be from what the solver found


@dataclass(frozen=True, eq=False)
class PopulationProgram:
    """The populations that a program may be about, on numbers.

    ``given`` has one value in the whole program; ``chances`` is the law of the instruments
    given that, where it has a formula.
    """

    reweighting: Reweighting
    given: Nodes
    chances: Expression | None
    numbers: Numbers

    @cached_property
    def populations(self) -> Populations:
        """Every law of the variables in the population that the log leaves possible.

        Facts and tables narrow them.
        """
        return Populations(self.reweighting, self.numbers)

    @property
    def has_too_many_cells(self) -> bool:
        """Whether the joint table of the variables is too large to make programs over it."""
        return self.populations.has_too_many_cells


@dataclass(frozen=True, eq=False)
class _MixedColumns:
    """The columns of both kinds: forms of masses and of types, each as long as all of them."""

    masses: Masses
    n_types: int

    @property
    def n(self) -> int:
        """The number of columns of the program: masses of the population, and response types."""
        return self.masses.n_columns + self.n_types

    def widen_masses(self, form: Floats) -> Floats:
        """Lengthen coefficients of masses by zeros for the columns of response types.

        A mass is how much of the population falls in a cell.
        """
        return np.concatenate([form, np.zeros(self.n_types)])

    def widen_types(self, shares: Floats) -> Floats:
        """Put zeros for the columns of masses before coefficients of response types."""
        return np.concatenate([np.zeros(self.masses.n_columns), shares])


@final
class ReweightedProgram:
    """The program of one arm, or of two, where what has one value has these.

    At most about ``most`` boxes of the instruments' chances are searched. With ``closely``
    products of chances and types are enclosed by more planes.
    """

    def __init__(
        self,
        populated: PopulationProgram,
        layout: ProgramLayout,
        runs: ResponseTypes,
        fixed: Cell,
        budget: TimeBudget,
        *,
        most: int = MOST_BOXES,
        closely: bool = False,
    ) -> None:
        self.chances, self.numbers = populated.chances, populated.numbers
        self.layout, self.runs, self.budget = layout, runs, budget
        self.most, self.closely = most, closely
        self.at = {name: fixed[name] for name in sort_names(populated.given)}
        self.populations = populations = populated.populations
        self.least = populations.find_least_share(self.at)
        self.late = False
        self.worst: WorstPopulation | None = None
        cells = populations.weigh_cells(self.at)
        masses = populations.lay_out(cells)
        self.columns = _MixedColumns(masses, runs.n_types)
        unit = populations.write_form(cells, masses)
        self.rows = ProgramRows(self.columns.n)
        for form, lower, upper in populations.write_rows(masses, unit).rows:
            self.rows.add(self.columns.widen_masses(form), lower, upper)
        self.everyone = everyone = self.columns.widen_types(np.ones(runs.n_types))
        self.rows.add(everyone - self.columns.widen_masses(unit), 0.0, 0.0)

    def find_ends(self) -> tuple[End, End]:
        """Find the least and the greatest mean reward of the arm, each with its population.

        The population is one that attains the end, for explanations.
        """
        pays, found = self._find_successes(0), []
        for sign in (-1.0, 1.0):
            self.worst = None
            end = sign * self._find_greatest(sign * pays)
            found.append((min(max(end, 0.0), 1.0), self.worst))
        return found[0], found[1]

    def find_lead(self) -> float:
        """Find how much greater the first arm's mean reward can be than the second's."""
        return self._find_greatest(self._find_successes(0) - self._find_successes(1))

    def _find_successes(self, arm: int) -> Floats:
        """Say with 0 or 1 for each response type whether it earns the reward under an arm.

        ``arm`` is 0 for the first arm of the program, 1 for the second.
        """
        (outcome,) = self.layout.spec.asked.outcomes
        scenario = len(self.layout.outer) + arm
        return np.asarray(
            self.runs.find_cells(scenario, [outcome]) == SUCCESS, dtype=np.float64
        )

    def _find_greatest(self, gain: Floats) -> float:
        """Find the greatest mean of ``gain``, a number for each response type.

        Infinite where the log says nothing of the fixed values.
        """
        if not self.populations.has_logged(self.at) or not self.least:
            return inf
        look = partial(self._solve_box, self.columns.widen_types(gain))
        found = search_boxes(self.box, look, most=self.most, is_late=self._is_late)
        if found is None:  # by chance, or the facts contradict each other
            return inf
        self.worst = (
            find_worst_population(self.populations, found.answer) if found.answer else None
        )
        return found.end

    @cached_property
    def cells(self) -> list[tuple[Floats, Floats]]:
        """For each scenario, the coefficients of its cells' masses and of the types in them.

        A scenario is a combination of levels of the instruments; its response types must make
        up the masses (parts of the population) of its cells.
        """
        return [self._write_forms(scenario) for scenario in range(len(self.layout.outer))]

    def _write_forms(self, scenario: int) -> tuple[Floats, Floats]:
        """Write the coefficients of every cell of one scenario: its mass, and its types.

        A mass is a part of the population, a scenario a combination of levels of the
        instruments. Both arrays have a row for each cell.
        """
        layout, outer = self.layout, self.layout.outer[scenario]
        masses = [
            self.populations.write_form(
                self.populations.weigh_cells({**self.at, **outer, **inner}), self.columns.masses
            )
            for inner in layout.inner
        ]
        reached = self.runs.find_cells(scenario, layout.spec.inside)
        types = reached[None, :] == np.arange(len(layout.inner))[:, None]
        return (
            np.array([self.columns.widen_masses(form) for form in masses]),
            np.array([self.columns.widen_types(row) for row in types.astype(np.float64)]),
        )

    @cached_property
    def box(self) -> ProbabilityBox:
        """The range of each scenario's chance in the population, by a formula and by programs.

        A scenario is a combination of levels of the instruments.
        """
        if len(self.cells) == 1:
            return ProbabilityBox(np.ones(1), np.ones(1))
        low, high = self._read_chances()
        program = self.rows.make_program((SUMS + 1) / self.least)  # the types are one more sum
        for scenario, (masses, _) in enumerate(self.cells):
            chance = masses.sum(axis=0)
            for end, sign in ((low, -1.0), (high, 1.0)):
                found = program.maximise(sign * chance)
                if found.status is not SolveStatus.EMPTY:
                    keep = max if sign < 0 else min
                    end[scenario] = keep(end[scenario], sign * found.bound)
        return ProbabilityBox(
            low.clip(0.0, 1.0), np.maximum(low, high).clip(0.0, 1.0)
        ).tighten()

    def _read_chances(self) -> tuple[Floats, Floats]:
        """Read both ends of each scenario's chance off counts; 0 and 1 without a formula.

        A scenario is a combination of levels of the instruments.
        """
        if self.chances is None:
            return np.zeros(len(self.cells)), np.ones(len(self.cells))
        order = (*self.at, *self.layout.spec.varied)
        shape = [self.numbers.levels[name] for name in order]
        low, high = (
            np.broadcast_to(end, shape)[tuple(self.at.values())].ravel()
            for end in self.numbers.read_ends(self.chances, order)
        )
        return low - ROUNDING, high + ROUNDING

    @cached_property
    def _boxes(self) -> BoxProgram:
        """The program of a box, whose chances can be changed; made once for all of them."""
        return BoxProgram(self.rows, self.everyone, self.cells, least=self.least)

    @cached_property
    def _close_boxes(self) -> BoxProgram:
        """The program of a box with more planes around products."""
        return BoxProgram(self.rows, self.everyone, self.cells, self.tops, least=self.least)

    def _solve_box(self, aim: Floats, box: ProbabilityBox) -> BoxBound | None:
        """Solve the linear program for the objective ``aim`` while chances are in one box.

        The chances are those of the scenarios (levels of the instruments). What comes out is an
        end that holds in the box; None when no point is feasible.
        """
        answer = self._boxes.prove_end(aim, box, self.budget)
        end = answer.bound
        if self.closely and answer.status is SolveStatus.OPTIMAL:
            end, answer = _choose_nearer(
                answer, self._close_boxes.prove_end(aim, box, self.budget)
            )
        if answer.status is SolveStatus.EMPTY:
            return None
        size = len(self.cells)
        if answer.status is SolveStatus.UNFINISHED:
            self._is_late()
            return BoxBound(end, (box.low + box.high) / 2, np.zeros(size))
        shown = [(m @ answer.point, t @ answer.point) for m, t in self.cells]
        chances = np.array([mass.sum() for mass, _ in shown])
        off = [np.abs(m - p * t).sum() for (m, t), p in zip(shown, chances, strict=True)]
        return BoxBound(end, chances, np.array(off), answer)

    @cached_property
    def tops(self) -> list[list[float]]:
        """The greatest share of each cell at each scenario, over all populations.

        A scenario is a combination of levels of the instruments.
        """
        inside, varied = self.layout.spec.inside, self.layout.spec.varied
        block = ReweightedBlock(
            inside, frozenset(varied).union(self.at), self.populations.reweighting
        )
        mean = Expectation(self.populations, block, self.budget)
        units = np.eye(len(self.layout.inner)).reshape(
            -1, *self.layout.count_levels(inside).values()
        )
        return [
            [mean.find_greatest(unit, {**self.at, **outer}) for unit in units]
            for outer in self.layout.outer
        ]

    def _is_late(self) -> bool:
        """Tell whether the time budget is spent; if so, note it in ``late``.

        The table then says that its programs ended early.
        """
        left = self.budget.count_seconds()
        self.late |= left == 0.0
        return self.late


def _choose_nearer(plain: Optimum, close: Optimum) -> tuple[float, Optimum]:
    """Choose between what a program proves without and with more planes around products.

    Both ends hold. Rows can be too much alike to prove well what the solver found; the answer
    to go on from is then the plain one.
    """
    if close.status is SolveStatus.EMPTY:
        return close.bound, close
    proved = close.status is SolveStatus.OPTIMAL and close.bound - close.value < _LOOSE
    return min(plain.bound, close.bound), close if proved else plain
