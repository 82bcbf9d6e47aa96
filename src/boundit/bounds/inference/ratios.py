r"""Exact confidence bounds on a ratio T/B of sums: test inversion (Fieller 1954), one error.

For a threshold t, ``T - t B > 0`` is a statement on a sum whose last rows count 1{values}(Y - t);
shifted by t they count 0, 1 or, with other values, t. Thresholds go upwards in steps that the pilot
fixed; the last before the first that is not passed is the lower endpoint. To be wrong, the first
threshold that is not below the ratio would have to be passed: one error however many are tried.
Passed thresholds need not lie together, so none may be skipped (no bisection). Upper endpoints go
downwards. Where the bottom may be 0 nothing is passed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from boundit.bounds.evidence import SUCCESS, Evidence
from boundit.bounds.inference.base import Mask
from boundit.bounds.inference.evalues import LastCells, PilotValues, Totals, Values
from boundit.bounds.inference.forms import SumForm, term_of
from boundit.bounds.inference.pilot import Split, smooth
from boundit.bounds.inference.sums import (
    Arrays,
    Blocks,
    Choice,
    Chooser,
    FormReader,
    SumBound,
    add_up,
    reveal,
    widen,
)
from boundit.counts.named_array import Floats, NamedArray

THRESHOLD = " t"  # the axis of thresholds; no variable has this name
KNOTS = 17  # at so many thresholds the pilot chooses scales; between them they are interpolated
STEPS, FINE_STEPS, LEAST_STEPS = 256, 1024, 32
_BLOCK, _MOST = 200_000, 50_000_000
_REACH = 1.6  # how many half widths the pilot may err, for each of its own
_UNKNOWN = 1e12
_VARIANCE = 0.04  # supposed of a numeric outcome, of which the pilot has nothing


@dataclass(frozen=True, eq=False)
class RatioChoice:
    """Thresholds in order, and a scale and a kind of inequality for each (on the last axis)."""

    steps: Floats
    scale: Floats
    spread: tuple[Mask, ...]
    predicted: Floats


class RatioBound:
    """Exact confidence bounds on one ratio, for all rows of a table."""

    def __init__(self, reader: FormReader, last: "RatioValues", variance: float | None) -> None:
        self.reader, self.last = reader, last
        self.pilot, self.rest = (reader.read_arrays(pilot=pilot) for pilot in (True, False))
        form = reader.form
        self.by_range = any(not f.of <= form.drawn.keys() for f in form.factors[:-1])
        self._read_pilot(variance)
        kept, cells, rest = reader.layout.axes, reader.layout.cells, self.rest
        self.mass = add_up(rest.weights[-1], cells[-1].axes, kept)
        for place in range(len(rest.rows)):
            holes = np.where(rest.count_rows(place) > 0, 0.0, rest.weights[place])
            self.mass = self.mass + add_up(holes, cells[place].axes, kept)
        self._knots = np.linspace(0, 1, KNOTS).reshape((1,) * len(form.axes) + (-1,))
        self._chooser = self._make_chooser(self._knots)

    def _read_pilot(self, variance: float | None) -> None:
        reader = self.reader
        factor, axes = reader.form.factors[-1], reader.layout.cells[-1].axes
        split, body = reader.split(factor), term_of(factor)
        self._variance = variance
        self._pilot_shares: tuple[Floats, ...]
        if variance is not None:
            known = body.free - {reader.form.outcome}
            joint = smooth(split.pilot.marginalize(known), body.of & known, split)
            rows = reader.name(factor, joint.marginalize(body.given)).align(axes)
            share = reader.name(factor, joint).align(axes) / np.maximum(rows, 1e-300)
            self._pilot_rows, self._pilot_shares = rows, (share,)
            self.estimate, self.growth = np.full((1,) * len(reader.layout.axes), 0.5), _UNKNOWN
            return
        joint = split.pilot.marginalize(body.free)
        if not split.is_exact:
            joint = smooth(joint, body.of, split)
        rows = reader.name(factor, joint.marginalize(body.given)).align(axes)
        lost, won = (
            reader.name(factor, joint, level).align(axes) / np.maximum(rows, 1e-300)
            for level in (1 - SUCCESS, SUCCESS)
        )
        weights, kept = self.pilot.weights[-1], reader.layout.axes
        top, whole = (add_up(weights * part, axes, kept) for part in (won, won + lost))
        self._pilot_rows, self._pilot_shares = rows, (lost, won, 1 - lost - won)
        self.estimate = top / np.maximum(whole, 1e-300)
        self.growth = max(split.rest.table.rows / max(split.pilot.table.rows, 1.0), 1.0)

    def _make_chooser(self, t: Floats) -> Chooser:
        """The pilot's chooser at thresholds t: a row with other values counts t."""
        wide = widen(t, len(self.reader.layout.cells[-1].axes))
        values = PilotValues(
            self._pilot_rows, self._pilot_shares, (np.zeros(()), np.ones(()), wide)
        )
        if self._variance is not None:
            (share,), off = self._pilot_shares, 0.5 - wide
            variance = share * (self._variance + (1 - share) * off**2)
            values = PilotValues(
                self._pilot_rows, (np.ones(()),), (wide + share * off,), variance
            )
        return Chooser(_resize(self.pilot, t), values, by_range=self.by_range)

    def choose(self, log_error: Floats, *, upper: bool) -> RatioChoice:
        """Thresholds around the endpoint that the pilot expects, and a scale for each."""
        found = self._chooser.choose(log_error[..., None], upper=upper)
        expected = self._predict(found.predicted, upper=upper)
        # The pilot errs by the square root of how much smaller it is.
        reach = (
            np.abs(self.estimate[..., 0] - expected) * (1 + _REACH * self.growth**0.5) + 1e-9
        )
        low, high = np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0)
        start, stop = (high, low) if upper else (low, high)
        most = FINE_STEPS if self.growth >= _UNKNOWN else STEPS
        n_steps = int(np.clip(_MOST // self._count_cells(), LEAST_STEPS, most))
        steps = (
            start[..., None] + (stop - start)[..., None] * np.linspace(0, 1, n_steps + 1)[1:]
        )
        at = np.clip(steps * (KNOTS - 1), 0, KNOTS - 1)
        below = np.minimum(at.astype(np.int64), KNOTS - 2)
        scales = np.log(np.broadcast_to(found.scale, (*expected.shape, KNOTS)))
        low_log, high_log = (np.take_along_axis(scales, i, axis=-1) for i in (below, below + 1))
        scale = np.exp(low_log + (at - below) * (high_log - low_log))
        nearest = np.rint(at).astype(np.int64)
        spread = tuple(
            np.take_along_axis(np.broadcast_to(each, scales.shape), nearest, axis=-1)
            for each in found.spread
        )
        return RatioChoice(steps, scale, spread, expected)

    def bound(self, choice: RatioChoice, log_error: Floats, *, upper: bool) -> Floats:
        """One endpoint of all rows: the last threshold before the first that is not passed."""
        size = max(1, _BLOCK // self._count_cells())
        shape = np.broadcast_shapes(choice.steps.shape[:-1], self.mass.shape[:-1])
        end, passing = np.full(shape, 1.0 if upper else 0.0), np.ones(shape, dtype=bool)
        for first in range(0, choice.steps.shape[-1], size):
            self.rest.workspace.require_time()
            part = slice(first, first + size)
            t = choice.steps[..., part]
            own = Choice(choice.scale[..., part], tuple(s[..., part] for s in choice.spread), t)
            values = self.last.at(widen(t, len(self.reader.layout.cells[-1].axes)))
            made = SumBound(self._make_chooser(t), _resize(self.rest, t), values)
            found = made.bound(own, log_error[..., None], upper=upper)
            passed = found < t * self.mass if upper else found > t * self.mass
            run = np.logical_and.accumulate(passed, axis=-1).sum(axis=-1)
            leading = np.where(passing, run, 0)
            reached = np.take_along_axis(t, np.maximum(leading - 1, 0)[..., None], axis=-1)
            end = np.where(leading > 0, reached[..., 0], end)
            passing = leading == t.shape[-1]
            if not passing.any():
                break
        return np.asarray(np.clip(end, 0.0, 1.0))

    def _predict(self, ends: Floats, *, upper: bool) -> Floats:
        """Where thresholds will no longer be passed, from the predictions at all knots."""
        margin = (self._knots - ends) if upper else (ends - self._knots)
        margin = np.broadcast_to(margin, np.broadcast_shapes(margin.shape, self.estimate.shape))
        knots = np.broadcast_to(self._knots, margin.shape)
        if upper:
            margin, knots = margin[..., ::-1], knots[..., ::-1]
        last = (margin[..., 1:] > 0).cumprod(axis=-1).sum(axis=-1)
        place = np.minimum(last, KNOTS - 2)[..., None]
        here, there = (np.take_along_axis(margin, place + i, axis=-1)[..., 0] for i in (0, 1))
        from_, to = (np.take_along_axis(knots, place + i, axis=-1)[..., 0] for i in (0, 1))
        part = np.clip(here / np.where(here > there, here - there, 1.0), 0.0, 1.0)
        return np.where(last > 0, from_ + part * (to - from_), 1.0 if upper else 0.0)

    def _count_cells(self) -> int:
        return int(np.prod([self.rest.sizes[a] for a in self.reader.layout.cells[-1].axes]))


def _resize(arrays: Arrays, t: Floats) -> Arrays:
    return replace(arrays, sizes={**arrays.sizes, THRESHOLD: t.shape[-1]})


@dataclass(frozen=True, eq=False)
class RatioValues:
    """The last factor's rows before a threshold is set: failures, successes, other values."""

    counts: tuple[Floats, ...]
    blocks: Blocks = list
    moments: tuple[Floats, Floats] | None = None

    def at(self, t: Floats) -> LastCells:
        """The rows' values at thresholds."""
        if self.moments is None:
            return Values(self.counts, (np.zeros(()), np.ones(()), t), self.blocks)
        chosen, others = self.counts
        sums, squares = self.moments[0] + t * others, self.moments[1] + t**2 * others
        return Totals(chosen + others, sums, squares, guess=t)


def make_ratio_bound(
    form: SumForm, evidence: Evidence, splits: Mapping[int, Split], rng: Generator
) -> RatioBound:
    """The bounds on one ratio, read off pilot and rest."""
    reader = FormReader(form, evidence, splits, (THRESHOLD,))
    factor, axes = form.factors[-1], reader.layout.cells[-1].axes
    body, source = term_of(factor), reader.split(factor).rewarded
    joint = source.marginalize(body.free)
    if evidence.is_numeric:
        found = (
            source.marginalize(body.given),
            source.marginalize(body.free - {form.outcome}),
            joint,
            source.sum_squares(body.free),
        )
        rows, chosen, sums, squares = (reader.name(factor, each).align(axes) for each in found)
        last = RatioValues((chosen, rows - chosen), moments=(sums, squares))
    else:

        def part(whole: NamedArray) -> tuple[Floats, ...]:
            rows = reader.name(factor, whole.marginalize(body.given)).align(axes)
            lost, won = (
                reader.name(factor, whole, i).align(axes) for i in (1 - SUCCESS, SUCCESS)
            )
            return lost, won, rows - lost - won

        drawn = reveal(joint, body, part, rng)()
        last = RatioValues(part(joint), lambda: drawn)
    return RatioBound(reader, last, _VARIANCE if evidence.is_numeric else None)
