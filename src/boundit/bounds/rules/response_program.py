"""A response-type program on numbers: both ends for every arm and condition, with proofs.

The matrix says which runs fall in which cell of which scenario; it is the same for every value
of the conditions, so each search starts from the last one's answer. Where there would be too
many columns the scenarios are split, and the best end of the parts is kept: dropping scenarios
drops constraints, so every part holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.program import Optimum, Program, SolveStatus, SparseMatrix
from boundit.bounds.lp.response_types import (
    MOST_TYPES,
    Codes,
    ResponseTypes,
    TypedVariable,
    TypeScenario,
    list_assignments,
    list_response_types,
)
from boundit.bounds.numbers import Numbers
from boundit.bounds.proof import EndProof, Place
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.estimand.recovery.question import Question
from boundit.terms.bound import StepRecord
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import ROUNDING

MOST_WORK = 3_000_000
"""How many columns all searches of one rule may go through; with more it is left out."""
_SETUP = 300  # what a search costs however few columns it has, counted in columns
Cell: TypeAlias = Mapping[str, int]
MOST_PROVED = 5_000
"""For how many rows natural bounds say which numbers they are made of."""


@dataclass(frozen=True, slots=True)
class ResponseProgram:
    """A program: the variables with types, what they respond to, and what must be reproduced.

    ``inside`` is ``T``, causes first, ``law`` is ``Q[T]``. ``varied`` are the variables outside
    whose every value is a scenario. ``followed`` are those of ``inside`` that the target
    follows, ``weights`` the known factors and ``summed`` their variables.
    """

    asked: Question
    inside: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]
    varied: tuple[str, ...]
    law: Expression
    followed: Nodes
    weights: tuple[Expression, ...]
    summed: tuple[str, ...]
    steps: tuple[StepRecord, ...]

    @property
    def set_by_hand(self) -> tuple[str, ...]:
        """The treatments that an arm sets but that took their own course when data were logged.

        They have response types, or are varied.
        """
        return tuple(sort_names(self.asked.treatments.intersection(self.inside + self.varied)))

    @property
    def fixed(self) -> tuple[str, ...]:
        """The variables with one value in a whole program: contexts and treatments already set.

        A program is solved for each of their values.
        """
        rest = self.asked.treatments.difference(self.set_by_hand)
        return tuple(sort_names(rest | self.asked.context))

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: the law that types reproduce, and the known factors."""
        return (self.law, *self.weights)

    @property
    def is_natural(self) -> bool:
        """Whether the program has types for treatments and outcome alone, and no instrument.

        Its ends are then Manski's natural bounds.
        """
        around = frozenset(self.inside) == self.asked.outcomes.union(self.set_by_hand)
        return around and not self.varied and not self.weights


class TargetCells(NamedTuple):
    """At one value of the known variables: each column's target cell, and whether it pays."""

    cell: Codes
    pays: NDArray[np.bool_]

    def weigh(self, weights: Floats) -> Floats:
        """Give each response type the weight of the cell it ends in; 0 if it earns no reward.

        What comes out is a coefficient for each column of the program.
        """
        return np.where(self.pays, weights[self.cell], 0.0)


@final
class ProgramLayout:
    """The scenarios, cells, conditions and arms of one program, and the numbers at each."""

    def __init__(
        self, spec: ResponseProgram, levels: Mapping[str, int], *, most: int = MOST_TYPES
    ) -> None:
        self.spec, self.levels, self.most = spec, levels, most
        self.inside = [
            TypedVariable(name, levels[name], arguments)
            for name, arguments in zip(spec.inside, spec.arguments, strict=True)
        ]
        self.outer = list(list_assignments(self.count_levels(spec.varied)))
        self.inner = list(list_assignments(self.count_levels(spec.inside)))
        self.fixed = list(list_assignments(self.count_levels(spec.fixed)))
        self.arms = list(list_assignments(self.count_levels(spec.set_by_hand)))

    def read_law(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Read off counts both ends of the law that response types must reproduce.

        It is the c-factor ``Q[T]`` of the variables ``T`` with types. Axes: values of the fixed
        variables, scenarios, cells of ``T``.
        """
        spec = self.spec
        low, high = self.read_formula(numbers, spec.law, spec.fixed + spec.varied + spec.inside)
        shape = (len(self.fixed), len(self.outer), len(self.inner))
        return low.reshape(shape), np.maximum(low, high).reshape(shape)

    def read_weights(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Read off counts both ends of the product of the factors that have a formula.

        Response types are weighted by it in the objective. Axes: values of the fixed variables,
        arms, cells of ``target``.
        """
        spec = self.spec
        order = spec.fixed + spec.set_by_hand + self.target
        low = high = np.ones(tuple(self.count_levels(order).values()))
        for factor in spec.weights:
            ends = self.read_formula(numbers, factor, order)
            low, high = low * ends[0], high * ends[1]
        shape = (len(self.fixed), len(self.arms), -1)
        return low.reshape(shape), high.reshape(shape)

    @property
    def target(self) -> tuple[str, ...]:
        """The variables on whose levels the weight of a response type under an arm depends.

        Empty where there are no known factors to weigh by.
        """
        spec = self.spec
        followed = tuple(v for v in spec.inside if v in spec.followed)
        return spec.summed + followed if spec.weights else ()

    def split_scenarios(self, arm: Cell) -> list[tuple[ResponseTypes, list[int]]] | None:
        """Split the scenarios of an arm's program into parts with few enough response types.

        A scenario is one combination of levels of the instruments. What comes out are the types
        and scenario numbers of each part; None if one scenario alone has too many.
        """
        waiting, done = [list(range(len(self.outer)))], list[tuple[ResponseTypes, list[int]]]()
        n_searches = 2 * len(self.arms) * len(self.fixed)
        while waiting:
            scenarios = waiting.pop()
            room = min(self.most, MOST_WORK // max(n_searches * (len(done) + 1), 1) - _SETUP)
            runs = self.list_types([arm], scenarios, room) if room > 0 else None
            if runs is not None:
                done.append((runs, scenarios))
            elif len(scenarios) == 1:
                return None
            else:
                half = len(scenarios) // 2
                waiting += [scenarios[half:], scenarios[:half]]
        return done

    def list_types(
        self, arms: Sequence[Cell], scenarios: Sequence[int], most: int
    ) -> ResponseTypes | None:
        """List the response types that differ in these scenarios or in what these arms earn.

        A type says how variables answer to their causes; a scenario is a combination of levels
        of the instruments. None when there are more than ``most`` types.
        """
        watched = [TypeScenario(self.outer[s], frozenset(self.spec.inside)) for s in scenarios]
        aimed = [
            TypeScenario({**arm, **k}, self.spec.followed) for arm in arms for k in self.known
        ]
        after = range(len(watched), len(watched) + len(aimed))
        shown = dict.fromkeys(after, self.spec.asked.outcomes) if not self.target else {}
        return list_response_types(self.inside, [*watched, *aimed], shown=shown, most=most)

    def find_successes(self, runs: ResponseTypes, first: int) -> list[TargetCells]:
        """Find which response types earn the reward under an arm, and in which target cell.

        By that cell, levels of ``target``, a type is weighted. The arm's scenarios begin at
        number ``first``; one entry for each value of the known variables.
        """
        (outcome,) = self.spec.asked.outcomes
        found = []
        for i, known in enumerate(self.known):
            scenario, code = first + i, np.zeros(runs.n_types, dtype=np.int64)
            for name in self.target:
                level = known[name] if name in known else runs.find_cells(scenario, [name])
                code = code * self.levels[name] + level
            pays = np.ones(runs.n_types, dtype=bool)
            if outcome not in known:
                pays = runs.find_cells(scenario, [outcome]) == SUCCESS
            found.append(TargetCells(code, pays))
        return found

    @property
    def known(self) -> list[dict[str, int]]:
        """Every combination of levels of the known factors' variables, outcome at success.

        An arm's run is followed once for each.
        """
        found = list_assignments(self.count_levels(self.spec.summed))
        return [
            k
            for k in found
            if all(k[y] == SUCCESS for y in self.spec.asked.outcomes & k.keys())
        ]

    def count_levels(self, names: Sequence[str]) -> dict[str, int]:
        """Map each of these variables to how many levels it has, in the order given."""
        return {name: self.levels[name] for name in names}

    def read_formula(
        self, numbers: Numbers, formula: Expression, order: Sequence[str]
    ) -> tuple[Floats, Floats]:
        """Read both ends of a formula off counts, as full arrays over the variables ``order``."""
        shape = tuple(self.count_levels(order).values())
        low, high = numbers.read_ends(formula, order)
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)


@dataclass(eq=False)
class ProgramEnds:
    """Ends over ``axes``, and what happened on the way.

    Proofs are written when somebody asks for them: of most ends nobody does.
    """

    axes: tuple[str, ...]
    lower: Floats
    upper: Floats
    empty: NDArray[np.bool_]
    proofs: dict[tuple[Place, bool], Callable[[], EndProof]] = field(default_factory=dict)
    unfinished: bool = False
    left_out: bool = False

    def keep(self, place: Place, least: Optimum, most: Optimum, search: "ArmProgram") -> None:
        """Keep the solved ends of an arm and condition where they are narrower than before.

        ``place`` is where they stand in the arrays, ``least`` and ``most`` are what the
        programs of some scenarios found. Without a feasible point the place is marked as empty.
        """
        ends = (least.status, most.status)
        self.unfinished |= SolveStatus.UNFINISHED in ends
        if SolveStatus.EMPTY in ends:
            self.empty[place] = True
            return
        if least.bound > self.lower[place] + ROUNDING:
            self.lower[place] = least.bound
            self.proofs[place, False] = search.prepare_proof(least.multipliers, upper=False)
        if most.bound < self.upper[place] - ROUNDING:
            self.upper[place] = most.bound
            self.proofs[place, True] = search.prepare_proof(most.multipliers, upper=True)

    def find_proof(self, place: Place, *, upper: bool) -> EndProof | None:
        """Write the sum of observed probabilities that proves an end, if any does."""
        write = self.proofs.get((place, upper))
        return None if write is None else write()


def solve_program(layout: ProgramLayout, numbers: Numbers, budget: TimeBudget) -> ProgramEnds:
    """Solve a response-type program for the least and greatest mean reward of every arm.

    Each value of the fixed variables (contexts, treatments set beforehand) has ends of its own.
    """
    if layout.spec.is_natural:
        return solve_natural(layout, numbers)
    axes = layout.spec.fixed + layout.spec.set_by_hand
    shape = tuple(layout.count_levels(axes).values())
    found = ProgramEnds(axes, np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=bool))
    low, high = layout.read_law(numbers)
    weights = layout.read_weights(numbers)
    for a, arm in enumerate(layout.arms):
        parts = layout.split_scenarios(arm)
        if parts is None:
            found.left_out = True
            return found
        for runs, scenarios in parts:
            search = ArmProgram(layout, runs, scenarios)
            for f, fixed in enumerate(layout.fixed):
                search.set_law(low[f, scenarios].ravel(), high[f, scenarios].ravel())
                place = tuple((fixed | arm)[axis] for axis in axes)
                ends = search.find_ends(weights[0][f, a], weights[1][f, a], budget)
                found.keep(place, *ends, search)
    return found


def solve_natural(layout: ProgramLayout, numbers: Numbers) -> ProgramEnds:
    """Compute the ends of a program that comes to Manski's natural bounds, without a solver.

    ``P(x, y=1)`` is the least: those who chose ``x`` and won. Those who chose ``x`` and lost
    are all that is sure to be lost.
    """
    spec = layout.spec
    axes = spec.fixed + spec.set_by_hand
    low, high = layout.read_formula(numbers, spec.law, (*axes, *spec.asked.outcomes))
    # What the other cells leave over counts too, when each is known up to an interval.
    over = tuple(range(len(spec.fixed), low.ndim))
    low = np.maximum(low, 1 - (high.sum(axis=over, keepdims=True) - high))
    won, lost = low[..., SUCCESS], low[..., 1 - SUCCESS]
    found = ProgramEnds(axes, won.copy(), 1 - lost, np.zeros(won.shape, dtype=bool))
    for place in np.ndindex(won.shape) if won.size <= MOST_PROVED else ():
        for upper, end in ((False, won), (True, lost)):
            value = float(end[place])
            found.proofs[place, upper] = partial(
                _prove_naturally, spec, place, value, upper=upper
            )
    return found


def _prove_naturally(
    spec: ResponseProgram, place: Place, value: float, *, upper: bool
) -> EndProof:
    """Write a natural bound as the probability of one cell: the arm was taken, and won or lost."""
    arm = dict(zip(spec.set_by_hand, place[len(spec.fixed) :], strict=True))
    reward = 1 - SUCCESS if upper else SUCCESS
    cell = {**arm, **dict.fromkeys(spec.asked.outcomes, reward)}
    constant, times = (1.0, -1.0) if upper else (0.0, 1.0)
    return EndProof(frozenset(spec.inside), constant, ((times, cell, value),))


@final
class ArmProgram:
    """The two programs of one arm and some scenarios: one for each end, so that both stay warm.

    Its runs may have the target of a second arm after that of the first.
    """

    def __init__(
        self, whole: ProgramLayout, runs: ResponseTypes, scenarios: Sequence[int]
    ) -> None:
        self.whole, self.runs, self.scenarios = whole, runs, scenarios
        n_cells, n_types = len(whole.inner), runs.n_types
        cells = [
            s * n_cells + runs.find_cells(s, whole.spec.inside) for s in range(len(scenarios))
        ]
        n_rows = len(scenarios) * n_cells + 1
        everyone = np.full(n_types, n_rows - 1)
        rows = np.concatenate([*cells, everyone])
        columns = np.tile(np.arange(n_types), len(scenarios) + 1)
        matrix = SparseMatrix(rows, columns, np.ones(len(rows)), (n_rows, n_types))
        anything = np.zeros(n_rows), np.ones(n_rows)
        self.programs = [
            Program(matrix, lower=anything[0], upper=anything[1]) for _ in range(2)
        ]
        self.successes = whole.find_successes(runs, len(scenarios))

    def set_law(self, low: Floats, high: Floats) -> None:
        """Set the probabilities that the response types must reproduce; all add up to one.

        ``low`` and ``high`` have one entry for each scenario and cell.
        """
        self.low, self.high = np.append(low, 1.0), np.append(high, 1.0)
        for program in self.programs:
            program.set_ends(self.low, self.high)

    def find_ends(
        self, low: Floats, high: Floats, budget: TimeBudget
    ) -> tuple[Optimum, Optimum]:
        """Solve the two linear programs for the least and the greatest mean reward of the arm.

        ``low`` and ``high`` are both ends of the known factors, by which response types are
        weighted.
        """
        costs = [np.zeros(self.runs.n_types), np.zeros(self.runs.n_types)]
        for target in self.successes:
            costs[0] += target.weigh(low)
            costs[1] += target.weigh(high)
        least, most = self.programs
        return (
            least.minimise(costs[0], seconds=budget.count_seconds()),
            most.maximise(costs[1], seconds=budget.count_seconds()),
        )

    def find_lead(self, first: Floats, second: Floats, budget: TimeBudget) -> Optimum:
        """Solve for the greatest difference of the mean rewards of two arms.

        ``first`` and ``second`` are the known factors of each, by which response types are
        weighted.
        """
        gain = np.zeros(self.runs.n_types)
        for target in self.successes:
            gain += target.weigh(first)
        for target in self.whole.find_successes(
            self.runs, len(self.scenarios) + len(self.successes)
        ):
            gain -= target.weigh(second)
        return self.programs[1].maximise(gain, seconds=budget.count_seconds())

    def prepare_proof(self, multipliers: Floats, *, upper: bool) -> Callable[[], EndProof]:
        """Prepare to write an end as a sum, under the law that is set now."""
        return partial(self._write_proof, multipliers, self.low, self.high, upper=upper)

    def _write_proof(
        self, multipliers: Floats, lows: Floats, highs: Floats, *, upper: bool
    ) -> EndProof:
        """Write an end as a sum of observed probabilities times the program's multipliers.

        Explanations show the sum, which proves the end. Of cells that add up to one, as few as
        can be are named.
        """
        n_cells = len(self.whole.inner)
        constant, terms = float(multipliers[-1]), list[tuple[float, Cell, float]]()
        for i, scenario in enumerate(self.scenarios):
            rows = slice(i * n_cells, (i + 1) * n_cells)
            y, low, high = multipliers[rows], lows[rows], highs[rows]
            if np.array_equal(low, high):
                values, counts = np.unique(y.round(9), return_counts=True)
                common = float(values[counts.argmax()])
                y, constant = y - common, constant + common * float(low.sum())
            for cell in np.flatnonzero(np.abs(y) > ROUNDING):
                where = {**self.whole.outer[scenario], **self.whole.inner[cell]}
                used = high[cell] if (y[cell] > 0) == upper else low[cell]
                terms.append((float(y[cell]), where, float(used)))
        return EndProof(frozenset(self.whole.spec.inside), constant, tuple(terms))
