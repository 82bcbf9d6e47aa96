"""A response-type program on numbers: both ends for every arm and condition, with proofs.

The matrix says which runs fall in which cell of which scene; it is the same for every value of
the conditions, so each search starts from the last one's answer. Where there would be too many
columns the scenes are parted, and the best end of the parts is kept: dropping scenes drops
constraints, so every part holds.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.lp.program import Optimum, Program, SolveStatus, SparseMatrix
from boundit.bounds.lp.response_types import ResponseTypes
from boundit.bounds.numbers import Numbers
from boundit.bounds.proof import EndProof, Place
from boundit.bounds.rules.type_layout import Cell, ProgramLayout
from boundit.counts.named_array import Floats

_SMALL = 1e-9
MOST_PROVED = 5_000
"""For how many rows natural bounds say which numbers they are made of."""


@final
class TimeBudget:
    """Seconds that start to run when they are first asked for; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def left(self) -> float | None:
        """How many seconds are left."""
        if self._seconds is None:
            return None
        if self._end is None:
            self._end = time.monotonic() + self._seconds
        return max(self._end - time.monotonic(), 0.0)

    def deadline(self) -> float | None:
        """The time of ``time.monotonic`` at which they are over."""
        left = self.left()
        return None if left is None else time.monotonic() + left


@dataclass(eq=False)
class ProgramEnds:
    """Ends over ``axes``, and what happened on the way."""

    axes: tuple[str, ...]
    lower: Floats
    upper: Floats
    empty: NDArray[np.bool_]
    proofs: dict[tuple[Place, bool], EndProof] = field(default_factory=dict)
    unfinished: bool = False
    left_out: bool = False

    def keep(self, place: Place, least: Optimum, most: Optimum, search: "ArmProgram") -> None:
        """Take over what is better than what was found so far."""
        ends = (least.status, most.status)
        self.unfinished |= SolveStatus.UNFINISHED in ends
        if SolveStatus.EMPTY in ends:
            self.empty[place] = True
            return
        if least.bound > self.lower[place] + _SMALL:
            self.lower[place] = least.bound
            self.proofs[place, False] = search.proof(least.multipliers, upper=False)
        if most.bound < self.upper[place] - _SMALL:
            self.upper[place] = most.bound
            self.proofs[place, True] = search.proof(most.multipliers, upper=True)


def solve(layout: ProgramLayout, numbers: Numbers, clock: TimeBudget) -> ProgramEnds:
    """Find both ends at every value of the axes."""
    if layout.spec.is_natural:
        return natural(layout, numbers)
    axes = layout.spec.fixed + layout.spec.set_by_hand
    shape = tuple(layout.of(axes).values())
    found = ProgramEnds(axes, np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=bool))
    low, high = layout.law(numbers)
    weights = layout.weights(numbers)
    for a, arm in enumerate(layout.arms):
        parts = layout.parts(arm)
        if parts is None:
            found.left_out = True
            return found
        for runs, scenes in parts:
            search = ArmProgram(layout, runs, scenes)
            for f, fixed in enumerate(layout.fixed):
                search.at(low[f, scenes].ravel(), high[f, scenes].ravel())
                place = tuple((fixed | arm)[axis] for axis in axes)
                ends = search.ends(weights[0][f, a], weights[1][f, a], clock)
                found.keep(place, *ends, search)
    return found


def natural(layout: ProgramLayout, numbers: Numbers) -> ProgramEnds:
    """Manski's natural bounds, which need no search.

    ``P(x, y=1)`` is the least: those who chose ``x`` and won. Those who chose ``x`` and
    lost are all that is sure to be lost.
    """
    spec = layout.spec
    axes = spec.fixed + spec.set_by_hand
    low, high = layout.between(numbers, spec.law, (*axes, *spec.asked.outcomes))
    # What the other cells leave over counts too, when each is known up to an interval.
    over = tuple(range(len(spec.fixed), low.ndim))
    low = np.maximum(low, 1 - (high.sum(axis=over, keepdims=True) - high))
    won, lost = low[..., HEADS], low[..., 1 - HEADS]
    found = ProgramEnds(axes, won.copy(), 1 - lost, np.zeros(won.shape, dtype=bool))
    for place in np.ndindex(won.shape) if won.size <= MOST_PROVED else ():
        arm = dict(zip(spec.set_by_hand, place[len(spec.fixed) :], strict=True))
        for upper, constant, times, end in (
            (False, 0.0, 1.0, won),
            (True, 1.0, -1.0, lost),
        ):
            cell = {
                **arm,
                **dict.fromkeys(spec.asked.outcomes, 1 - HEADS if upper else HEADS),
            }
            found.proofs[place, upper] = EndProof(
                frozenset(spec.inside), constant, ((times, cell, float(end[place])),)
            )
    return found


@final
class ArmProgram:
    """The two programs of one arm and some scenes: one for each end, so that both stay warm.

    Its runs may have the target of a second arm after that of the first.
    """

    def __init__(
        self, whole: ProgramLayout, runs: ResponseTypes, scenes: Sequence[int]
    ) -> None:
        self.whole, self.runs, self.scenes = whole, runs, scenes
        n_cells, n_types = len(whole.inner), runs.n_types
        cells = [s * n_cells + runs.cells(s, whole.spec.inside) for s in range(len(scenes))]
        n_rows = len(scenes) * n_cells + 1
        everyone = np.full(n_types, n_rows - 1)
        rows = np.concatenate([*cells, everyone])
        columns = np.tile(np.arange(n_types), len(scenes) + 1)
        matrix = SparseMatrix(rows, columns, np.ones(len(rows)), (n_rows, n_types))
        anything = np.zeros(n_rows), np.ones(n_rows)
        self.programs = [
            Program(matrix, lower=anything[0], upper=anything[1]) for _ in range(2)
        ]
        self.heads = whole.heads(runs, len(scenes))

    def at(self, low: Floats, high: Floats) -> None:
        """Put in what the cells of the scenes are, and that all types together are one."""
        self.low, self.high = np.append(low, 1.0), np.append(high, 1.0)
        for program in self.programs:
            program.between(self.low, self.high)

    def ends(self, low: Floats, high: Floats, clock: TimeBudget) -> tuple[Optimum, Optimum]:
        """Search both ends, with these weights of the target's cells."""
        costs = [np.zeros(self.runs.n_types), np.zeros(self.runs.n_types)]
        for heads in self.heads:
            costs[0] += heads.worth(low)
            costs[1] += heads.worth(high)
        least, most = self.programs
        return (
            least.minimise(costs[0], seconds=clock.left()),
            most.maximise(costs[1], seconds=clock.left()),
        )

    def lead(self, first: Floats, second: Floats, clock: TimeBudget) -> Optimum:
        """Search the greatest difference of two targets, with the weights of each."""
        gain = np.zeros(self.runs.n_types)
        for heads in self.heads:
            gain += heads.worth(first)
        for heads in self.whole.heads(self.runs, len(self.scenes) + len(self.heads)):
            gain -= heads.worth(second)
        return self.programs[1].maximise(gain, seconds=clock.left())

    def proof(self, multipliers: Floats, *, upper: bool) -> EndProof:
        """Write an end as a sum; of cells that sum to one, as few as can be are named."""
        n_cells = len(self.whole.inner)
        constant, terms = float(multipliers[-1]), list[tuple[float, Cell, float]]()
        for i, scene in enumerate(self.scenes):
            rows = slice(i * n_cells, (i + 1) * n_cells)
            y, low, high = multipliers[rows], self.low[rows], self.high[rows]
            if np.array_equal(low, high):
                values, counts = np.unique(y.round(9), return_counts=True)
                common = float(values[counts.argmax()])
                y, constant = y - common, constant + common * float(low.sum())
            for cell in np.flatnonzero(np.abs(y) > _SMALL):
                where = {**self.whole.outer[scene], **self.whole.inner[cell]}
                used = high[cell] if (y[cell] > 0) == upper else low[cell]
                terms.append((float(y[cell]), where, float(used)))
        return EndProof(frozenset(self.whole.spec.inside), constant, tuple(terms))
