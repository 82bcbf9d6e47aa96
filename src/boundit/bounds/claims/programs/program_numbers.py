"""Counts of a sum whose value is a mean of multipliers, for the pilot and for the rest.

A program's lower end is a constant plus the mean of multipliers over what its law draws in
every scenario. Each scenario is scaled to values between 0 and 1 and weighs as much as its
multipliers range over; a level whose law is known, the scenario, has these weights. The
constant of each place is one scenario more, in which the value is always 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.last_level import ValuedPilot, ValuedRest
from boundit.bounds.claims.penalties import LateBlocks, draw_blocks
from boundit.bounds.claims.pilot import SplitSources
from boundit.bounds.claims.programs.dual_vectors import DualVectors, PilotLaw, fit_law
from boundit.bounds.claims.programs.program_form import ProgramForm
from boundit.bounds.claims.read_form import FormReader, PilotNumbers, RestNumbers, smooth_pilot
from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_layout import LevelNames, SumLayout, lay_out
from boundit.bounds.rules.response_program import ProgramLayout
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray

SCENARIO: Final = "the scenario"
"""The name of the axis of scenarios: with a space, as no variable has."""
_CERTAIN = 1e18  # rows of what is known without any
_ONE = NamedArray((), np.ones(()))


@dataclass(frozen=True, eq=False)
class ScaledVectors:
    """Multipliers scaled to values between 0 and 1: ends are ``base + length * value``.

    ``weights`` are those of scenarios, ``values`` those of cells within each, both over places;
    the others have the axes of the sum's rows. ``counted`` tells where the end is the share of
    some cells, in one scenario or in all together.
    """

    base: Floats
    length: Floats
    weights: NamedArray
    values: tuple[NamedArray, ...]
    counted: NDArray[np.bool_]


@final
class ProgramReader:
    """Reads the levels and the law of one rule that ends in a program off split counts."""

    def __init__(
        self,
        form: ProgramForm,
        sources: SplitSources,
        levels: Mapping[str, int],
        workspace: Workspace,
    ) -> None:
        self.form, self.split = form, sources.find(form.law)
        self.program = ProgramLayout(form.program, levels)
        self.is_flat = not form.summed
        sum_form, spec = form.form, form.program
        self.place = form.place
        self.fixed = tuple(form.scope[name] for name in spec.fixed)
        self.n_scenarios = len(self.program.outer)
        sizes = {name: levels[name] for name in sum_form.axes}
        sizes |= {form.scope[name]: levels[name] for name in form.scope}
        for level in sum_form.levels[:-1]:
            sizes |= {name: levels[column] for name, column in level.columns.items()}
        sizes[SCENARIO] = self.n_scenarios + (not self.is_flat)
        self.shape = tuple(sizes[name] for name in self.place)
        cells = prod(self.shape) * self.n_scenarios * len(self.program.inner)
        workspace.require_cells(cells, form.law.free)
        self.settings = ArraySettings(sizes, workspace)
        self.layout = self._lay_out()
        reader = FormReader.of(sum_form, sources, {**sizes, **levels}, workspace)
        self._reader = replace(reader, settings=self.settings, layout=self.layout)
        self._idle = form.law.given.difference(spec.varied, spec.fixed)

    def _lay_out(self) -> SumLayout:
        """Find the cells of all levels; without links, unknown variables are axes.

        Branches of the sum that differ in an arm alone read the same rows of the law.
        """
        form, place = self.form.form, frozenset(self.place)
        axes, worst = form.axes, form.worst
        if self.is_flat:
            axes, worst = (*axes, *worst), ()
        gone = {form.outcome, *form.idle}
        names = [
            LevelNames(level.of - gone, level.given - gone, level.depth)
            for level in form.levels[:-1]
        ]
        depth = len(worst)
        names.append(LevelNames(frozenset((SCENARIO,)), place, depth))
        names.append(LevelNames(frozenset(), place | {SCENARIO}, depth))
        layout = lay_out(names, axes, worst)
        read = {self.form.scope.get(name, name) for name in self.form.law.given}
        *others, last = layout.cells
        shared = tuple(
            axis
            for axis in last.axes
            if axis in layout.drawn and axis not in read and axis != SCENARIO
        )
        return replace(layout, cells=(*others, replace(last, shared=shared)))

    def read_law(self) -> PilotLaw:
        """Read off the pilot the law that response types reproduce."""
        counts = self._count(self.split.pilot)
        shape = [self.settings.sizes[name] for name in self.fixed]
        full = np.broadcast_to(counts, (*shape, *counts.shape[-2:]))
        flat = full.reshape(-1, *counts.shape[-2:])
        rows = self._take(
            smooth_pilot(
                self.split.pilot.marginalize(self.form.law.given), frozenset(), self.split
            ),
            inside=False,
        )
        rows = np.broadcast_to(rows, (*shape, self.n_scenarios))
        seen = flat.sum(axis=-1)
        return PilotLaw(fit_law(self.program, flat), rows.reshape(seen.shape), seen)

    def read_pilot(self, law: PilotLaw) -> "ProgramPilot":
        """Read what the pilot says of all levels."""
        fixed = [self.settings.sizes[name] for name in self.fixed]
        shares = law.shares.reshape(*fixed, self.n_scenarios, -1)
        rows = law.rows.reshape(*fixed, self.n_scenarios)
        if not self.is_flat:
            shares = _add_scenario(shares, axis=-2, value=0.0)
            shares[..., -1, 0] = 1.0
            rows = _add_scenario(rows, axis=-1, value=_CERTAIN)
        levels = tuple(self._reader.read_pilot_levels())
        cells = tuple(self._name(shares[..., i]) for i in range(shares.shape[-1]))
        return ProgramPilot(self, levels, self._name(rows), cells)

    def read_rest(self, rng: Generator) -> "ProgramRest":
        """Read what the rest says of all levels, and draw the order of its bets."""
        counts = self._count(self.split.folds[self.form.form.last.fold])

        def name(block: Floats) -> tuple[Floats, ...]:
            return tuple(self._name(block[..., i]) for i in range(block.shape[-1]))

        def draw() -> Iterator[tuple[Floats, ...]]:
            for block in draw_blocks(counts, rng):
                whole = block if self.is_flat else _add_scenario(block, axis=-2, value=0.0)
                yield name(whole)

        whole = counts
        if not self.is_flat:
            whole = _add_scenario(counts, axis=-2, value=0.0)
            whole[..., -1, 0] = _CERTAIN
        levels = tuple(self._reader.read_rest_levels())
        return ProgramRest(self, levels, name(whole), LateBlocks(draw))

    def scale(self, vectors: DualVectors) -> ScaledVectors:
        """Scale multipliers to values between 0 and 1, for the pilot and the rest alike.

        Where places are summed, the unit is the range over types of what is summed.
        """
        ranges = vectors.multipliers.max(axis=-1)
        whole = np.where(ranges > 0, ranges, 1.0)
        values = vectors.multipliers / whole[..., None]
        active = ranges > 0
        counted = (active.sum(axis=-1) == 1) & ((values == 0) | (values == 1)).all(
            axis=(-1, -2)
        )
        if self.is_flat:
            base, length = vectors.constant, ranges.sum(axis=-1)
            if vectors.pooled:
                length, counted = ranges.max(axis=-1), np.ones_like(counted)
        else:
            links = tuple(
                i for i, name in enumerate(self.place) if name not in self.layout.axes
            )
            base = vectors.least.min(axis=links, keepdims=True)
            length = vectors.most.max(axis=links, keepdims=True) - base
        length = np.where(length > 0, length, 1.0)
        weights = ranges / length[..., None]
        if not self.is_flat:
            constant = (vectors.constant - base) / length
            weights = np.concatenate([weights, constant[..., None]], axis=-1)
            values = _add_scenario(values, axis=-2, value=1.0)
        named = (*self.place, SCENARIO)
        return ScaledVectors(
            self._show_rows(base),
            self._show_rows(length),
            _trim(named, weights),
            tuple(_trim(named, values[..., i]) for i in range(values.shape[-1])),
            self._show_rows(counted.astype(np.float64)) > 0,
        )

    def weigh_laws(self, vectors: DualVectors, laws: Floats, rows: Floats) -> Floats:
        """Compute the ends that multipliers prove at some laws, an axis before those of rows.

        Laws have axes of conditions, scenarios and cells; ``rows`` are those of scenarios, by
        which they are pooled.
        """
        fixed = [self.settings.sizes[name] for name in self.fixed]
        arms = self.shape[len(fixed) :]
        weights = rows / rows.sum(axis=-1, keepdims=True) if vectors.pooled else np.ones(1)
        full = (*self.shape, *vectors.multipliers.shape[-2:])
        y = np.broadcast_to(vectors.multipliers, full).reshape(len(rows), -1, *full[-2:])
        found = np.einsum("bfzc,fazc,fz->bfa", laws, y, np.broadcast_to(weights, rows.shape))
        ends = found.reshape(-1, *fixed, *arms) + vectors.constant
        return np.stack([self._show_rows(each) for each in ends])

    def weigh_places(self, pilot: "ProgramPilot") -> tuple[Floats, tuple[int, ...]]:
        """Weigh every place as the pilot's sum of each row does.

        Axes are rows, as far as they are no places, then those of places; what comes out tells
        too which of them are summed over.
        """
        arrays = SumArrays.from_numbers(
            self.layout, [*pilot.levels, LevelNumbers(_ONE, _ONE, exact=True)], self.settings
        )
        where, sizes = self.layout.cells[-2], self.settings.sizes
        full = np.broadcast_to(arrays.weights[-2], [sizes[name] for name in where.axes])
        rows = [name for name in self.layout.axes if name not in self.place]
        order = (*rows, *self.place)
        found = NamedArray(where.axes, full).marginalize(frozenset(order)).align(order)
        links = tuple(1 + i for i, name in enumerate(self.place) if name in self.layout.drawn)
        return found.reshape(-1, *self.shape), links

    def _count(self, source: BinaryReward) -> Floats:
        """Count the law's cells: axes are the fixed variables, scenarios and cells.

        Fixed variables that the law does not read have length 1. Called for pilot and rest.
        """
        return self._take(source.marginalize(self.form.law.free), inside=True)

    def _take(self, found: NamedArray, *, inside: bool) -> Floats:
        """Take the counts of a law at the commonest level of variables that do not matter."""
        spec = self.form.program
        for name in self._idle:
            common = self.split.pilot.marginalize(frozenset((name,))).values.argmax()
            found = found.at({name: int(common)})
        order = spec.fixed + spec.varied + (spec.inside if inside else ())
        values = found.align(order)
        tail = (self.n_scenarios, len(self.program.inner)) if inside else (self.n_scenarios,)
        return values.reshape((*values.shape[: len(spec.fixed)], *tail))

    def _name(self, values: Floats) -> Floats:
        """Align an array over fixed variables and scenarios with the cells of the law.

        Called for all that is counted.
        """
        return _trim((*self.fixed, SCENARIO), values).align(self.layout.cells[-1].axes)

    def _show_rows(self, values: Floats) -> Floats:
        """Align an array over places with the axes of rows; of links it has one number."""
        kept = [i for i, name in enumerate(self.place) if name in self.layout.axes]
        index = tuple(slice(None) if i in kept else 0 for i in range(len(self.place)))
        named = _trim(tuple(self.place[i] for i in kept), values[index])
        return named.align(self.layout.axes)


@dataclass(frozen=True, eq=False)
class ProgramPilot:
    """What the pilot says: levels, rows that the rest will have, and shares of cells."""

    reader: ProgramReader
    levels: tuple[LevelNumbers, ...]
    rows: Floats
    shares: tuple[Floats, ...]

    def number(self, scaled: ScaledVectors) -> PilotNumbers:
        """Number the sum of some multipliers as the pilot sees it."""
        axes = self.reader.layout.cells[-1].axes
        values = tuple(value.align(axes) for value in scaled.values)
        arrays = _make_arrays(self.reader, scaled, self.levels)
        return PilotNumbers(arrays, ValuedPilot(self.rows, self.shares, values))


@dataclass(frozen=True, eq=False)
class ProgramRest:
    """What the rest says: levels, and rows of cells, in blocks for bets."""

    reader: ProgramReader
    levels: tuple[LevelNumbers, ...]
    counts: tuple[Floats, ...]
    blocks: Sequence[tuple[Floats, ...]]

    def number(self, scaled: ScaledVectors) -> RestNumbers:
        """Number the sum of some multipliers as the rest sees it."""
        axes = self.reader.layout.cells[-1].axes
        values = tuple(value.align(axes) for value in scaled.values)
        arrays = _make_arrays(self.reader, scaled, self.levels)
        return RestNumbers(arrays, ValuedRest(self.blocks, self.counts, values))


def _make_arrays(
    reader: ProgramReader, scaled: ScaledVectors, levels: tuple[LevelNumbers, ...]
) -> SumArrays:
    """Make the arrays of a sum with the scenario as the last level before the law.

    Called for the pilot and for the rest.
    """
    scenario = LevelNumbers(_ONE, scaled.weights, exact=True)
    return SumArrays.from_numbers(reader.layout, [*levels, scenario], reader.settings)


def _add_scenario(values: Floats, *, axis: int, value: float) -> Floats:
    """Add one scenario more to an array, filled with a value.

    Called for the scenario that holds the constant.
    """
    shape = list(values.shape)
    shape[axis] = 1
    return np.concatenate([values, np.full(shape, value)], axis=axis)


def _trim(axes: tuple[str, ...], values: Floats) -> NamedArray:
    """Name an array without axes along which it does not vary.

    Called for everything that meets the cells of a sum by name.
    """
    long = [i for i, n in enumerate(values.shape) if n > 1]
    kept = tuple(axes[i] for i in long)
    return NamedArray(kept, values.reshape([values.shape[i] for i in long]))
