r"""Cell intervals: every conditional probability that rules read, in an interval at once.

Given how many rows fall in a cell of ``given``, the count of ``of`` in it is binomial. The error
:math:`\delta` is divided over terms by the number of cells each can have, which graph and levels
fix beforehand; a term's part is split evenly over those of its cells that have rows. That may
depend on the rows' ``given`` but never on what is counted, so that all intervals hold at once
with probability :math:`1 - \delta` (a union bound), and so does whatever is computed from them,
however the best rule is then chosen. Where only the least of several cells matters (a
conditioning bound) the whole set costs no more than one interval.
"""

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, logsumexp

from boundit.bounds.evidence import SUCCESS, Counts, Evidence, Probabilities
from boundit.bounds.inference.base import Rule
from boundit.bounds.inference.time_uniform import bound_mean_adaptively, bound_share_adaptively
from boundit.core.names import Nodes
from boundit.counts.formula import Formula, Pair
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.expression import P

CAP = 0.9  # how near a bet may come to losing everything
_DEVIATIONS = 0.5 ** np.arange(1, 9)  # of outcomes: for each a scale that suits it
_NEARLY_ALL = (0.5, 0.95)  # scales where a few great outcomes are all that varies
_WEIGHTS = 1 / np.array([1, 1, 2, 3, 4, 5, 6, 7, 4, 4])
_HALVINGS = 34
WHOLE: Pair = np.zeros(()), np.ones(())
_NEAR = 1e-6  # how far off, for its size, the library's inverse may be


def clopper_pearson(k: Floats, n: Floats, alpha: float | Floats) -> Pair:
    """The exact interval of a probability from ``k`` of ``n`` rows; half of alpha on each side."""
    k = np.clip(np.rint(k), 0, n)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, _beta_quantile(np.maximum(k, 1), n - k + 1, alpha / 2), 0.0)
        high = np.where(k < n, _beta_quantile(k + 1, np.maximum(n - k, 1), 1 - alpha / 2), 1.0)
    return low, high


def _beta_quantile(a: Floats, b: Floats, level: float | Floats) -> Floats:
    """The beta quantile; where scipy's inverse is wrong (hundreds of millions of rows), bisect."""
    found = np.asarray(betaincinv(a, b, level))
    wrong = ~(np.abs(betainc(a, b, found) - level) <= _NEAR * np.minimum(level, 1 - level))
    if wrong.any():
        a, b, aim = (np.broadcast_to(each, found.shape)[wrong] for each in (a, b, level))
        low, high = np.zeros(a.shape), np.ones(a.shape)
        for _ in range(80):
            middle = (low + high) / 2
            below = betainc(a, b, middle) < aim
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found[wrong] = (low + high) / 2
    return found


def bound_mean(
    rows: Floats,
    sums: Floats,
    squares: Floats,
    alpha: float | Floats,
    reach: Pair = WHOLE,
    guess: Pair | None = None,
) -> Pair:
    """An interval of a mean in [0, 1] from sums and squares; half of alpha on each side.

    ``reach`` is the least and the greatest value seen in each cell; ``guess`` a mean and a
    standard deviation that the cell's own values had no part in.
    """
    log_error = np.log(2 / np.asarray(alpha))
    low, high = reach
    other = None if guess is None else (1 - guess[0], guess[1])
    failures, lost = rows - sums, rows - 2 * sums + squares
    return (
        least_mean_by_betting(rows, sums, squares, log_error, low, guess),
        1 - least_mean_by_betting(rows, failures, lost, log_error, 1 - high, other),
    )


def least_mean_by_betting(
    rows: Floats,
    sums: Floats,
    squares: Floats,
    log_error: Floats,
    least: Floats,
    guess: Pair | None = None,
) -> Floats:
    r"""A lower confidence bound of a mean in [0, 1], wrong with probability ``exp(-log_error)``.

    For a mean of at most m and a scale s with ``s m < 1``, ``prod (1 + s (Y - m))`` has mean at
    most one (Waudby-Smith and Ramdas 2024), and so has its average over a grid of scales. For
    each s it falls in m: if it exceeds 1/a at any m above the true mean it does at the true one,
    so that every m at which it does is a valid bound. Of the values themselves only what
    ``find_two_values`` needs is known.
    """
    rows, sums, squares, log_error, least = np.broadcast_arrays(
        rows, sums, squares, log_error, np.minimum(least, 1.0)
    )
    n = np.maximum(rows, 1.0)
    mean = (sums / n).clip(0, 1)
    least, value, part = find_two_values(mean, squares / n, least)
    usual = np.sqrt(2 * log_error / n)
    scales = [usual / deviation for deviation in _DEVIATIONS]
    scales += [np.full(usual.shape, fixed) for fixed in _NEARLY_ALL]
    weights = _WEIGHTS / _WEIGHTS.sum()
    if guess is not None:
        centre, deviation = guess
        own = np.minimum(usual / np.maximum(deviation, 1 / n), CAP / np.maximum(centre, 1e-12))
        scales, weights = [*scales, own], np.append(weights / 2, 0.5)
    s, log_weights = np.stack(scales, axis=-1), np.log(weights)

    def is_excluded(m: Floats) -> NDArray[np.bool_]:
        down, up = s * (least - m)[..., None], s * (value - m)[..., None]
        safe = s * m[..., None] < 1
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = part[..., None] * np.log1p(np.where(safe, up, 0.0))
            lost = (1 - part[..., None]) * np.log1p(np.where(safe, down, 0.0))
        capital = np.where(safe, rows[..., None] * (gained + lost) + log_weights, -np.inf)
        return np.asarray(logsumexp(capital, axis=-1) >= log_error)

    low, high = np.zeros(mean.shape), mean.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        excluded = is_excluded(middle)
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return np.where(rows > 0, low, 0.0)


def find_two_values(
    mean: Floats, second: Floats, least: Floats
) -> tuple[Floats, Floats, Floats]:
    """The worst values for a sum of ``log(1 + s Y)``: two of them, and the part of the greater.

    Among all values with some mean, second moment and lower limit, it is least with the limit
    and one value above: the lower principal representation (Karlin and Studden 1966), as the
    third derivative of a logarithm is positive.
    """
    least = np.minimum(least, mean)
    first = mean - least
    second = np.maximum(second - 2 * least * mean + least**2, first**2)
    part = np.divide(first**2, second, out=np.ones(second.shape), where=second > 0)
    above = np.divide(second, first, out=np.zeros(second.shape), where=first > 0)
    return least, least + above, part


def find_reach(counts: Counts, names: Nodes) -> tuple[NamedArray, NamedArray]:
    """The least and the greatest outcome seen in every cell, on the scale [0, 1]."""
    table, outcome = counts.table, counts.outcome
    axes = tuple(name for name in table.variables if name in names)
    shape, at = [table.n_levels[name] for name in axes], np.zeros(len(table.n), dtype=np.int64)
    for name in axes:
        at = at * table.n_levels[name] + table.codes[:, table.variables.index(name)]
    low, high = np.ones(prod(shape)), np.zeros(prod(shape))
    if outcome is not None and table.lowest is not None and table.highest is not None:
        width = counts.high - counts.low
        np.minimum.at(low, at, ((table.lowest - counts.low) / width).clip(0, 1))
        np.maximum.at(high, at, ((table.highest - counts.low) / width).clip(0, 1))
    return NamedArray(axes, low.reshape(shape)), NamedArray(axes, high.reshape(shape))


def guess_from_others(rows: Floats, sums: Floats, squares: Floats) -> Pair:
    """For every cell, mean and standard deviation of the outcomes in all other cells."""
    within = np.maximum(squares - sums**2 / np.maximum(rows, 1.0), 0.0)
    others = np.maximum(rows.sum() - rows, 1.0)
    variance = (within.sum() - within + 0.01) / others
    return ((sums.sum() - sums) / others).clip(0, 1), np.sqrt(variance)


def find_extremes(rules: Iterable[Rule]) -> dict[P, Nodes]:
    """For each term, the variables of which all rules take only the extremes."""
    found = dict[P, Nodes]()
    for rule in rules:
        for term in rule.terms:
            plain = len(rule.formulas) == 1 and len(rule.formulas[0].factors) == 1
            extremes = rule.extremes & term.given if plain else frozenset[str]()
            found[term] = found.get(term, extremes) & extremes
    return found


class CellIntervals(Probabilities):
    """Conditional probabilities with simultaneous intervals."""

    def __init__(self, evidence: Evidence, rules: Iterable[Rule], confidence: float) -> None:
        super().__init__(evidence)
        self.extremes: Mapping[P, Nodes] = find_extremes(rules)
        sizes = {
            term: self._count_outcomes(term)
            * prod(self.levels[name] for name in term.given - self.extremes[term])
            for term in self.extremes
        }
        total = sum(sizes.values())
        self._error = {term: (1 - confidence) * size / total for term, size in sizes.items()}

    def covers(self, terms: Iterable[P]) -> bool:
        """Whether these terms have a share of the error."""
        return self.extremes.keys() >= frozenset(terms)

    def _count_outcomes(self, term: P) -> int:
        size = prod(self.levels[name] for name in term.of)
        return 1 if size == 2 else size  # of two probabilities, one interval gives the other

    def bound_term(self, term: P, joint: NamedArray, n: Floats) -> Pair:
        """An interval of every cell, each with its part of the term's error."""
        source = self.evidence.find(term)
        if source.table.exact:
            return super().bound_term(term, joint, n)
        if source.outcome in term.given and not source.is_variable:
            return np.zeros_like(n), np.ones_like(n)
        below, adaptive = self.evidence.count(term)[1], source.table.adaptive
        over = tuple(i for i, axis in enumerate(below.axes) if axis in self.extremes[term])
        counted = np.ones_like(below.values, dtype=bool) if adaptive else below.values > 0
        cells = int(counted.any(axis=over).sum()) * self._count_outcomes(term)
        alpha = self._error[term] / max(cells, 1)
        if source.outcome not in term.of or source.binary:
            share = bound_share_adaptively if adaptive else clopper_pearson
            return share(joint.values, n, alpha)
        squares = source.sum_squares(frozenset(joint.axes)).align(joint.axes)
        if adaptive:
            return bound_mean_adaptively(joint.values, squares, n, alpha)
        if term.of != {source.outcome}:
            return bound_mean(n, joint.values, squares, alpha)
        # Failures are 1 less successes: two cells, one statement.
        at = joint.axes.index(source.outcome)
        rows, sums, won = (np.take(a, SUCCESS, at) for a in (n, joint.values, squares))
        named = joint.axes[:at] + joint.axes[at + 1 :]
        least, most = (
            NamedArray(r.axes, r.values).align(named)
            for r in find_reach(source, frozenset(named))
        )
        guess = guess_from_others(rows, sums, won)
        low, high = bound_mean(rows, sums, won, alpha, (least, most), guess)
        ends = (1 - high, low), (1 - low, high)
        return np.stack(ends[0], axis=at), np.stack(ends[1], axis=at)

    def sum_over_seen(self, formula: Formula) -> None:
        """Nothing: every cell, seen or not, would need an interval."""
        del formula

    def combine_idle(self, low: Floats, high: Floats, idle: tuple[int, ...]) -> Pair:
        """All intervals hold at once, so that the best endpoints do too."""
        return low.max(axis=idle), high.min(axis=idle)
