r"""Exact confidence bounds on sums of products: one log(1/a) for a whole endpoint.

**Theorem 1.** With :math:`\hat\theta` the sum at the rest's estimates, a scale :math:`\lambda`
from the pilot, :math:`s_g = \lambda W_j(g) / n_g` and :math:`\Psi_j` a log e-value of each
factor's cells,

.. math:: \theta \ge \hat\theta - \big(\log(1/a) + \Psi_Y + \sum_j \Psi_j\big) / \lambda

with probability at least 1 - a. The error telescopes: replacing estimated by true factors, the
last first, factor j adds :math:`\sum_g W_j(g) \sum_v (\hat P_j - P_j)(v|g) V_j(v, g)`, W_j the
product of earlier estimates and V_j the true value of what follows, in [0, 1]. Given what was
revealed before, each exponent has mean at most one; multiply (tower property), then Markov.

**Theorem 2.** With a minimum over unknown variables inside the sum, the minimum may be taken cell
by cell over weighted, penalised values: only the truly least choice must hold, and it is fixed.

*Cells without rows* (holes): a lower endpoint drops them (their true part is at least 0), an upper
one adds their weight. Never invented shares. The endpoint is clipped, never its parts.

*Spread.* A factor before the last pays for deviations of its draws times V_j, which is unknown:
by Hoeffding for the range [0, 1], or by an upper bound of the variance of V_j bought with 6 % of a.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, prod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from boundit.bounds.chain import Axes
from boundit.bounds.evidence import SUCCESS, Counts, Evidence
from boundit.bounds.inference.base import Mask
from boundit.bounds.inference.cells import (
    bound_mean,
    clopper_pearson,
    find_reach,
    guess_from_others,
)
from boundit.bounds.inference.evalues import (
    LastCells,
    PilotValues,
    Totals,
    Values,
    draw_blocks,
    hoeffding,
    psi,
)
from boundit.bounds.inference.forms import Layout, SumForm, lay_out, list_names, term_of
from boundit.bounds.inference.pilot import Split, smooth
from boundit.counts.formula import Factor, Pair, ProductTable, contract
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.expression import P

SPREAD_SHARE = 0.06
SMALL_SCALE = 0.9
_LEAST = 1e-12
_GOLDEN = (5**0.5 - 1) / 2
_STEPS, _REACH = 9, 1.8
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows, estimates and weights of all factors, read off some rows."""

    layout: Layout
    rows: tuple[NamedArray, ...]
    shares: tuple[ProductTable, ...]
    exact: tuple[bool, ...]
    sizes: Mapping[str, int]
    workspace: Workspace

    @cached_property
    def weights(self) -> tuple[Floats, ...]:
        """W_j: the contraction of the factors before, onto the cells of each."""
        return tuple(
            self.contract([self.shares[i] for i in c.before], c.axes) for c in self.layout.cells
        )

    def contract(self, tables: Sequence[ProductTable], keep: Axes) -> Floats:
        """Multiply tables and sum over what is not kept."""
        return contract(tables, keep, self.sizes, self.workspace)

    def count_rows(self, place: int) -> Floats:
        """The rows of a factor's cells."""
        return self.rows[place].align(self.layout.cells[place].axes)

    def share_branches(self, place: int) -> Floats:
        """q_a: how the rows of a cell are shared out over the branches that read them."""
        where, weights = self.layout.cells[place], self.weights[place]
        if not where.shared:
            return np.ones(())
        chosen = tuple(i for i, axis in enumerate(where.axes) if axis in self.layout.unknown)
        branches = tuple(i for i, axis in enumerate(where.axes) if axis in where.shared)
        typical = np.maximum(weights.mean(axis=chosen, keepdims=True), 0.0) + _LEAST
        return np.asarray(typical / typical.sum(axis=branches, keepdims=True))

    def value_draws(self, place: int, last: Floats, *, upper: bool, most: bool) -> Floats:
        """A factor's weights times the value of what follows each of its draws.

        Of unknown variables within, the least (or greatest) is taken. What is chosen of those
        around the factor does not depend on its draws: only the least and greatest are said.
        """
        where, layout = self.layout.cells[place], self.layout
        kept = (*where.axes, *where.draws)
        around = (layout.cells[i].within for i in range(place) if not self.exact[i])
        known = max((where.within, *around))
        value = _table(layout.cells[-1].axes, last)
        within = [cells.within for cells in layout.cells]
        for depth in range(len(layout.unknown), -1, -1):
            inner = [s for i, s in enumerate(self.shares) if i != place and within[i] == depth]
            if depth == 0:
                return self.contract([value, *inner], kept)
            held = dict.fromkeys(axis for table in (value, *inner) for axis in table.axes)
            drawn = {name for name, at in layout.drawn.items() if at >= depth}
            left = tuple(name for name in held if name in kept or name not in drawn)
            array, name = self.contract([value, *inner], left), layout.unknown[depth - 1]
            if name in left and name not in kept:
                at = left.index(name)
                greatest = upper if depth > known else most
                array = array.max(axis=at) if greatest else array.min(axis=at)
                left = left[:at] + left[at + 1 :]
            value = ProductTable(left, (array,))
        raise AssertionError


def _table(axes: Axes, values: Floats) -> ProductTable:
    """A table of an array, without axes along which it does not vary."""
    long = [i for i, n in enumerate(values.shape) if n > 1]
    return ProductTable(
        tuple(axes[i] for i in long), (values.reshape([values.shape[i] for i in long]),)
    )


def add_up(values: Floats, axes: Axes, kept: Collection[str]) -> Floats:
    """Sum over the axes that are not kept."""
    gone = tuple(i for i, axis in enumerate(axes) if axis not in kept)
    return values.sum(axis=gone) if gone else values


def widen(values: np.ndarray, n_axes: int) -> np.ndarray:
    """Axes of length 1 behind those of the table, for the cells of a row."""
    return values.reshape(values.shape + (1,) * (n_axes - values.ndim))


def add_worst(layout: Layout, leaf: Floats, parts: Sequence[Floats], *, upper: bool) -> Floats:
    """Add weighted, penalised cells up to rows; of unknown variables take the worst (Theorem 2)."""
    axes, value = layout.cells[-1].axes, leaf
    for depth in range(len(layout.unknown), -1, -1):
        if depth <= layout.cells[-1].depth:
            kept = layout.outside(depth)
            value, axes = add_up(value, axes, kept), tuple(a for a in axes if a in kept)
            for where, part in zip(layout.cells, parts, strict=False):
                if where.depth == depth:
                    own = tuple(a for a in where.axes if a in kept)
                    joined = (*axes, *(a for a in own if a not in axes))
                    added = NamedArray(own, add_up(part, where.axes, kept)).align(joined)
                    value = NamedArray(axes, value).align(joined) + added
                    axes = joined
        if depth and layout.unknown[depth - 1] in axes:
            at = axes.index(layout.unknown[depth - 1])
            value = value.max(axis=at) if upper else value.min(axis=at)
            axes = axes[:at] + axes[at + 1 :]
    return value


class FormReader:
    """Reads the factors of one form off the pilot and off the rest."""

    def __init__(
        self,
        form: SumForm,
        evidence: Evidence,
        splits: Mapping[int, Split],
        extra: Axes = (),
        outcome: int = SUCCESS,
    ) -> None:
        self.form, self.evidence, self.splits, self.outcome = form, evidence, splits, outcome
        self.layout, self.workspace = lay_out(form, extra), evidence.workspace
        self.sizes = {name: evidence.levels[name] for name in form.axes} | dict.fromkeys(
            extra, 1
        )
        self.sizes |= {name: evidence.levels[column] for name, column in list_names(form)}
        for factor in form.factors:
            cells = prod(self.sizes[name] for name in factor.columns)
            self.workspace.require_cells(cells, term_of(factor).free)
        self.idle = {name: self._find_commonest(name) for name in form.idle}

    def split(self, factor: Factor) -> Split:
        """Pilot and rest of the table that a factor is read off."""
        return self.splits[id(self.evidence.find(term_of(factor)))]

    def _find_commonest(self, name: str) -> int:
        factor = next(f for f in self.form.factors if name in f.columns)
        own = self.split(factor).pilot.marginalize(frozenset((factor.columns[name],)))
        return int(own.values.argmax())

    def name(self, factor: Factor, found: NamedArray, outcome: int | None = None) -> NamedArray:
        """Name axes as the form does; the outcome at one level, idle variables as chosen."""
        axes = tuple(factor.names[axis] for axis in found.axes)
        fixed = {**self.idle, self.form.outcome: self.outcome if outcome is None else outcome}
        index = tuple(fixed.get(axis, slice(None)) for axis in axes)
        return NamedArray(tuple(a for a in axes if a not in fixed), found.values[index])

    def read_arrays(self, *, pilot: bool) -> Arrays:
        """Rows, estimates and weights of all factors but the last."""
        rows, shares, exact = list[NamedArray](), list[ProductTable](), list[bool]()
        for factor in self.form.factors[:-1]:
            split, body = self.split(factor), term_of(factor)
            joint = (split.pilot if pilot else split.rest).marginalize(body.free)
            if pilot and not split.is_exact:
                joint = smooth(joint, body.of, split)
            below, top = (
                self.name(factor, joint.marginalize(body.given)),
                self.name(factor, joint),
            )
            n = below.align(top.axes)
            share = np.divide(top.values, n, out=np.zeros(top.values.shape), where=n > 0)
            rows.append(below)
            shares.append(ProductTable(top.axes, (share,)))
            exact.append(split.is_exact)
        return Arrays(
            self.layout, tuple(rows), tuple(shares), tuple(exact), self.sizes, self.workspace
        )

    def read_pilot(self, supposed: "Supposed | None") -> PilotValues:
        """What the pilot says of the last factor, or what is supposed."""
        last, axes = self.form.factors[-1], self.layout.cells[-1].axes
        split, body = self.split(last), term_of(last)
        if supposed is not None:
            below = split.pilot.marginalize(body.given)
            if not split.is_exact:
                below = smooth(below, frozenset(), split)
            rows, variance = self.name(last, below).align(axes), np.array(supposed.variance)
            return PilotValues(rows, supposed=variance, near_zero=supposed.near_zero)
        joint = split.pilot.marginalize(body.free)
        if not split.is_exact:
            joint = smooth(joint, body.of, split)
        rows = self.name(last, joint.marginalize(body.given)).align(axes)
        share = self.name(last, joint).align(axes) / np.maximum(rows, 1e-300)
        return PilotValues(rows, (1 - share, share), (np.zeros(()), np.ones(())))

    def read_rest(self, rng: Generator) -> LastCells:
        """The last factor's cells in the rest."""
        last, axes = self.form.factors[-1], self.layout.cells[-1].axes
        source, body = self.split(last).rewarded, term_of(last)
        joint, exact = source.marginalize(body.free), source.table.exact
        if self.evidence.is_numeric:
            return self._read_totals(source, exact=exact)

        def part(whole: NamedArray) -> tuple[Floats, ...]:
            rows = self.name(last, whole.marginalize(body.given)).align(axes)
            won = self.name(last, whole).align(axes)
            return rows - won, won

        drawn = list if exact else reveal(joint, body, part, rng)
        return Values(part(joint), (np.zeros(()), np.ones(())), drawn, exact)

    def _read_totals(self, source: Counts, *, exact: bool) -> Totals:
        last, axes = self.form.factors[-1], self.layout.cells[-1].axes
        body = term_of(last)
        found = (
            source.marginalize(body.given),
            source.marginalize(body.free),
            source.sum_squares(body.free),
        )
        rows, sums, squares = (self.name(last, each).align(axes) for each in found)
        if body.of != {self.form.outcome}:  # at other values of what is drawn, rows count 0
            return Totals(rows, sums, squares, guess=np.full((), 0.5), exact=exact)
        low, high = (
            self.name(last, each).align(axes) for each in find_reach(source, body.given)
        )
        reach = (low, high) if self.outcome == SUCCESS else (1 - high, 1 - low)
        return Totals(rows, sums, squares, reach, alone=True, exact=exact)


Part = Callable[[NamedArray], tuple[Floats, ...]]
Blocks = Callable[[], list[tuple[Floats, ...]]]


def reveal(joint: NamedArray, body: P, part: Part, rng: Generator) -> Blocks:
    """Blocks of the rows of every cell in a random order, drawn when first read."""
    given = tuple(axis for axis in joint.axes if axis in body.given)
    drawn = tuple(axis for axis in joint.axes if axis not in given)
    counts = joint.align((*given, *drawn))
    flat = counts.reshape((*counts.shape[: len(given)], -1))

    def blocks() -> list[tuple[Floats, ...]]:
        made = draw_blocks(flat, rng)
        return [part(NamedArray((*given, *drawn), b.reshape(counts.shape))) for b in made]

    return blocks


@dataclass(frozen=True, eq=False)
class Choice:
    """What the pilot chose for one endpoint of all rows: scales, and factors bounded by spread."""

    scale: Floats
    spread: tuple[Mask, ...]
    predicted: Floats


class Chooser:
    """Chooses scales and inequalities, and predicts endpoints, on the pilot alone."""

    def __init__(self, arrays: Arrays, values: PilotValues, *, by_range: bool = False) -> None:
        self.arrays, self.values, self.layout = arrays, values, arrays.layout
        self.by_range = by_range
        self.shares = [arrays.share_branches(i) for i in range(len(self.layout.cells))]

    @cached_property
    def _costs(self) -> list[list[Pair]]:
        """What every factor but the last pays for; for upper endpoints too, if these differ."""
        sides = (False, True) if self.layout.unknown else (False,)
        n = len(self.layout.cells) - 1
        return [[self._guess(i, upper=u) for i in range(n)] for u in sides]

    def choose(self, log_error: Floats, *, upper: bool) -> Choice:
        """The best scale of every row by golden section, for all rows at once."""
        sign, axes = -1.0 if upper else 1.0, self.layout.axes
        costs = self._costs[upper and len(self._costs) > 1]
        cells = self.layout.cells
        sums = [
            [add_up(cost, cells[i].axes, axes) for cost in each] for i, each in enumerate(costs)
        ]
        spread = tuple(np.asarray(by_spread < by_range) for by_spread, by_range in sums)
        halves = [
            (0.5 if upper else -0.5) * np.where(widen(chosen, each[0].ndim), *each)
            for each, chosen in zip(costs, spread, strict=True)
        ]

        def predict(exponent: Floats) -> Floats:
            return sign * self._predict(np.exp(exponent), log_error, halves, upper=upper)

        variance = self.values.variance
        if self.values.supposed is None:
            variance = np.maximum(self.values.mean * (1 - self.values.mean), 0.004)
        own = self.arrays.weights[-1] ** 2 * variance / np.maximum(self.values.rows, 1.0)
        guess = add_up(own, cells[-1].axes, axes)
        for where, each in zip(cells, costs, strict=False):
            guess = guess + add_up(np.minimum(*each), where.axes, axes)
        first = np.log(2 * log_error / np.maximum(guess, _LEAST)) / 2
        low, high = first - _REACH, first + _REACH
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = predict(left), predict(right)
        for _ in range(_STEPS):
            self.arrays.workspace.require_time()
            better = at_left > at_right
            low, high = np.where(better, low, left), np.where(better, right, high)
            kept, at_kept = np.where(better, left, right), np.where(better, at_left, at_right)
            new = np.where(better, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_new = predict(new)
            left, right = np.where(better, new, kept), np.where(better, kept, new)
            at_left, at_right = (
                np.where(better, at_new, at_kept),
                np.where(better, at_kept, at_new),
            )
        best = np.where(at_left > at_right, left, right)
        return Choice(np.exp(best), spread, sign * np.maximum(at_left, at_right))

    def _predict(
        self, scale: Floats, log_error: Floats, halves: Sequence[Floats], *, upper: bool
    ) -> Floats:
        sign, weights, rows = 1.0 if upper else -1.0, self.arrays.weights[-1], self.values.rows
        lam = widen(scale, len(self.layout.cells[-1].axes))
        s = -sign * lam * weights / np.maximum(rows, 1.0) / self.shares[-1]
        price = np.minimum(self.values.predict(rows, s), hoeffding(rows, s))
        leaf = weights * self.values.mean + sign * self.shares[-1] * price / lam
        parts = [widen(scale, half.ndim) * half for half in halves]
        return add_worst(self.layout, leaf, parts, upper=upper) + sign * log_error / scale

    def _guess(self, place: int, *, upper: bool) -> Pair:
        """The variance that a factor pays for: by the spread of what follows, and by range."""
        where, weights = self.layout.cells[place], self.arrays.weights[place]
        rows = np.maximum(self.arrays.count_rows(place), 1.0)
        shape = np.broadcast_shapes(weights.shape, rows.shape)
        if self.arrays.exact[place]:
            return np.zeros(shape), np.zeros(shape)
        by_range = np.broadcast_to(0.25 * weights**2 / rows / self.shares[place], shape)
        names = frozenset(self.arrays.shares[place].axes) - frozenset(
            self.arrays.rows[place].axes
        )
        if self.by_range or names - frozenset(where.axes) - frozenset(where.draws):
            return np.full(shape, np.inf), by_range
        one = np.ones_like(self.arrays.weights[-1])
        values = self.arrays.value_draws(place, self.values.mean * one, upper=upper, most=upper)
        share = self.arrays.shares[place].align((*where.axes, *where.draws))[0]
        over = tuple(range(len(where.axes), len(where.axes) + len(where.draws)))
        mean = (share * values).sum(axis=over)
        variance = np.maximum((share * values**2).sum(axis=over) - mean**2, 0.0)
        by_spread = 1.4 * variance / rows + 24.0 / rows**2 * weights**2
        first, second = np.broadcast_arrays(by_spread, by_range)
        return first, second


class SumBound:
    """Exact confidence bounds on one sum, for all rows of a table.

    ``choose`` reads the pilot alone; ``bound`` reads the rest under what was chosen.
    """

    def __init__(self, chooser: Chooser, arrays: Arrays, last: LastCells) -> None:
        self.chooser, self.arrays, self.last = chooser, arrays, last
        self.layout = arrays.layout

    def choose(self, log_error: Floats, *, upper: bool) -> Choice:
        """Choose on the pilot alone."""
        return self.chooser.choose(log_error, upper=upper)

    def bound(self, choice: Choice, log_error: Floats, *, upper: bool) -> Floats:
        """One endpoint of all rows, each wrong with probability ``exp(-log_error)`` at most."""
        value, log_main = self.weigh(choice, log_error, upper=upper)
        return np.clip(value + (1.0 if upper else -1.0) * log_main / choice.scale, 0.0, 1.0)

    def weigh(self, choice: Choice, log_error: Floats, *, upper: bool) -> Pair:
        """A value v, and a log error: ``exp(scale (v - theta))`` has mean at most one.

        The log error is what is left for it once the statements on spread have theirs.
        """
        sign, cells = 1.0 if upper else -1.0, self.layout.cells
        spends = np.any(np.stack(np.broadcast_arrays(*choice.spread, np.False_)), axis=0)
        log_main = log_error - np.where(spends, np.log(1 - SPREAD_SHARE), 0.0)
        shape = np.broadcast_shapes(choice.scale.shape, log_main.shape)
        scale = np.broadcast_to(choice.scale, shape)
        paid = self._last_evalue(scale, upper=upper)
        mean = np.where(self.last.rows > 0, self.last.mean, 1.0 if upper else 0.0)
        leaf = self.arrays.weights[-1] * mean + sign * paid / widen(scale, paid.ndim)
        parts = [
            self._bound_factor(i, choice.spread[i], scale, paid, log_error, upper=upper)
            for i in range(len(cells) - 1)
        ]
        return add_worst(self.layout, leaf, parts, upper=upper), log_main

    def _last_evalue(self, scale: Floats, *, upper: bool) -> Floats:
        q, weights = self.chooser.shares[-1], self.arrays.weights[-1]
        lam = widen(scale, len(self.layout.cells[-1].axes))
        s = np.where(
            self.last.rows > 0, lam * weights / np.maximum(self.last.rows, 1.0) / q, 0.0
        )
        paid = q * self.last.log_evalue(-s if upper else s, self.chooser.values)
        return np.broadcast_to(
            paid, np.broadcast_shapes(paid.shape, s.shape, self.last.mean.shape)
        )

    def _bound_factor(
        self,
        place: int,
        by_spread: Mask,
        scale: Floats,
        paid: Floats,
        log_error: Floats,
        *,
        upper: bool,
    ) -> Floats:
        """What is added at the cells of a factor before the last: holes and its log e-value."""
        arrays, sign = self.arrays, 1.0 if upper else -1.0
        rows, weights = arrays.count_rows(place), arrays.weights[place]
        n_axes, q = len(self.layout.cells[place].axes), self.chooser.shares[place]
        holes = np.where(rows > 0, 0.0, weights if upper else 0.0)
        if arrays.exact[place]:
            return holes
        lam = widen(scale, n_axes)
        s = np.where(rows > 0, lam * weights / np.maximum(rows, 1.0) / q, 0.0)
        cost = hoeffding(rows, s)
        if by_spread.any():
            # Statements on the same variance that hold at once: the smaller one does.
            total = self._has_total
            part = log_error + log(
                (1 + total) * (2 * len(self.layout.cells) - 1) / SPREAD_SHARE
            )
            spread = SpreadIntervals(arrays, self.last, part).bound(arrays, place, upper=upper)
            if total:
                part = log_error + log(8 / SPREAD_SHARE)
                spread = np.minimum(spread, self._bound_total(scale, paid, part, upper=upper))
            small = widen(by_spread, n_axes) & (s < SMALL_SCALE)
            cost = np.where(small, rows * psi(np.where(small, s, 0.0)) * spread, cost)
        return np.asarray(holes + sign * q * cost / lam)

    @cached_property
    def _has_total(self) -> bool:
        """Whether one factor draws strata, with one cell for each row, and the next a 0/1 outcome.

        A numeric outcome varies less within strata than its mean allows.
        """
        arrays, where = self.arrays, self.layout.cells[0]
        if len(arrays.rows) != 1 or self.layout.unknown or not isinstance(self.last, Values):
            return False
        own = frozenset(arrays.shares[0].axes) - frozenset(arrays.rows[0].axes)
        alone = where.axes == self.layout.axes and own == frozenset(where.draws)
        return alone and self.last.counts[2:] == () and not self.last.exact

    def _bound_total(self, scale: Floats, paid: Floats, part: Floats, *, upper: bool) -> Floats:
        """Variance of the strata's means: total variance less that within.

        ``sum P(z) (m_z - t)^2 = t (1 - t) - sum P(z) m_z (1 - m_z)``, t within crude endpoints.
        Four statements, each wrong with probability ``exp(-part)`` at most.
        """
        last, weights, arrays = self.last, self.arrays.weights[-1], self.arrays
        axes, kept = self.layout.cells[-1].axes, self.layout.axes
        other = self._last_evalue(scale, upper=not upper)
        down, up = (other, paid) if upper else (paid, other)
        seen = last.rows > 0
        low = add_up(weights * np.where(seen, last.mean, 0.0), axes, kept)
        high = add_up(weights * np.where(seen, last.mean, 1.0), axes, kept)
        low = (low - (part + add_up(down, axes, kept)) / scale).clip(0, 1)
        high = (high + (part + add_up(up, axes, kept)) / scale).clip(0, 1)
        around = (low <= 0.5) & (high >= 0.5)
        most = np.where(around, 0.25, np.maximum(low * (1 - low), high * (1 - high)))
        pairs = np.floor(last.rows / 2)
        within = add_up(np.where(pairs > 0, weights * last.variance, 0.0), axes, kept)
        noise = np.where(pairs > 0, weights**2 / (4 * np.maximum(pairs, 1.0)), 0.0)
        within = within - np.sqrt(part / 2 * add_up(noise, axes, kept))
        off = (part + log(2)) / (2 * np.maximum(arrays.count_rows(0), 1.0))
        return np.asarray(
            np.minimum(np.maximum(most - np.maximum(within, 0.0), 0.0) + off, 1.0)
        )


class SpreadIntervals:
    """How much what follows a factor's draws can vary, from intervals of the last cells.

    Each cell's mean is in its interval, each later factor within its total variation of the
    truth (Weissman et al. 2003); the sum moves by at most the sum of their radii. Only the sum
    is clipped: a later factor that is off may give more weight to a cell whose mean is 1.
    """

    def __init__(self, arrays: Arrays, last: LastCells, log_part: Floats) -> None:
        used = (arrays.weights[-1] > 0) & (last.rows > 0)
        n_cells = self._count(used, arrays, len(arrays.rows))
        low, high = last.intervals(float(np.exp(-np.max(log_part))) / n_cells)
        self.low, self.high = (
            np.where(last.rows > 0, low, 0.0),
            np.where(last.rows > 0, high, 1.0),
        )
        self.log_part = log_part

    @staticmethod
    def _count(used: Mask, arrays: Arrays, place: int) -> int:
        found = add_up(used.astype(float), arrays.layout.cells[place].axes, arrays.layout.axes)
        return max(int(found.max(initial=1)), 1)

    def bound(self, arrays: Arrays, place: int, *, upper: bool) -> Floats:
        """The greatest variance of what follows a factor's draws, relative to its weights."""
        where, weights = arrays.layout.cells[place], arrays.weights[place]
        one = np.ones_like(arrays.weights[-1])
        low = arrays.value_draws(place, self.low * one, upper=upper, most=False)
        high = arrays.value_draws(place, self.high * one, upper=upper, most=True)
        moved = self._total_variation(arrays, place)
        over = tuple(range(len(where.axes), len(where.axes) + len(where.draws)))
        full = np.expand_dims(weights, over) if over else weights
        low, high = np.maximum(low - moved, 0.0), np.minimum(high + moved, full)
        high = np.maximum(low, high)
        share = arrays.shares[place].align((*where.axes, *where.draws))[0]
        middle, half = (low + high) / 2, (high - low) / 2
        mean = (share * middle).sum(axis=over)
        variance = np.maximum((share * middle**2).sum(axis=over) - mean**2, 0.0)
        # The triangle inequality in L2 of the factor's estimated distribution.
        deviation = np.sqrt(variance) + np.sqrt((share * half**2).sum(axis=over))
        rows = arrays.count_rows(place)
        n_cells = self._count((weights > 0) & (rows > 0), arrays, place)
        off = (widen(self.log_part, rows.ndim) + log(2 * n_cells)) / (2 * np.maximum(rows, 1.0))
        return np.asarray(
            np.minimum((deviation / np.where(weights > 0, weights, 1.0)) ** 2 + off, 1.0)
        )

    def _total_variation(self, arrays: Arrays, place: int) -> Floats:
        where = arrays.layout.cells[place]
        kept = (*where.axes, *where.draws)
        total = np.zeros((1,) * len(kept))
        for later in range(place + 1, len(arrays.rows)):
            cells = arrays.layout.cells[later]
            if arrays.exact[later]:
                continue
            rows = arrays.count_rows(later)
            n_cells = self._count((arrays.weights[later] > 0) & (rows > 0), arrays, later)
            own = set(arrays.shares[later].axes) - set(arrays.rows[later].axes)
            whole = prod(arrays.sizes[a] for a in own) * log(2) + log(n_cells)
            bits = whole + widen(self.log_part, rows.ndim)
            radius = np.minimum(np.sqrt(bits / (2 * np.maximum(rows, 1.0))), 1.0)
            radius = np.where(rows > 0, radius, 1.0)
            # Whatever is chosen of the unknown variables within.
            gone = tuple(
                i for i, a in enumerate(cells.axes) if a in arrays.layout.unknown[where.depth :]
            )
            radius = radius.max(axis=gone, keepdims=True)
            used = [arrays.shares[i] for i in sorted({*where.before, *cells.before} - {place})]
            total = total + arrays.contract([*used, _table(cells.axes, radius)], kept)
        return total


class CellBound:
    """One-sided intervals of single cells, at the worst of unknown variables: nothing to add up."""

    def __init__(self, values: PilotValues, arrays: Arrays, last: LastCells) -> None:
        self.values, self.last, self.layout = values, last, arrays.layout

    def choose(self, log_error: Floats, *, upper: bool) -> Choice:
        """Choose on the pilot alone."""
        rows, mean = self.values.rows, self.values.mean
        ends = self._bound_share(rows * mean, rows, log_error, upper=upper)
        return Choice(np.ones(()), (), add_worst(self.layout, ends, [], upper=upper))

    def bound(self, choice: Choice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one endpoint of all rows on the rest."""
        del choice
        last = self.last
        if last.exact:
            ends = np.where(last.rows > 0, last.mean, 1.0 if upper else 0.0)
        elif isinstance(last, Totals):
            ends = self._bound_mean(last, log_error, upper=upper)
        else:
            ends = self._bound_share(last.mean * last.rows, last.rows, log_error, upper=upper)
        return add_worst(self.layout, ends, [], upper=upper)

    @staticmethod
    def _bound_share(sums: Floats, rows: Floats, log_error: Floats, *, upper: bool) -> Floats:
        alpha = 2 * np.exp(-widen(log_error, sums.ndim))  # two-sided intervals, one side used
        some = (alpha < 1) & (alpha > 1e-300)
        sums, rows, each = np.broadcast_arrays(sums, rows, np.where(some, alpha, 1.0))
        found = clopper_pearson(sums, rows, each)[upper]
        return np.where(some, found, 1.0 if upper else 0.0)

    @staticmethod
    def _bound_mean(last: Totals, log_error: Floats, *, upper: bool) -> Floats:
        rows, sums, squares = np.broadcast_arrays(last.rows, last.sums, last.squares)
        guess = guess_from_others(rows, sums, squares) if last.alone else None
        alpha = 2 * np.exp(-widen(log_error, sums.ndim))
        return bound_mean(rows, sums, squares, alpha, last.reach, guess)[upper]


class Supposed(NamedTuple):
    """What is supposed of a numeric outcome, of which the pilot has nothing."""

    variance: float
    near_zero: bool = False


SUPPOSED = (
    Supposed(0.04),
    Supposed(0.16),
    Supposed(0.01),
    Supposed(0.0016),
    Supposed(0.002, near_zero=True),
    Supposed(0.0002, near_zero=True),
)


class Mixture:
    """Sum bounds at several suppositions: the mean of e-values is one."""

    def __init__(self, bounds: Sequence[SumBound]) -> None:
        self.bounds = bounds

    def choose(self, log_error: Floats, *, upper: bool) -> "MixtureChoice":
        """Choose on the pilot alone."""
        log_error = log_error + log(len(self.bounds))
        found = tuple(bound.choose(log_error, upper=upper) for bound in self.bounds)
        return MixtureChoice(found, found[0].predicted)

    def bound(self, choice: "MixtureChoice", log_error: Floats, *, upper: bool) -> Floats:
        """Find the end at which the mean of ``exp(scale (v - theta))`` is one over the error."""
        sign = 1.0 if upper else -1.0
        values, scales, errors = list[Floats](), list[Floats](), list[Floats]()
        for bound, chosen in zip(self.bounds, choice.choices, strict=True):
            value, log_main = bound.weigh(chosen, log_error, upper=upper)
            values.append(-sign * value)
            scales.append(chosen.scale)
            errors.append(log_main)
        v, lam = (np.stack(np.broadcast_arrays(*each)) for each in (values, scales))
        log_main = np.maximum.reduce(np.broadcast_arrays(*errors))
        needed = log_main + log(len(self.bounds))
        low, high = (v - needed / lam).max(axis=0), v.max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            passed = logsumexp(lam * (v - middle), axis=0) >= needed
            low, high = np.where(passed, middle, low), np.where(passed, high, middle)
        return np.asarray(np.clip(-sign * low, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class MixtureChoice:
    """What the pilot chose at every supposition."""

    choices: tuple[Choice, ...]
    predicted: Floats


class Prediction(Protocol):
    """What the pilot chose for one endpoint of all rows, and the endpoint that it expects."""

    @property
    def predicted(self) -> Floats:
        """The endpoint that the pilot expects."""


class ConfidenceBound(Protocol):
    """One one-sided limit for every row: chosen on the pilot, computed on the rest."""

    def choose(self, log_error: Floats, *, upper: bool) -> Prediction:
        """Choose on the pilot alone."""

    def bound(self, choice: Any, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one endpoint of all rows on the rest."""


class NaturalBound:
    """Manski's bounds: a lower endpoint on successes of the arm, and 1 less one on its failures."""

    def __init__(self, successes: ConfidenceBound, failures: ConfidenceBound) -> None:
        self.sides = successes, failures

    def choose(self, log_error: Floats, *, upper: bool) -> "NaturalChoice":
        """Choose on the pilot alone."""
        choice = self.sides[upper].choose(log_error, upper=False)
        return NaturalChoice(choice, 1 - choice.predicted if upper else choice.predicted)

    def bound(self, choice: "NaturalChoice", log_error: Floats, *, upper: bool) -> Floats:
        """Bound one endpoint of all rows on the rest."""
        found = self.sides[upper].bound(choice.choice, log_error, upper=False)
        return 1 - found if upper else found


@dataclass(frozen=True, eq=False)
class NaturalChoice:
    """What the pilot chose for one of the two sides."""

    choice: Prediction
    predicted: Floats


def make_sum_bound(
    form: SumForm, evidence: Evidence, splits: Mapping[int, Split], rng: Generator
) -> ConfidenceBound:
    """The bounds on one form, read off pilot and rest."""
    if not form.natural:
        return _make_bound(form, evidence, splits, rng, SUCCESS)
    won, lost = (_make_bound(form, evidence, splits, rng, i) for i in (SUCCESS, 1 - SUCCESS))
    return NaturalBound(won, lost)


def _make_bound(
    form: SumForm, evidence: Evidence, splits: Mapping[int, Split], rng: Generator, outcome: int
) -> ConfidenceBound:
    reader = FormReader(form, evidence, splits, outcome=outcome)
    pilot, rest, last = (
        reader.read_arrays(pilot=True),
        reader.read_arrays(pilot=False),
        reader.read_rest(rng),
    )
    if len(form.factors) == 1:
        supposed = SUPPOSED[0] if evidence.is_numeric else None
        return CellBound(reader.read_pilot(supposed), rest, last)
    if not evidence.is_numeric:
        return SumBound(Chooser(pilot, reader.read_pilot(None)), rest, last)
    return Mixture(
        [SumBound(Chooser(pilot, reader.read_pilot(s)), rest, last) for s in SUPPOSED]
    )
