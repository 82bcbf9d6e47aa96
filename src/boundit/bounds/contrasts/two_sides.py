r"""The difference of two arms as one sum of levels, half of it on each side.

``(theta_a + 1 - theta_b) / 2`` is a sum over a *side*, each with half the weight: the first has
one arm's cells, the second the other's with failures for successes. Laws that both arms share
are levels of both sides at once, and so are unknown laws: the worst of them is one for both.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from boundit.bounds.claims.last_level import (
    NumericPilot,
    NumericRest,
    PilotLast,
    RestLast,
    ValuedPilot,
    ValuedRest,
)
from boundit.bounds.claims.level_form import LevelForm
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_layout import LevelNames, SumLayout, lay_out
from boundit.counts.named_array import Floats, NamedArray
from boundit.terms.names import Nodes

SIDE = " side"
"""The variable that tells the two arms of a difference apart; no other has this name."""


def name_other(treatment: str) -> str:
    """Name the other arm's level of a treatment.

    Called wherever the second side is laid out.
    """
    return f" {treatment}"


@dataclass(frozen=True, eq=False)
class TwoSides:
    """How a form is laid out for the difference of arms that differ in some treatments.

    ``differing`` are the treatments, ``sided`` tells which levels have cells of their own on
    each side, ``depth`` counts the variables of unknown law that both sides share.
    """

    form: LevelForm
    differing: tuple[str, ...]
    sided: tuple[bool, ...]
    depth: int

    @property
    def others(self) -> tuple[str, ...]:
        """The axes of the other arm, after those of the table."""
        return tuple(name_other(name) for name in self.differing)

    def lay_out(self) -> SumLayout:
        """Find the cells of all levels, the side's first."""
        form = self.form
        gone = {form.outcome, *form.idle}
        found = [LevelNames(frozenset((SIDE,)), frozenset(), self.depth)]
        for level, sided in zip(form.levels, self.sided, strict=True):
            given = level.given - gone
            if sided:
                own = (name_other(name) for name in self.differing if name in given)
                given = given.union(own, (SIDE,))
            found.append(LevelNames(level.of - gone, given, level.depth))
        return lay_out(found, (*form.axes, *self.others), form.worst)

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of the last level for all pairs of arms."""
        form = self.form
        axes = frozenset(form.axes).union(*(level.of | level.given for level in form.levels))
        columns = {name: name for name in axes}
        for level in form.levels:
            columns |= level.columns
        kept = self.lay_out().cells[-1].axes
        own = prod(levels[columns[name]] for name in kept if name in columns)
        return 2 * own * prod(levels[name] for name in self.differing)

    def double_pilot(self, pilot: PilotNumbers) -> PilotNumbers:
        """Lay the pilot's numbers out for both sides."""
        arrays, last = self._double_arrays(pilot.arrays), pilot.last
        old, new = pilot.arrays.layout.cells[-1].axes, arrays.layout.cells[-1].axes
        rows = self._double(last.rows, last.rows, old, new)
        doubled: PilotLast
        match last:
            case ValuedPilot(shares=(lost, won)):
                shares = self._double(lost, won, old, new), self._double(won, lost, old, new)
                doubled = ValuedPilot(rows, shares, last.values)
            case NumericPilot():
                doubled = NumericPilot(rows, last.variance)
            case _:
                msg = "a difference is of rewards of two values, or numeric ones"
                raise TypeError(msg)
        return PilotNumbers(arrays, doubled)

    def double_rest(self, rest: RestNumbers) -> RestNumbers:
        """Lay the rest's numbers out for both sides."""
        arrays, last = self._double_arrays(rest.arrays), rest.last
        old, new = rest.arrays.layout.cells[-1].axes, arrays.layout.cells[-1].axes

        def double(one: Floats, other: Floats) -> Floats:
            return self._double(one, other, old, new)

        doubled: RestLast
        match last:
            case ValuedRest():
                pairs = [(double(lost, won), double(won, lost)) for lost, won in last.blocks]
                lost, won = last.counts
                counts = double(lost, won), double(won, lost)
                doubled = ValuedRest(tuple(pairs), counts, last.values)
            case NumericRest():
                rows, sums, squares = last.rows, last.sums, last.squares
                doubled = NumericRest(
                    double(rows, rows),
                    double(sums, rows - sums),
                    double(squares, rows - 2 * sums + squares),
                    double(last.running, last.running),
                )
        return RestNumbers(arrays, doubled)

    def _double_arrays(self, arrays: SumArrays) -> SumArrays:
        """Lay the levels before the last out for both sides, with the side's own law."""
        half = NamedArray((SIDE,), np.full(2, 0.5))
        numbers = [LevelNumbers(NamedArray((), np.ones(())), half, exact=True)]
        for each, sided in zip(arrays.numbers, self.sided, strict=False):
            numbers.append(
                replace(each, rows=self._name(each.rows), joint=self._name(each.joint))
                if sided
                else each
            )
        settings = arrays.settings
        sizes = {**settings.sizes, SIDE: 2}
        sizes |= {name_other(name): sizes[name] for name in self.differing}
        return SumArrays.from_numbers(
            self.lay_out(), numbers, ArraySettings(sizes, settings.workspace)
        )

    def _name(self, array: NamedArray) -> NamedArray:
        """Give an array of a level an axis of sides, and on the second one the other arm's."""
        own = [name_other(name) for name in self.differing if name in array.axes]
        axes = (*array.axes, *own, SIDE)
        return NamedArray(axes, self._double(array.values, array.values, array.axes, axes))

    def _double(
        self, one: Floats, other: Floats, axes: tuple[str, ...], kept: tuple[str, ...]
    ) -> Floats:
        """Show one arm's numbers on the first side and the other's on the second.

        Both have the same ``axes``; the result has those ``kept``. Called for every array.
        """
        names = {name: name_other(name) for name in self.differing}
        renamed = tuple(names.get(axis, axis) for axis in axes)
        flat = tuple(axis for axis in kept if axis != SIDE)
        sides = np.broadcast_arrays(show(one, axes, flat), show(other, renamed, flat))
        return np.stack(sides, axis=kept.index(SIDE))


def show(values: Floats, axes: Sequence[str], kept: tuple[str, ...]) -> Floats:
    """Show an array by the names of its axes, without those along which it does not vary."""
    full = np.reshape(values, (1,) * (len(axes) - np.ndim(values)) + np.shape(values))
    long = [i for i, n in enumerate(full.shape) if n > 1]
    short = full.reshape([full.shape[i] for i in long])
    return NamedArray(tuple(axes[i] for i in long), short).align(kept)


def find_sides(
    form: LevelForm, differing: Collection[str], worst_treatments: Mapping[str, Nodes]
) -> TwoSides | None:
    """Find how the difference of two arms that differ in some treatments is one sum.

    ``worst_treatments`` says on which treatments each unknown law depends, where that is known.
    None where a level has the same rows for both arms with other weights, or reads one of the
    treatments as a draw: then the arms' own ends are subtracted.
    """
    differ, parted = frozenset(differing), set[str]()
    sided = list[bool]()
    for level in form.levels:
        if level.of & differ:
            return None
        own = bool(level.given & differ)
        if level.given & parted and not own:
            return None
        if own:
            parted |= level.of
        sided.append(own)
    if not sided[-1]:
        return None
    depth = 0
    for name in form.worst:
        if worst_treatments.get(name, differ) & differ:
            break
        depth += 1
    return TwoSides(form, tuple(differing), tuple(sided), depth)
