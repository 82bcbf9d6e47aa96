"""Counts of a sum of levels, for the pilot that chooses and the rest that speaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.random import Generator

from boundit.bounds.binary_reward import SUCCESS, BinaryReward
from boundit.bounds.claims.last_level import (
    NumericPilot,
    NumericRest,
    PilotLast,
    RestLast,
    ValuedPilot,
    ValuedRest,
)
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.penalties import LateBlocks, draw_blocks, spread_squares
from boundit.bounds.claims.pilot import SplitRows, SplitSources
from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_layout import SumLayout, lay_out_form
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray

_PRIOR_ROWS = 2.0  # how many rows each cell of the pilot gets beforehand


@dataclass(frozen=True, eq=False)
class PilotNumbers:
    """What the pilot says of a sum: arrays as large as the rest's will be, and the value's."""

    arrays: SumArrays
    last: PilotLast

    @cached_property
    def branch_shares(self) -> list[Floats]:
        """How each level's cells are shared out over branches of the sum."""
        n_levels = len(self.arrays.layout.cells)
        return [self.arrays.share_branches(i) for i in range(n_levels)]


@dataclass(frozen=True, eq=False)
class RestNumbers:
    """What the rest says of a sum: its arrays, and the value's cells with their rewards."""

    arrays: SumArrays
    last: RestLast


@dataclass(frozen=True, eq=False)
class FormReader:
    """Reads the levels of one form off split counts."""

    form: LevelForm
    sources: SplitSources
    settings: ArraySettings
    layout: SumLayout
    idle: Mapping[str, int]

    @classmethod
    def of(
        cls,
        form: LevelForm,
        sources: SplitSources,
        levels: Mapping[str, int],
        workspace: Workspace,
    ) -> "FormReader":
        """Lay a form out for counts, and choose levels of idle variables on the pilot."""
        sizes = {name: levels[name] for name in form.axes}
        for each in form.levels:
            sizes |= {name: levels[column] for name, column in each.columns.items()}
        for each in form.levels:
            workspace.require_cells(prod(sizes[n] for n in each.columns), each.term.free)
        idle = {name: _find_commonest(name, form, sources) for name in form.idle}
        return cls(form, sources, ArraySettings(sizes, workspace), lay_out_form(form), idle)

    def read_pilot(self, variance: float | None) -> PilotNumbers:
        """Read the pilot's numbers; a numeric reward is supposed to have some ``variance``."""
        arrays = self.read_pilot_arrays()
        last, axes = self.form.last, self.layout.cells[-1].axes
        split = self.sources.find(last.term)
        if variance is not None:
            below = smooth_pilot(split.pilot.marginalize(last.term.given), frozenset(), split)
            rows = self.name(last, below).align(axes)
            return PilotNumbers(arrays, NumericPilot(rows, variance))
        joint = split.pilot.marginalize(last.term.free)
        if not split.is_exact:
            joint = smooth_pilot(joint, last.term.of, split)
        rows = self.name(last, joint.marginalize(last.term.given)).align(axes)
        hits = self.name(last, joint).align(axes)
        share = hits / np.maximum(rows, 1e-300)
        if split.looked is not None:
            every = smooth_pilot(split.count_columns(last.term.given), frozenset(), split)
            rows = self.name(last, every).align(axes)
        values = (np.zeros(()), np.ones(()))
        return PilotNumbers(arrays, ValuedPilot(rows, (1 - share, share), values))

    def read_rest(self, rng: Generator, *, numeric: bool) -> RestNumbers:
        """Read the rest's numbers, and draw the order in which its rewards are bet on."""
        arrays = self.read_rest_arrays()
        last, axes = self.form.last, self.layout.cells[-1].axes
        source = self.sources.find(last.term).rewarded[last.fold]
        joint = source.marginalize(last.term.free)
        if numeric:
            return RestNumbers(arrays, self._read_numeric(source))
        drawn = [axis for axis in joint.axes if axis in last.term.of]
        given = tuple(axis for axis in joint.axes if axis not in drawn)
        counts = joint.align((*given, *drawn))
        flat = counts.reshape((*counts.shape[: len(given)], -1))

        def part(block: Floats) -> tuple[Floats, Floats]:
            whole = NamedArray((*given, *drawn), block.reshape(counts.shape))
            rows = self.name(last, NamedArray(given, block.sum(axis=-1))).align(axes)
            hits = self.name(last, whole).align(axes)
            return rows - hits, hits

        blocks = LateBlocks(lambda: map(part, draw_blocks(flat, rng)))
        values = (np.zeros(()), np.ones(()))
        return RestNumbers(arrays, ValuedRest(blocks, part(flat), values))

    def read_pilot_arrays(self) -> SumArrays:
        """Read the pilot's rows, shares and weights of all levels."""
        numbers = self.read_pilot_levels()
        return SumArrays.from_numbers(self.layout, numbers, self.settings)

    def read_rest_arrays(self) -> SumArrays:
        """Read the rest's rows, shares and weights of all levels."""
        numbers = self.read_rest_levels()
        return SumArrays.from_numbers(self.layout, numbers, self.settings)

    def _read_numeric(self, source: BinaryReward) -> NumericRest:
        """Read sums and squares of a numeric reward."""
        last, axes = self.form.last, self.layout.cells[-1].axes
        below = source.marginalize(last.term.given)
        sums, squares = source.marginalize(last.term.free), source.sum_squares(last.term.free)
        rows, one, two = (
            self.name(last, found).align(axes) for found in (below, sums, squares)
        )
        # Cells that differ in a value the level draws have the same rows: none goes before.
        first = None if last.term.of == {self.form.outcome} else np.full((), 0.5)
        every = np.broadcast_to(rows, one.shape)
        return NumericRest(rows, one, two, spread_squares(every, one, two, first))

    def read_pilot_levels(self) -> list[LevelNumbers]:
        """Read all levels but the last off the pilot."""
        return [self._read_pilot_level(level) for level in self.form.levels[:-1]]

    def read_rest_levels(self) -> list[LevelNumbers]:
        """Read all levels but the last off the rest."""
        return [self._read_rest_level(level) for level in self.form.levels[:-1]]

    def _read_pilot_level(self, level: Level) -> LevelNumbers:
        """Read a level off the pilot, smoothed and blown up to the size of the rest."""
        split = self.sources.find(level.term)
        joint = split.count_columns(level.term.free)
        if not split.is_exact:
            joint = smooth_pilot(joint, level.term.of, split)
        return self._number(level, joint, exact=split.is_exact)

    def _read_rest_level(self, level: Level) -> LevelNumbers:
        """Read a level off its fold of the rest."""
        split = self.sources.find(level.term)
        joint = split.folds[level.fold].marginalize(level.term.free)
        return self._number(level, joint, exact=split.is_exact)

    def _number(self, level: Level, joint: NamedArray, *, exact: bool) -> LevelNumbers:
        """Name the counts of a level as the form does."""
        rows = joint.marginalize(level.term.given)
        return LevelNumbers(self.name(level, rows), self.name(level, joint), exact)

    def name(self, level: Level, found: NamedArray, reward: int = SUCCESS) -> NamedArray:
        """Name axes as the form does; take the outcome at a level, idle variables as chosen.

        Called for every table that is read, also by ``read_ratio_pilot``.
        """
        axes = tuple(level.names.get(axis, axis) for axis in found.axes)
        fixed = {**self.idle, self.form.outcome: reward}
        index = tuple(fixed.get(axis, slice(None)) for axis in axes)
        return NamedArray(tuple(a for a in axes if a not in fixed), found.values[index])


def _find_commonest(name: str, form: LevelForm, sources: SplitSources) -> int:
    """Find the pilot's commonest level of a variable that does not matter."""
    level = next(each for each in form.levels if name in each.columns)
    counts = sources.find(level.term).pilot.marginalize(frozenset((level.columns[name],)))
    return int(counts.values.argmax())


def smooth_pilot(joint: NamedArray, of: frozenset[str], split: SplitRows) -> NamedArray:
    """Add a few rows to the pilot's cells, spread as if variables were independent.

    No cell is then empty, and rare arms are near their average. The whole is blown up to as
    many rows as the rest has.
    """
    values = joint.values
    total = float(values.sum())
    given = [i for i, axis in enumerate(joint.axes) if axis not in of]
    drawn = [i for i, axis in enumerate(joint.axes) if axis in of]
    prior = np.ones(())
    for i in given:
        others = tuple(k for k in range(values.ndim) if k != i)
        share = (values.sum(axis=others, keepdims=True) + 1) / (total + values.shape[i])
        prior = prior * share
    own = values.sum(axis=tuple(given), keepdims=True)
    cells = prod(values.shape[i] for i in drawn)
    prior = prior * (own + 1) / (total + cells)
    n_prior = _PRIOR_ROWS * prod(values.shape[i] for i in given)
    rows = split.folds[0].table.rows
    factor = max(rows, 1.0) / (total + n_prior)
    return NamedArray(joint.axes, (values + n_prior * prior) * factor)
