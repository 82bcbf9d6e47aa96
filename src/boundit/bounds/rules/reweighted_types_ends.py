"""Response types and a reweighted log in one program: the numbers.

The columns are the masses of a population, all divided by that of ``f``, and the shares of the
response types. At every value ``z`` of the instruments the mass of a cell is the chance of
``z`` times the share of the types that run into it. The chances come from a formula, or from
what is known of selection; where they are known between two ends only, boxes of them are
searched (``bisection``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import TypeAlias, final

import numpy as np

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.lp.branch_and_bound import BoxBound, ProbabilityBox, greatest_in
from boundit.bounds.lp.population import RARE, Populations, ProgramRows, greatest
from boundit.bounds.lp.population import MassLayout as Masses
from boundit.bounds.lp.program import SolveStatus
from boundit.bounds.lp.response_types import ResponseTypes
from boundit.bounds.lp.worst import worst
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.reweighted_types import TypesReweighted
from boundit.bounds.rules.type_layout import Cell, ProgramLayout
from boundit.bounds.rules.type_program import TimeBudget
from boundit.counts.named_array import Floats, NamedArray
from boundit.terms.names import sort_names

MOST_COLUMNS = 2_000
"""How many response types these programs may have; with more the rule is left out."""
MOST_SEARCHES = 400
"""How many ends are searched for; with more the rule is left out."""
_ROUNDING = 1e-9
End: TypeAlias = tuple[float, WorstPopulation | None]
_SUMS = 4  # the total, the steering masses, the cells and the types: none adds up to more


@dataclass(frozen=True, eq=False)
class PopulationProgram:
    """A program, and the numbers of the populations that it may be about."""

    found: TypesReweighted
    numbers: Numbers

    @cached_property
    def populations(self) -> Populations:
        """Every law that log, facts and tables leave possible."""
        return Populations(self.found.reweighting, self.numbers)

    @property
    def are_many(self) -> bool:
        """Whether there are too many cells to make programs."""
        return self.populations.are_many


def types_ends(
    found: TypesReweighted, numbers: Numbers, *, axes: Sequence[str], clock: TimeBudget
) -> Ends:
    """Bound every arm and context."""
    spec, populated = found.program, PopulationProgram(found, numbers)
    layout = ProgramLayout(spec, numbers.levels, most=MOST_COLUMNS)
    own = spec.fixed + spec.set_by_hand
    shape = tuple(layout.of(own).values())
    ends, notes = (np.zeros(shape), np.ones(shape)), dict[str, None]()
    proofs = dict[tuple[Place, bool], WorstPopulation | None]()
    scenes = list(range(len(layout.outer)))
    many = populated.are_many or 2 * ends[0].size > MOST_SEARCHES
    for arm in layout.arms:
        runs = None if many else layout.types([arm], scenes, MOST_COLUMNS)
        if runs is None:
            notes[LEFT_OUT] = None
            break
        for fixed in layout.fixed:
            program = ReweightedProgram(populated, layout, runs, fixed, clock)
            place = tuple((fixed | arm)[axis] for axis in own)
            for upper, (value, attained) in enumerate(program.ends()):
                ends[upper][place] = value
                proofs[place, bool(upper)] = attained
            if program.late:
                notes[UNFINISHED] = None
    full = [numbers.levels[axis] for axis in axes]
    low, high = (np.broadcast_to(NamedArray(own, end).aligned(axes), full) for end in ends)

    def why(place: Place, upper: bool) -> WorstPopulation | None:  # noqa: FBT001
        at = dict(zip(axes, place, strict=True))
        return proofs.get((tuple(at[axis] for axis in own), upper))

    return Ends(low, high, proof=why, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of both kinds: forms of masses and of types, each as long as all of them."""

    masses: Masses
    n_types: int

    @property
    def n(self) -> int:
        return self.masses.n_columns + self.n_types

    def of_masses(self, form: Floats) -> Floats:
        return np.concatenate([form, np.zeros(self.n_types)])

    def of_types(self, shares: Floats) -> Floats:
        return np.concatenate([np.zeros(self.masses.n_columns), shares])


@final
class ReweightedProgram:
    """The program of one arm, or of two, where what has one value has these."""

    def __init__(
        self,
        populated: PopulationProgram,
        layout: ProgramLayout,
        runs: ResponseTypes,
        fixed: Cell,
        clock: TimeBudget,
    ) -> None:
        self.found, self.numbers = populated.found, populated.numbers
        self.layout, self.runs, self.clock = layout, runs, clock
        self.at = {name: fixed[name] for name in sort_names(self.found.given)}
        self.populations = populations = populated.populations
        self.least = populations.least(self.at)
        self.late = False
        self.worst: WorstPopulation | None = None
        cells = populations.cells(self.at)
        masses = populations.layout(cells)
        self.columns = _Columns(masses, runs.n_types)
        unit = populations.form(cells, masses)
        self.rows = ProgramRows(self.columns.n)
        for form, lower, upper in populations.rows(masses, unit).gathered:
            self.rows.add(self.columns.of_masses(form), lower, upper)
        everyone = self.columns.of_types(np.ones(runs.n_types))
        self.rows.add(everyone - self.columns.of_masses(unit), 0.0, 0.0)

    def ends(self) -> tuple[End, End]:
        """Search both ends of what the arm earns."""
        pays, found = self._pays(0), []
        for sign in (-1.0, 1.0):
            self.worst = None
            end = sign * self._greatest(sign * pays)
            found.append((min(max(end, 0.0), 1.0), self.worst))
        return found[0], found[1]

    def lead(self) -> float:
        """Search how much more the first arm can earn than the second."""
        return self._greatest(self._pays(0) - self._pays(1))

    def _pays(self, arm: int) -> Floats:
        (outcome,) = self.layout.spec.asked.outcomes
        scene = len(self.layout.outer) + arm
        return np.asarray(self.runs.cells(scene, [outcome]) == HEADS, dtype=np.float64)

    def _greatest(self, gain: Floats) -> float:
        """Find the greatest mean of what types gain; infinite where nothing is known."""
        if not self.populations.seen(self.at) or self.least < RARE:
            return inf
        look = partial(self._look, self.columns.of_types(gain))
        found = greatest_in(self.box, look, late=self._is_late)
        if found is None:  # by chance, or the facts contradict each other
            return inf
        self.worst = worst(self.populations, found.answer) if found.answer else None
        return found.end

    @cached_property
    def cells(self) -> list[tuple[Floats, Floats]]:
        """For each scene the masses of its cells, and the types that run into them."""
        return [self._forms(scene) for scene in range(len(self.layout.outer))]

    def _forms(self, scene: int) -> tuple[Floats, Floats]:
        """The mass of every cell of a scene, and the types that run into it; a row a cell."""
        layout, outer = self.layout, self.layout.outer[scene]
        masses = [
            self.populations.form(
                self.populations.cells({**self.at, **outer, **inner}), self.columns.masses
            )
            for inner in layout.inner
        ]
        reached = self.runs.cells(scene, layout.spec.inside)
        types = reached[None, :] == np.arange(len(layout.inner))[:, None]
        return (
            np.array([self.columns.of_masses(form) for form in masses]),
            np.array([self.columns.of_types(row) for row in types.astype(np.float64)]),
        )

    @cached_property
    def box(self) -> ProbabilityBox:
        """Between which ends the chance of each scene is: by a formula, and by the facts."""
        if len(self.cells) == 1:
            return ProbabilityBox(np.ones(1), np.ones(1))
        low, high = self._told()
        program = self.rows.program()
        for scene, (masses, _) in enumerate(self.cells):
            chance = masses.sum(axis=0)
            for end, sign in ((low, -1.0), (high, 1.0)):
                found, answer = greatest(program, sign * chance, least=self.least, sums=_SUMS)
                if answer.status is not SolveStatus.EMPTY:
                    keep = max if sign < 0 else min
                    end[scene] = keep(end[scene], sign * found)
        return ProbabilityBox(low.clip(0.0, 1.0), np.maximum(low, high).clip(0.0, 1.0)).summed()

    def _told(self) -> tuple[Floats, Floats]:
        """What a formula says of the chances; anything where there is none."""
        if self.found.chances is None:
            return np.zeros(len(self.cells)), np.ones(len(self.cells))
        order = (*self.at, *self.layout.spec.varied)
        shape = [self.numbers.levels[name] for name in order]
        low, high = (
            np.broadcast_to(end, shape)[tuple(self.at.values())].ravel()
            for end in self.numbers.between(self.found.chances, order)
        )
        return low - _ROUNDING, high + _ROUNDING

    def _look(self, aim: Floats, box: ProbabilityBox) -> BoxBound | None:
        """Solve the program of a box of chances."""
        rows = self.rows.copied()
        for (masses, types), low, high in zip(self.cells, *box, strict=True):
            for mass, share in zip(masses, types, strict=True):
                if low == high:
                    rows.add(mass - low * share, 0.0, 0.0)
                    continue
                rows.add(mass - low * share, 0.0, inf)
                rows.add(mass - high * share, -inf, 0.0)
        seconds = self.clock.left()
        end, answer = greatest(
            rows.program(), aim, least=self.least, seconds=seconds, sums=_SUMS
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

    def _is_late(self) -> bool:
        left = self.clock.left()
        self.late |= left == 0.0
        return self.late
