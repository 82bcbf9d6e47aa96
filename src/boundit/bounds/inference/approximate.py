r"""Approximate inference: influence functions and one critical value for all endpoints (max-t).

A chain of known and unknown links is a sum of products, linear in each factor, so that the
derivative with respect to a factor's cells is the contraction of all other factors
(``formula.differentiate``; no numeric differentiation is needed). With it

- the variance of an endpoint is, where the factors' errors are uncorrelated (they can be revealed
  one after another, ``forms``), :math:`\sum_j \sum_g Var_{\hat P_j}(D_j(\cdot, g)) / n_g` with
  smoothed probabilities (k + 2/L)/(n + 2), so that small cells do not look certain;
- otherwise, and for clusters, it is the sum of squares of the influence of every line of the log,
  :math:`\sum_j (D_j(v) - E D_j) / n_g`, which also gives the covariance of all endpoints.

A row is approximate only if it rests on 15 successes and failures and as many rows in its tails
(Kish's effective sample size) and 12 degrees of freedom (Satterthwaite), and if no outcome that
the log may hide moves it farther; the others are as exact inference has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from boundit.bounds.caveats import LIMITS, note_doubted, note_narrow, note_no_gain, note_refused
from boundit.bounds.chain import Axes, Chain, FlatChain, Run, flatten
from boundit.bounds.evidence import SUCCESS, Counts, Evidence, Probabilities
from boundit.bounds.inference.base import (
    Endpoints,
    Gathered,
    Mask,
    Place,
    Rule,
    Sampler,
    split_rules,
)
from boundit.bounds.inference.exact import Exact, choose_rules, explain_rule
from boundit.bounds.inference.forms import find_form, term_of
from boundit.counts.errors import ClustersDiffer, TooLarge
from boundit.counts.formula import (
    Factor,
    Formula,
    Pair,
    ProductTable,
    contract,
    differentiate,
    estimate_factor,
)
from boundit.counts.named_array import Floats
from boundit.estimand.expression import P
from boundit.results.sampling import EndSampling

EXACT_SHARE = 1 / 20  # the error of exact endpoints beside approximate ones
LEAST_ROWS, LEAST_FREEDOM = 15.0, 12.0
MAX_ENDPOINTS = 300  # beyond, Bonferroni
MAX_INFLUENCES = 400_000_000
N_DRAWS, SEED = 4_000, 20_260_101
PSEUDO_ROWS = 2.0
_BLOCK = 2**21
TOO_FEW = (
    "too few successes or failures, too few rows, or outcomes that vary too little, for an "
    "approximation"
)
NO_WIDER = "it is no wider here"


@dataclass(frozen=True, eq=False)
class Slope:
    """The derivative of all rows with respect to one factor: ``axes`` are rows, then its names."""

    factor: Factor
    axes: Axes
    values: Floats


@dataclass(frozen=True, eq=False)
class Side:
    """One endpoint of all rows (a lower one of successes, or of failures), with its error.

    ``rows`` are the table's axes, then unknown variables that come before any known link: each
    of their levels is a formula of its own, and the worst is taken at the end.
    """

    rows: Axes
    n_axes: int
    value: Floats
    variance: Floats
    freedom: Floats
    support: "Support"
    slopes: tuple[Slope, ...]

    @cached_property
    def error(self) -> Floats:
        """The standard error of every endpoint."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def inner(self) -> tuple[int, ...]:
        """The axes of unknown variables."""
        return tuple(range(self.n_axes, len(self.rows)))

    def is_trusted(self, level: float) -> Mask:
        """Where enough rows stand behind the endpoint, at every level the worst is taken of.

        An outcome of probability ``log(1/a) / n`` is not among n rows with probability a, that of
        one endpoint to miss: it must not move the endpoint farther than its distance from the
        estimate.
        """
        own = self.support
        enough = np.minimum(own.failures, own.successes) >= LEAST_ROWS
        enough &= self.error**4 >= LEAST_ROWS * own.tails
        enough &= -ndtri(level) * self.error >= -np.log(level) * own.hidden
        enough &= self.freedom >= LEAST_FREEDOM
        return np.asarray((enough | (own.rows == 0)).all(axis=self.inner))

    def find_ends(self, critical: float) -> Floats:
        """So many standard errors below the estimate, by Student's quantile where rows are few."""
        beyond = ndtr(-critical)
        far = -stdtrit(np.clip(self.freedom, LEAST_FREEDOM, 1e7), beyond)
        return np.asarray((self.value - far * self.error).min(axis=self.inner).clip(0, 1))

    def list_places(self, critical: float, taken: Mask) -> NDArray[np.intp]:
        """The index of every distinct endpoint that is taken: a row, at the worst of its choices.

        Rows that differ only in what the formula does not read are one.
        """
        low = self.value - critical * self.error
        shape, inner = low.shape[: self.n_axes], low.shape[self.n_axes :]
        read = {name for slope in self.slopes for name in slope.factor.names.values()}
        own = [n if a in read else 1 for a, n in zip(self.rows, shape, strict=False)]
        places = np.unique(np.minimum(np.argwhere(taken), np.subtract(own, 1)), axis=0)
        if not inner:
            return places
        worst = low.reshape(*shape, -1).argmin(axis=-1)[tuple(places.T)]
        return np.column_stack([places, *np.unravel_index(worst, inner)])


@dataclass(frozen=True, eq=False)
class Support:
    """How many rows, failures and successes count behind every endpoint, and how unevenly.

    Rows of uneven weight count as fewer (Kish). ``tails`` is the sum of fourth powers of how far
    rows move the endpoint: the square of the variance by it is the number of rows in its tails.
    Of a numeric outcome it is the most it can be with values as far out as seen, and ``hidden``
    how far one more row at the limits of the range would move the endpoint.
    """

    rows: Floats
    failures: Floats
    successes: Floats
    tails: Floats
    hidden: Floats


class Measured:
    """Both sides of one chain on some counts; ``z`` is the quantile of a single endpoint."""

    def __init__(self, flat: FlatChain, evidence: Evidence, z: float, *, apart: bool) -> None:
        self.flat, self.evidence, self.z = flat, evidence, z
        self.factors, workspace = flat.formula.factors, evidence.workspace
        self.workspace = workspace
        self.sizes = {
            **evidence.levels,
            **{n: evidence.levels[c] for n, c in flat.formula.columns.items()},
        }
        self.read = {term: self._estimate(term, hole=True) for term in flat.formula.terms}
        self.least = {term: self._estimate(term, hole=False) for term in flat.formula.terms}
        # Unknown variables that come before any known link are rows of their own.
        leading = [
            u for d, u in enumerate(flat.unknown) if all(f.depth > d for f in self.factors)
        ]
        self.rows = (*flat.axes, *leading)
        self.lower, self.upper = (self._find_side(upper=u, apart=apart) for u in (False, True))

    def _estimate(self, term: P, *, hole: bool) -> ProductTable:
        """Shares of a term; in cells without rows even ones for derivatives, else 0."""
        joint, below = self.evidence.count(term)
        n = np.broadcast_to(below.align(joint.axes), joint.values.shape)
        even = 1 / prod(self.evidence.levels[name] for name in term.of)
        share = np.full(n.shape, even if hole else 0.0)
        np.divide(joint.values, n, out=share, where=n > 0)
        return ProductTable(joint.axes, (share,))

    def _find_side(self, *, upper: bool, apart: bool) -> Side:
        at = np.array([1.0, 0.0]) if upper else np.array([0.0, 1.0])
        constants = [ProductTable((self.flat.outcome,), (at,))]
        for name in self.flat.idle:  # the level does not matter: weighted as often as logged
            own = self.evidence.log.marginalize(frozenset((self.flat.formula.columns[name],)))
            constants.append(ProductTable((name,), (own.values / own.values.sum(),)))
        side = self._measure(
            self.flat.formula, self.rows, constants + self._choose(constants, None)
        )
        if len(self.flat.unknown) > len(self.rows) - len(self.flat.axes):
            error = np.maximum(side.error, 1e-150)
            side = self._measure(
                self.flat.formula, self.rows, constants + self._choose(constants, error)
            )
        if apart and not self.evidence.is_clustered:
            return side
        chosen = constants + self._choose(constants, None)
        plain = self._measure(self.flat.formula, self.rows, chosen, pseudo=0.0)
        places = np.argwhere(np.ones(side.value.shape, dtype=bool))
        joint, clusters = find_variances(side, places, self.evidence)
        cushion = np.maximum(side.variance - plain.variance, 0.0)
        return replace(
            side,
            variance=joint.reshape(side.value.shape) + cushion,
            freedom=np.minimum(side.freedom, clusters.reshape(side.value.shape)),
        )

    def _choose(
        self, constants: Sequence[ProductTable], error: Floats | None
    ) -> list[ProductTable]:
        """Choose the worst level of every unknown variable behind a known link, innermost first.

        By its value less what its variance adds to the radius of the whole, once that is known
        (the tangent form of Theorem 2). The estimated minimum errs to the safe side.
        """
        chosen = list[ProductTable]()
        for d in reversed(range(len(self.rows) - len(self.flat.axes), len(self.flat.unknown))):
            inside = tuple(f for f in self.factors if f.depth > d)
            name, drawn = self.flat.unknown[d], self.flat.formula.summed
            own = {n for f in inside if isinstance(f.body, P) for n in f.of if n in drawn}
            outer = (
                {n for f in inside for n in f.names.values()}
                - own
                - {self.flat.outcome, name, *self.flat.idle}
            )
            outer -= set(self.flat.unknown[d + 1 :])
            rows = (*self.rows, *sorted(outer.difference(self.rows)), name)
            sub = Formula(inside, tuple(own), self.flat.formula.columns)
            part = self._measure(sub, rows, [*self._keep(constants, inside), *chosen])
            value = part.value
            if error is not None:
                before = [f for f in self.factors if f.depth <= d]
                weight = contract(
                    [self._table(f, self.read) for f in before],
                    rows[:-1],
                    self.sizes,
                    self.workspace,
                )
                whole = error.reshape(*error.shape, *[1] * (len(rows) - error.ndim))
                value = value - self.z * weight[..., None] * part.variance / (2 * whole)
            taken = np.zeros(np.broadcast_shapes(value.shape, [self.sizes[n] for n in rows]))
            value = np.broadcast_to(value, taken.shape)
            np.put_along_axis(taken, value.argmin(axis=-1)[..., None], 1.0, axis=-1)
            chosen.append(ProductTable(rows, (taken,)).drop_short_axes())
        return chosen

    @staticmethod
    def _keep(
        constants: Sequence[ProductTable], inside: Sequence[Factor]
    ) -> list[ProductTable]:
        held = {n for f in inside for n in f.names.values()}
        return [table for table in constants if held.issuperset(table.axes)]

    def _table(self, factor: Factor, read: Mapping[P, ProductTable]) -> ProductTable:
        return read[term_of(factor)].drop_short_axes().rename(factor.names)

    def _measure(
        self,
        formula: Formula,
        rows: Axes,
        constants: Sequence[ProductTable],
        pseudo: float = PSEUDO_ROWS,
    ) -> Side:
        """Value, variance, degrees of freedom and support of every row."""
        shape = [self.sizes[name] for name in rows]
        read = {term: table.drop_short_axes() for term, table in self.read.items()}
        slopes = [
            Slope(*found)
            for found in differentiate(
                formula, read, constants, rows, self.sizes, self.workspace
            )
        ]
        value = self._evaluate(formula, constants, rows)
        variance, squares, tails, hidden = np.zeros((4, *shape))
        sums, seconds = np.zeros((3, *shape)), np.zeros((3, *shape))
        for slope in self._merge(slopes, rows):
            cells = _Cells(slope, len(rows), self.evidence, self.flat.outcome, pseudo)
            if cells.is_exact:
                continue
            inner = tuple(range(len(rows), cells.variance.ndim))
            variance = variance + cells.variance.sum(axis=inner)
            inverse = np.where(cells.rows > 0, 1 / np.maximum(cells.rows, 1), 0.0)
            squares = squares + (cells.variance**2 * inverse).sum(axis=inner)
            tails = tails + cells.fourth_powers()
            if cells.at_outcome is not None:
                weights = cells.weigh()
                sums, seconds = sums + weights[0], seconds + weights[1]
                hidden = np.maximum(hidden, cells.farthest())
        freedom = np.where(squares > 0, variance**2 / np.where(squares > 0, squares, 1), np.inf)
        effective = np.where(seconds > 0, sums**2 / np.where(seconds > 0, seconds, 1), 0.0)
        every, failures, successes = effective
        return Side(
            rows,
            len(self.flat.axes),
            np.broadcast_to(value, shape),
            variance,
            freedom,
            Support(every, failures, successes, tails, hidden),
            tuple(slopes),
        )

    def _merge(self, slopes: Sequence[Slope], rows: Axes) -> list[Slope]:
        """Count a term as part of one that draws as much or more given the same, if there is any.

        What stands above and below a line moves together: apart, both would seem to be moved by
        more rows than there are.
        """
        merged, n = list[Slope](), len(rows)
        for one in sorted(slopes, key=lambda slope: -len(slope.factor.names)):
            for place, wide in enumerate(merged):
                if not _is_part(one, wide, rows, self.evidence):
                    continue
                # A column that is summed over, such as an arm as it came, may be a row's too.
                own, order = (
                    tuple(f"{slope.factor.columns[axis]} summed" for axis in slope.axes[n:])
                    for slope in (one, wide)
                )
                table = ProductTable((*rows, *own), (one.values,))
                values = wide.values + table.align((*rows, *order))[0]
                merged[place] = replace(wide, values=values)
                break
            else:
                merged.append(one)
        return merged

    def _evaluate(
        self, formula: Formula, constants: Sequence[ProductTable], rows: Axes
    ) -> Floats:
        """The least value: nothing in the place of cells without rows."""
        read = {term: table.drop_short_axes() for term, table in self.least.items()}
        tables = [estimate_factor(f, read, self.sizes, self.workspace) for f in formula.factors]
        return contract([*tables, *constants], rows, self.sizes, self.workspace)


def _is_part(one: Slope, wide: Slope, rows: Axes, evidence: Evidence) -> bool:
    """Whether one term draws what another draws or a part of it, given the same, off one table."""
    term, other = term_of(one.factor), term_of(wide.factor)

    def tie(slope: Slope) -> dict[str, str]:
        names = slope.factor.names.items()
        return {c: name for c, name in names if c in term.free and name in rows}

    same = term.given == other.given and term.of <= other.of and tie(one) == tie(wide)
    return same and evidence.find(term) is evidence.find(other)


class _Cells:
    """What the cells of one factor add to the variance of every endpoint, and who is in them."""

    def __init__(
        self, slope: Slope, n_rows: int, evidence: Evidence, outcome: str, pseudo: float
    ) -> None:
        factor, term = slope.factor, term_of(slope.factor)
        self.slope, self.source = slope, evidence.find(term)
        self.is_exact = self.source.table.exact
        joint, below = evidence.count(term)
        k = _align(joint.axes, joint.values, factor, slope.axes)
        n = _align(below.axes, below.values, factor, slope.axes)
        self.over = tuple(i for i, a in enumerate(slope.axes) if i >= n_rows and a in factor.of)
        self.inner = tuple(range(n_rows, len(slope.axes)))
        self.k, self.inverse = k, np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
        self.rows = n.max(axis=self.over) if self.over else n
        levels = prod(evidence.levels[column] for column in term.of)
        self.share = (k + pseudo / levels) / np.maximum(n + pseudo, 1e-300)
        self.centre = (self.share * slope.values).sum(axis=self.over, keepdims=True)
        self.at_outcome = None
        if outcome in factor.of and outcome in slope.axes:
            self.at_outcome = slope.axes.index(outcome)
        self.gap, self.squares = self._find_gap(), np.zeros(())
        second = (self.share * slope.values**2).sum(axis=self.over, keepdims=True)
        variance = np.maximum(second - self.centre**2, 0.0)
        if self.is_numeric and self.at_outcome is not None:
            # A 0/1 outcome would vary more than the logged one does.
            squares = self.source.sum_squares(frozenset(joint.axes)).align(joint.axes)
            aligned = _align(joint.axes, squares, factor, slope.axes)
            self.squares = np.take(aligned, [SUCCESS], self.at_outcome)
            excess = (np.take(k, [SUCCESS], self.at_outcome) - self.squares).clip(0)
            less = (excess * self.inverse * self.gap**2).sum(axis=self.over, keepdims=True)
            variance = np.maximum(variance - less, 0.0)
        self.variance = (variance * self.inverse.max(axis=self.over, keepdims=True)).squeeze(
            axis=self.over
        )

    @property
    def is_numeric(self) -> bool:
        return self.at_outcome is not None and not self.source.binary

    def _find_gap(self) -> Floats:
        """How much more a success moves the endpoint than a failure."""
        if self.at_outcome is None:
            return np.zeros(())
        won, lost = (
            np.take(self.slope.values, [i], self.at_outcome) for i in (SUCCESS, 1 - SUCCESS)
        )
        return np.asarray(won - lost)

    def weigh(self) -> Pair:
        """Sums of weights and of squared weights of all rows, failures and successes (Kish)."""
        assert self.at_outcome is not None
        per_row, k = self.gap * self.inverse, self.k
        kinds = [k.sum(axis=self.at_outcome, keepdims=True)]
        kinds += [np.take(k, [i], self.at_outcome) for i in (1 - SUCCESS, SUCCESS)]
        return (
            np.stack([(per_row * kind).sum(axis=self.inner) for kind in kinds]),
            np.stack([(per_row**2 * kind).sum(axis=self.inner) for kind in kinds]),
        )

    def fourth_powers(self) -> Floats:
        """The sum of fourth powers of how far rows move every endpoint."""
        if self.is_numeric:
            mean, won, about = self._find_moments()
            low, high = self._find_reach()
            far = np.maximum(high - mean, mean - low)
            spread = np.maximum(about - won * mean, 0.0)
            return np.asarray(
                ((self.gap * self.inverse) ** 4 * spread * far**2).sum(axis=self.inner)
            )
        moved = self.slope.values - self.centre
        fourth = (moved**4 * self.share).sum(axis=self.over, keepdims=True)
        rest = 1 - self.share.sum(axis=self.over, keepdims=True)  # moves nothing by itself
        fourth = fourth + rest.clip(0) * self.centre**4
        return np.asarray((fourth * self.inverse**3).sum(axis=self.inner))

    def farthest(self) -> Floats:
        """How far one more row at the limit of the range moves every endpoint; 0 if 0/1."""
        if not self.is_numeric:
            return np.zeros(())
        mean, _, _ = self._find_moments()
        reach = np.abs(self.gap) * self.inverse * np.maximum(1 - mean, mean)
        return np.asarray(reach.max(axis=self.inner, initial=0.0))

    def _find_moments(self) -> tuple[Floats, Floats, Floats]:
        """Mean, sum and sum of squares of a numeric outcome in every cell."""
        assert self.at_outcome is not None
        won = np.take(self.k, [SUCCESS], self.at_outcome)
        n = self.k.sum(axis=self.at_outcome, keepdims=True)
        return won / np.maximum(n, 1.0), won, self.squares

    def _find_reach(self) -> tuple[float, float]:
        """The least and the greatest outcome that was logged."""
        table, width = self.source.table, self.source.high - self.source.low
        if table.lowest is None or table.highest is None:
            return 0.0, 1.0
        return (
            float((table.lowest.min() - self.source.low) / width),
            float((table.highest.max() - self.source.low) / width),
        )


def _align(axes: Sequence[str], values: Floats, factor: Factor, order: Axes) -> Floats:
    """Counts of a factor under its names, in the order of a slope's axes."""
    table = ProductTable(tuple(factor.names[axis] for axis in axes), (values,))
    return table.align(order)[0]


Listed = Sequence[tuple[Side, NDArray[np.intp]]]
"""Some endpoints: sides, and at which of their rows each endpoint stands."""


def find_covariance(sides: Listed, evidence: Evidence) -> Floats:
    """How endpoints move together: the influence of every line of every table, squared."""
    n = sum(len(places) for _, places in sides)
    total = np.zeros((n, n))
    for counts in evidence.tables:
        if counts.table.exact:
            continue
        if counts.table.clusters is not None:
            sums = _sum_clusters(sides, counts, evidence)
            total += sums @ sums.T
            continue
        table, width = counts.table, counts.high - counts.low
        fail, win = _influence_both(sides, counts, evidence)
        won = squares = np.zeros_like(table.n)
        if table.sums is not None and table.squares is not None:
            won = (table.sums - counts.low * table.n) / width
            squares = table.squares - 2 * counts.low * table.sums + counts.low**2 * table.n
            squares = squares / width**2
        gap = win - fail
        mixed = (fail * won) @ gap.T
        total += (fail * table.n) @ fail.T + mixed + mixed.T + (gap * squares) @ gap.T
    return total


def find_variances(side: Side, places: NDArray[np.intp], evidence: Evidence) -> Pair:
    """How far sampling moves endpoints, all factors together; degrees of freedom by clusters."""
    lines = sum(len(counts.table.n) for counts in evidence.tables)
    if len(places) * lines > MAX_INFLUENCES:
        raise TooLarge(side.rows, len(places) * lines, MAX_INFLUENCES)
    step = int(np.clip(_BLOCK // max(lines, 1), 1, 64))
    variances, freedoms = [np.zeros(0)], [np.zeros(0)]
    for start in range(0, len(places), step):
        some = [(side, places[start : start + step])]
        variances.append(np.diag(find_covariance(some, evidence)))
        freedom = np.full(len(some[0][1]), np.inf)
        for counts in evidence.tables:
            if counts.table.clusters is not None:
                squares = _sum_clusters(some, counts, evidence) ** 2
                fourth = (squares**2).sum(axis=1)
                own = squares.sum(axis=1) ** 2 / np.where(fourth > 0, fourth, 1)
                freedom = np.where(fourth > 0, np.minimum(freedom, own), freedom)
        freedoms.append(freedom)
    return np.concatenate(variances), np.concatenate(freedoms)


def _sum_clusters(sides: Listed, counts: Counts, evidence: Evidence) -> Floats:
    """The influence of every cluster: its rows may move together in any way."""
    fail, win = _influence_both(sides, counts, evidence)
    lines, width = counts.table.clusters, counts.high - counts.low
    assert lines is not None
    earned = np.zeros_like(lines.n)
    if lines.sums is not None:
        earned = (lines.sums - counts.low * lines.n) / width
    moved = lines.n * fail[:, lines.line] + earned * (win - fail)[:, lines.line]
    sums = np.stack([np.bincount(lines.cluster, each, lines.n_clusters) for each in moved])
    return np.asarray(sums * np.sqrt(lines.n_clusters / max(lines.n_clusters - 1, 1)))


def _influence_both(sides: Listed, counts: Counts, evidence: Evidence) -> Pair:
    """The influence of failures and of successes of every line on all endpoints."""
    evidence.workspace.require_time()
    fail, win = (
        np.concatenate(
            [_influence(side, places, counts, level, evidence) for side, places in sides]
        )
        for level in (1 - SUCCESS, SUCCESS)
    )
    return fail, win


def _influence(
    side: Side, places: np.ndarray, counts: Counts, level: int, evidence: Evidence
) -> Floats:
    """The influence of every line, with the outcome at one level, on some endpoints."""
    table, n_rows = counts.table, len(side.rows)
    codes = {name: table.codes[:, i] for i, name in enumerate(table.variables)}
    n_lines, total = len(table.n), np.zeros((len(places), len(table.n)))

    def index(shape: Sequence[int], slope: Slope) -> tuple[np.ndarray, ...]:
        found = list[np.ndarray]()
        for i, (axis, size) in enumerate(zip(slope.axes, shape, strict=True)):
            if size == 1:
                found.append(np.zeros((1, 1), dtype=np.intp))
            elif i < n_rows:
                found.append(places[:, i][:, None])
            else:
                column = slope.factor.columns[axis]
                found.append(codes.get(column, np.full(n_lines, level))[None, :])
        return tuple(found)

    for slope in side.slopes:
        factor, term = slope.factor, term_of(slope.factor)
        if evidence.find(term) is not counts:
            continue
        joint, below = evidence.count(term)
        k, n = (_align(a.axes, a.values, factor, slope.axes) for a in (joint, below))
        over = tuple(i for i, a in enumerate(slope.axes) if i >= n_rows and a in factor.of)
        share = np.divide(
            k, n, out=np.zeros(np.broadcast_shapes(k.shape, n.shape)), where=n > 0
        )
        mean = (share * slope.values).sum(axis=over, keepdims=True)
        inverse = np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
        value = np.broadcast_to(slope.values[index(slope.values.shape, slope)], total.shape)
        match_of, match_given = np.ones(total.shape), np.ones(total.shape)
        for column, name in factor.names.items():  # columns that the row fixes
            if name in side.rows:
                same = places[:, side.rows.index(name)][:, None] == codes[column][None, :]
                if column in term.of:
                    match_of = match_of * same
                else:
                    match_given = match_given * same
        found = value * match_of - mean[index(mean.shape, slope)]
        total = total + found * inverse[index(inverse.shape, slope)] * match_given
    return total


def find_critical(error: float, covariance: Floats) -> float:
    """What the greatest of correlated normal numbers exceeds with probability ``error``."""
    most = float(-ndtri(error / max(len(covariance), 1)))
    spread = np.sqrt(np.diag(covariance).clip(min=0))
    moving = spread > 0
    if moving.sum() < 2:
        return most
    scale = spread[moving]
    sizes, directions = np.linalg.eigh(
        covariance[np.ix_(moving, moving)] / np.outer(scale, scale)
    )
    root = directions * np.sqrt(np.maximum(sizes, 0))
    drawn = np.random.default_rng(SEED).standard_normal((N_DRAWS, len(scale))) @ root.T
    return min(most, float(np.quantile(drawn.max(axis=1), 1 - error)))


def is_beaten(chain: Chain, other: Chain) -> bool:
    """Whether another chain goes over the same variables to the same outcome and knows more."""
    unknown, fewer = (
        {v for link in c.links if link.is_unknown for v in link.variables}
        for c in (chain, other)
    )
    same = set(chain.variables) == set(other.variables) and chain.links[-1] == other.links[-1]
    return same and fewer < unknown


@dataclass(frozen=True)
class Approximate:
    """Normal intervals from influence functions, with exact endpoints where rows are few.

    A row that has too little behind it, or that would not be narrower, is as exact inference
    alone has it, at the whole error: each row is taken by one of the two.
    """

    confidence: float = 0.95

    def bound(self, rules: Sequence[Rule], evidence: Evidence) -> Endpoints:
        """Approximate endpoints of the best formulas, exact ones of all other rules."""
        counted = _count_clusters_once(evidence)
        if counted is None:
            run = Run(Probabilities(evidence), evidence.workspace.budget)
            exact = Gathered(tuple(evidence.shape)).finish((), run)
        else:
            exact = Exact(self.confidence).bound(rules, counted)
        others, programs, _ = split_rules(rules, evidence)
        best = None if evidence.is_adaptive else choose_formula(others, evidence)
        if best is None or evidence.is_exact:
            said = () if evidence.is_exact else (note_no_gain(),)
            return replace(exact, notes=(*exact.notes, *said))
        error = 1 - self.confidence
        found = Gathered(tuple(evidence.shape), evidence.lightened[0])
        share = EXACT_SHARE if counted is not None else 0.0
        tried = [*choose_rules(others, evidence), *programs]
        if counted is not None and _may_be_beaten(best[0], tried):
            beside = Exact(1 - share * error).bound(rules, counted)
            for i, rule in enumerate(beside.rules, 1):
                found.add(rule, beside.lowers[i], beside.uppers[i])
        try:
            near = bound_near(*best, evidence, (1 - share) * error)
        except LIMITS as refusal:
            return replace(exact, notes=(*exact.notes, *note_refused({best[0].name: refusal})))
        trusted = near.trusted
        found.add(best[0], np.where(trusted, near.low, 0.0), np.where(trusted, near.high, 1.0))
        low, high = found.intersect()
        taken = exact.upper - exact.lower <= high - low
        for rule in exact.rules:
            found.add(rule, np.zeros(()), np.ones(()))
        for rule, (lower, upper) in found.pairs.items():
            at = exact.rules.index(rule) + 1 if rule in exact.rules else 0
            found.pairs[rule] = (
                np.where(taken, exact.lowers[at], lower),
                np.where(taken, exact.uppers[at], upper),
            )
        doubted, narrow = int((~trusted).sum()), int((trusted & taken).sum())
        found.empty = exact.empty
        found.notes = [
            *exact.notes,
            *note_doubted(doubted, trusted.size, LEAST_ROWS, exact=counted is not None),
            *note_narrow(narrow, trusted.size),
        ]
        order = tuple(dict.fromkeys((*others, *exact.rules)))
        samplers = dict(exact.samplers) | {best[0]: near.explain(taken)}
        return found.finish(order, exact.run, exact.program_run, samplers)


def _count_clusters_once(evidence: Evidence) -> Evidence | None:
    """Rows that belong together as one row each, for exact inference; None where they differ."""
    if not evidence.is_clustered:
        return evidence
    try:
        once = {counts: counts.table.count_clusters_once() for counts in evidence.tables}
    except ClustersDiffer:
        return None
    tables = {counts: replace(counts, table=table) for counts, table in once.items()}
    population = tuple(tables[counts] for counts in evidence.population)
    return replace(evidence, log=tables[evidence.log], population=population, _counted={})


def _may_be_beaten(best: Chain, tried: Sequence[Rule]) -> bool:
    """Whether a rule that is not approximated may be narrower than the one that is."""
    if best.is_identified:
        return False
    return not all(
        rule is best
        or (
            rule.reweightings
            and not any(distribution.facts for distribution in rule.reweightings)
        )
        or (isinstance(rule, Chain) and is_beaten(rule, best))
        for rule in tried
    )


def choose_formula(rules: Sequence[Rule], evidence: Evidence) -> tuple[Chain, FlatChain] | None:
    """The best chain that is a formula, judged without outcomes: an identified one, if any.

    More of them would share the error, and what the best of several promises is not known.
    """
    known, others = list[tuple[Chain, FlatChain]](), list[tuple[Chain, FlatChain]]()
    for chain in sorted(rules, key=lambda rule: rule.rank(evidence.levels)):
        flat = flatten(chain) if isinstance(chain, Chain) else None
        if flat is None or not isinstance(chain, Chain):
            continue
        plain = chain.extremes and len(flat.formula.factors) == 1 and not evidence.is_clustered
        behind = any(
            chain.outcome in term.given and not evidence.find(term).is_variable
            for term in chain.terms
        )
        if not plain and not behind:
            (known if chain.is_identified else others).append((chain, flat))
    return next(iter(known or others), None)


@dataclass(frozen=True, eq=False)
class NearEndpoints:
    """Approximate endpoints of one chain, and where they are trusted."""

    measured: Measured
    trusted: Mask
    low: Floats
    high: Floats
    sampler: Sampler

    def explain(self, taken: Mask) -> Sampler:
        """Explain endpoints; ``taken`` are rows at which exact inference is no wider."""

        def explain(place: Place, upper: bool) -> EndSampling | None:  # noqa: FBT001
            why = None if not taken[place] else NO_WIDER if self.trusted[place] else TOO_FEW
            found = self.sampler(place, upper)
            if found is not None and found.effective_rows is not None:
                return replace(found, boxes=why)
            side = self.measured.upper if upper else self.measured.lower
            at = np.broadcast_to(side.support.rows, side.value.shape)[place]
            return EndSampling(float(np.min(at)), 0.0, (), why)

        return explain


def bound_near(
    chain: Chain, flat: FlatChain, evidence: Evidence, error: float
) -> NearEndpoints:
    """Endpoints of a formula, as many standard errors away as all of them need."""
    shape = tuple(evidence.shape)
    level = error / (2 * prod(shape))
    apart = not isinstance(find_form(flat, evidence.graph), str) and not flat.divisors
    measured = Measured(flat, evidence, float(-ndtri(level)), apart=apart)
    sides, every = (measured.lower, measured.upper), np.ones(shape, dtype=bool)
    n = sum(len(side.list_places(0.0, every)) for side in sides)
    critical = float(-ndtri(error / max(n, 1)))
    if 0 < n <= MAX_ENDPOINTS:
        listed = [(side, side.list_places(critical, every)) for side in sides]
        critical = find_critical(error, find_covariance(listed, evidence))
    lower, upper = sides
    return NearEndpoints(
        measured,
        lower.is_trusted(level) & upper.is_trusted(level) & every,
        np.broadcast_to(lower.find_ends(critical), shape),
        np.broadcast_to(1 - upper.find_ends(critical), shape),
        partial(explain_rule, chain, evidence),
    )
