"""Counts of a ratio of sums: at every threshold a sum of levels with values of its own.

A ratio ``T / B`` is above ``t`` where ``T - t B`` is above 0. In the last level ``T`` counts
rows with the row's values that succeed, ``B`` all with those values, so that each row counts
``1{values}(Y - t)``. Shifted by ``t`` this is 0, 1 or, for rows with other values, ``t``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.random import Generator

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.claims.explain_claim import ClaimCells
from boundit.bounds.claims.last_level import (
    NumericPilot,
    NumericRest,
    PilotLast,
    RestLast,
    ValuedPilot,
    ValuedRest,
)
from boundit.bounds.claims.level_form import Level, LevelForm, RatioForm, Unmet
from boundit.bounds.claims.penalties import draw_blocks, spread_squares
from boundit.bounds.claims.pilot import SplitSources
from boundit.bounds.claims.read_form import (
    FormReader,
    PilotNumbers,
    RestNumbers,
    smooth_pilot,
)
from boundit.bounds.claims.sum_arrays import SumArrays, add_up, widen
from boundit.bounds.claims.sum_layout import lay_out_form
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import P

THRESHOLD = " t"
"""The axis of thresholds, after those of the table; no variable has this name."""

UNKNOWN = 1e12
"""How many rows of the rest there are for each of a pilot that knows no rewards."""


class RatioPilotLast(Protocol):
    """What the pilot knows of the last level's rows, before a threshold is set."""

    def at(self, t: Floats) -> PilotLast:
        """Set thresholds, over the cells of the last level."""


class RatioRestLast(Protocol):
    """What the rest knows of the last level's rows, before a threshold is set."""

    def at(self, t: Floats) -> RestLast:
        """Set thresholds, over the cells of the last level."""

    def count_chosen(self) -> tuple[Floats, Floats, Floats]:
        """Count the rows of every cell, those with the table row's values, their successes."""


@dataclass(frozen=True, eq=False)
class CountedPilot:
    """Shares of failures, of successes, and of rows with other values than the table's row."""

    rows: Floats
    shares: tuple[Floats, Floats, Floats]

    def at(self, t: Floats) -> PilotLast:
        """Set thresholds: a row with other values counts ``t``."""
        return ValuedPilot(self.rows, self.shares, (np.zeros(()), np.ones(()), t))


@dataclass(frozen=True, eq=False)
class CountedRest:
    """Failures, successes and other rows of every cell, and drawn in blocks."""

    blocks: tuple[tuple[Floats, ...], ...]
    counts: tuple[Floats, ...]

    def at(self, t: Floats) -> RestLast:
        """Set thresholds: a row with other values counts ``t``."""
        return ValuedRest(self.blocks, self.counts, (np.zeros(()), np.ones(()), t))

    def count_chosen(self) -> tuple[Floats, Floats, Floats]:
        """Count rows, chosen ones and successes."""
        lost, won, others = self.counts
        return lost + won + others, lost + won, won


@dataclass(frozen=True, eq=False)
class SummedPilot:
    """The pilot's share of rows with the table row's values, of numeric rewards unknown."""

    rows: Floats
    share: Floats
    variance: float

    def at(self, t: Floats) -> PilotLast:
        """Set thresholds, for rewards in the middle."""
        off = 0.5 - t
        variance = self.share * (self.variance + (1 - self.share) * off**2)
        return NumericPilot(self.rows, variance, t + self.share * off)


@dataclass(frozen=True, eq=False)
class SummedRest:
    """Rows of every cell, and those with the table row's values: how many, sums, squares."""

    rows: Floats
    chosen: Floats
    sums: Floats
    squares: Floats

    def at(self, t: Floats) -> RestLast:
        """Set thresholds: a row with other values counts ``t``."""
        others = self.rows - self.chosen
        sums, squares = self.sums + t * others, self.squares + t**2 * others
        rows, guess = np.broadcast_to(self.rows, sums.shape), np.broadcast_to(t, sums.shape)
        return NumericRest(self.rows, sums, squares, spread_squares(rows, sums, squares, guess))

    def count_chosen(self) -> tuple[Floats, Floats, Floats]:
        """Count rows and chosen ones, and sum rewards."""
        return self.rows, self.chosen, self.sums


@dataclass(frozen=True, eq=False)
class RatioPilot:
    """What the pilot says of a ratio; ``estimate`` is its own, ``growth`` the rest's size.

    ``growth`` is how many rows of the rest there are for each of the pilot.
    """

    arrays: SumArrays
    last: RatioPilotLast
    estimate: Floats
    growth: float

    def at(self, t: Floats) -> PilotNumbers:
        """Set thresholds ``t``, over the table's axes and their own."""
        n_axes = len(self.arrays.layout.cells[-1].axes)
        return PilotNumbers(_resize(self.arrays, t), self.last.at(widen(t, n_axes)))


@dataclass(frozen=True, eq=False)
class RatioRest:
    """What the rest says of a ratio.

    ``mass`` is what the weights of the last level add up to, and those of holes before it.
    """

    arrays: SumArrays
    last: RatioRestLast
    mass: Floats

    def at(self, t: Floats) -> RestNumbers:
        """Set thresholds ``t``, over the table's axes and their own."""
        n_axes = len(self.arrays.layout.cells[-1].axes)
        return RestNumbers(_resize(self.arrays, t), self.last.at(widen(t, n_axes)))

    def list_cells(self, form: LevelForm) -> ClaimCells:
        """List the cells behind the ratio of every row: each stratum's rows with its values.

        A stratum weighs as much as it adds to the bottom; one without rows, as much as others
        on average.
        """
        arrays = SumArrays.from_numbers(
            lay_out_form(form), self.arrays.numbers, self.arrays.settings
        )
        at = len(form.axes)
        rows, chosen, won = (part.squeeze(axis=at) for part in self.last.count_chosen())
        rows, weights = np.broadcast_to(rows, chosen.shape), arrays.weights[-1]
        own = tuple(range(at, chosen.ndim))
        share = np.divide(chosen, rows, out=np.zeros(chosen.shape), where=rows > 0)
        seen = (weights * (rows > 0)).sum(axis=own, keepdims=True)
        bottom = (weights * share).sum(axis=own, keepdims=True)
        bottom = bottom / np.where(seen > 0, seen, 1.0)
        share = np.where(rows > 0, share / np.where(bottom > 0, bottom, 1.0), 1.0)
        mean = np.divide(won, chosen, out=np.zeros(chosen.shape), where=chosen > 0)
        kept = replace(arrays, weights=(*arrays.weights[:-1], weights * share))
        return ClaimCells(form, kept, chosen, mean)


def _resize(arrays: SumArrays, t: Floats) -> SumArrays:
    """Tell arrays how many thresholds there are."""
    sizes = {**arrays.settings.sizes, THRESHOLD: t.shape[-1]}
    return replace(arrays, settings=replace(arrays.settings, sizes=sizes))


def merge_levels(ratio: RatioForm) -> RatioForm | Unmet:
    """Merge levels read at the row's own values with the last, where they are one joint law.

    ``P(x | z) P(y | x, z)`` is ``P(x, y | z)``, whose rows pay once for both. Says why there
    are no claims where another level hangs on the outcome.
    """
    form = ratio.form
    if any(form.outcome in level.given for level in form.levels):
        return Unmet(f"a factor is given {form.outcome}")
    while any(_is_fixed(level, form) for level in form.levels[:-1]):
        *others, level, last = form.levels
        merged = _merge(level, last, form)
        if merged is None:
            break
        form = replace(form, levels=(*others, merged))
    return RatioForm(form)


def _is_fixed(level: Level, form: LevelForm) -> bool:
    """Tell whether a level is read at a value of the table's row, or at one chosen."""
    return not level.of <= form.drawn.keys()


def has_fixed_levels(form: LevelForm) -> bool:
    """Tell whether a level before the last is read at a fixed value.

    What follows it then counts only for some of its rows.
    """
    return any(_is_fixed(level, form) for level in form.levels[:-1])


def _merge(level: Level, last: Level, form: LevelForm) -> Level | None:
    """Merge the last two levels if one goes on where the other ends, or return None.

    What the first draws to be summed over is read by the last alone, and goes.
    """
    columns = {**level.columns, **last.columns}
    if (
        last.given != level.of | level.given
        or (level.term.logged, level.fold) != (last.term.logged, last.fold)
        or len({*columns.values()}) < len(columns)
    ):
        return None
    drawn = form.drawn.keys()
    of = frozenset(columns[name] for name in level.of | last.of if name not in drawn)
    term = P(of, level.term.given, last.term.logged)
    kept = {columns[name]: name for name in columns if columns[name] in term.free}
    names = {column: name for column, name in kept.items() if column != name}
    return Level(term, names, last.depth, last.fold)


def make_ratio_reader(
    ratio: RatioForm, sources: SplitSources, levels: Mapping[str, int], workspace: Workspace
) -> FormReader:
    """Make the reader of a ratio's levels, with an axis of thresholds."""
    scanned = replace(ratio.form, axes=(*ratio.form.axes, THRESHOLD))
    return FormReader.of(scanned, sources, {**levels, THRESHOLD: 1}, workspace)


def read_ratio_pilot(reader: FormReader, variance: float | None) -> RatioPilot:
    """Read the pilot's numbers; a numeric reward is supposed to have some ``variance``."""
    arrays = reader.read_pilot_arrays()
    last, cells = reader.form.last, reader.layout.cells[-1]
    split = reader.sources.find(last.term)
    if variance is not None:
        known = last.term.free - {reader.form.outcome}
        joint = smooth_pilot(split.pilot.marginalize(known), last.term.of & known, split)
        rows = reader.name(last, joint.marginalize(last.term.given)).align(cells.axes)
        share = reader.name(last, joint).align(cells.axes) / np.maximum(rows, 1e-300)
        middle = np.full((1,) * len(reader.layout.axes), 0.5)
        return RatioPilot(arrays, SummedPilot(rows, share, variance), middle, UNKNOWN)
    joint = split.pilot.marginalize(last.term.free)
    if not split.is_exact:
        joint = smooth_pilot(joint, last.term.of, split)
    rows = reader.name(last, joint.marginalize(last.term.given)).align(cells.axes)
    lost, won = (
        reader.name(last, joint, reward).align(cells.axes) / np.maximum(rows, 1e-300)
        for reward in (1 - SUCCESS, SUCCESS)
    )
    weights, kept = arrays.weights[-1], reader.layout.axes
    top, whole = (add_up(weights * part, cells.axes, kept) for part in (won, won + lost))
    estimate = top / np.maximum(whole, 1e-300)
    growth = max(split.folds[0].table.rows / max(split.pilot.table.rows, 1.0), 1.0)
    return RatioPilot(arrays, CountedPilot(rows, (lost, won, 1 - lost - won)), estimate, growth)


def read_ratio_rest(reader: FormReader, rng: Generator, *, numeric: bool) -> RatioRest:
    """Read the rest's numbers, and draw the order in which its rewards are bet on."""
    arrays = reader.read_rest_arrays()
    kept, cells = reader.layout.axes, reader.layout.cells
    mass = add_up(arrays.weights[-1], cells[-1].axes, kept)
    for place in range(len(arrays.numbers)):
        lost = np.where(arrays.find_rows(place) > 0, 0.0, arrays.weights[place])
        mass = mass + add_up(lost, cells[place].axes, kept)
    last = _read_sums(reader) if numeric else _read_counts(reader, rng)
    return RatioRest(arrays, last, mass)


def _read_counts(reader: FormReader, rng: Generator) -> CountedRest:
    """Count failures, successes and other rows, drawn in blocks."""
    last, axes = reader.form.last, reader.layout.cells[-1].axes
    joint = reader.sources.find(last.term).rewarded[last.fold].marginalize(last.term.free)
    given = tuple(axis for axis in joint.axes if axis in last.term.given)
    drawn = tuple(axis for axis in joint.axes if axis not in given)
    counts = joint.align((*given, *drawn))
    flat = counts.reshape((*counts.shape[: len(given)], -1))

    def part(block: Floats) -> tuple[Floats, ...]:
        whole = NamedArray((*given, *drawn), block.reshape(counts.shape))
        rows = reader.name(last, NamedArray(given, block.sum(axis=-1))).align(axes)
        lost, won = (
            reader.name(last, whole, reward).align(axes) for reward in (1 - SUCCESS, SUCCESS)
        )
        return lost, won, rows - lost - won

    return CountedRest(tuple(part(block) for block in draw_blocks(flat, rng)), part(flat))


def _read_sums(reader: FormReader) -> SummedRest:
    """Read sums and squares of a numeric reward, and how many rows they are of."""
    last, axes = reader.form.last, reader.layout.cells[-1].axes
    source = reader.sources.find(last.term).rewarded[last.fold]
    found = (
        source.marginalize(last.term.given),
        source.marginalize(last.term.free - {reader.form.outcome}),
        source.marginalize(last.term.free),
        source.sum_squares(last.term.free),
    )
    rows, chosen, sums, squares = (reader.name(last, each).align(axes) for each in found)
    return SummedRest(rows, chosen, sums, squares)
