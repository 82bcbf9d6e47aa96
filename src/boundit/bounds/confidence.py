r"""Numbers that allow for chance: intervals that hold for every cell at once.

A formula is made of terms ``P(of | given)``, each read off counts. Given how many rows fall in
a cell of ``given``, the count of ``of`` in it is binomial, so an exact interval holds with any
chance we choose. The error :math:`\delta = 1 - confidence` is shared out over the terms by the
number of cells each can have, which the graph and the levels fix beforehand; a term's share is
split evenly over those of its cells that were seen. That may depend on the rows' ``given`` but
never on what is counted in them, so all intervals hold at once with probability at least
:math:`1 - \delta`, and whatever is computed from them by taking worst cases holds too, however
the best rule is then chosen. A cell that was never seen may be anything and costs nothing.

Where only the least of several cells matters, as in a conditioning bound, the whole row of
cells costs no more than one: the least lower end is at most that of the cell which truly is the
least, whichever that is, so it is enough that this one interval holds. So for the greatest.

Binary counts get exact (Clopper-Pearson) intervals. The mean of a bounded reward that is no
0/1 variable gets the tighter of Hoeffding's and the empirical Bernstein interval, each with
half the chance (Maurer and Pontil 2009).

The log of a policy that learned is another matter: how many rows a cell has, and whether it has
any, hangs on rewards. Its cells get intervals that hold however many rows there came to be
(``boundit.bounds.intervals.time_uniform``), and a term's share is split over all cells that the
levels allow, seen or not. That only the least of several cells matters still spares the others:
which cell truly is the least is fixed by the law, not by the log, and the interval of any one
fixed cell holds with its chance, however many rows it was given.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol, assert_never, final

import numpy as np
from scipy.special import betainc, betaincinv

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.intervals.time_uniform import (
    EndPair,
    bound_mean_adaptively,
    bound_share_adaptively,
)
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.formulas.evaluation import Arrays, evaluate_with
from boundit.counts.formulas.workspace import KeptArrays, Workspace
from boundit.counts.named_array import Floats, NamedArray, divide
from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.terms.errors import BounditError
from boundit.terms.message import Option
from boundit.terms.names import Nodes

_NEAR = 1e-6  # how far off, for its size, the library's inverse may be
_HALVINGS = 80


class NoConfidence(BounditError):
    """A confidence that is none, or that an exact law has no use for."""


def require_confidence(confidence: float | None) -> None:
    """Refuse a ``confidence`` option that is neither None nor a number between 0 and 1."""
    if confidence is not None and not (
        isinstance(confidence, int | float) and 0 < confidence < 1
    ):
        raise NoConfidence(
            Option("confidence"),
            f" must be a chance such as 0.95, or None, found {confidence!r}",
        )


def collect_terms(expressions: Iterable[Expression]) -> frozenset[P]:
    """Collect the terms ``P(of | given)`` of which formulas are made, each once."""
    found, seen, waiting = set[P](), set[int](), list(expressions)
    kept = list[Expression]()  # what is kept keeps its identity to itself
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        kept.append(node)
        match node:
            case P():
                found.add(node)
            case Sum(_, body):
                waiting.append(body)
            case Product(factors):
                waiting += factors
            case Ratio(top, bottom):
                waiting += (top, bottom)
            case CFactor():
                pass
            case _:
                assert_never(node)
    return frozenset(found)


class CountReader(Protocol):
    """A rule that reads formulas off counts."""

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas whose numbers the rule reads off counts."""

    @property
    def extremes(self) -> Nodes:
        """The variables over which only the least and the greatest of one formula are taken.

        All levels of them together cost no more error than one.
        """


def collect_extremes(rules: Iterable[CountReader]) -> dict[P, Nodes]:
    """Map each term of some rules to the variables over which all rules take only extremes.

    A term is a ``P(of | given)``; its intervals cost less of the error there.
    """
    found: dict[P, Nodes] = {}
    for rule in rules:
        for term in collect_terms(rule.formulas):
            extremes = rule.extremes & term.given if term in rule.formulas else frozenset[str]()
            found[term] = found.get(term, extremes) & extremes
    return found


@dataclass(frozen=True, eq=False)
class CellErrors:
    """With which chance each cell of a term's ``given`` may miss, and rows of its own to read.

    Without a ``source`` the term is read off all rows.
    """

    errors: NamedArray
    source: BinaryReward | None


@final
class ConfidentNumbers:
    """Formulas with simultaneous intervals, from the counts of a log and of external tables.

    ``terms`` says of each term over which of its variables only the extremes are ever taken.
    Of those in ``spread`` the whole law of rewards is read too, with an error of its own.
    Terms among ``cells`` have their error shared out beforehand; their rewards are 0/1, and no
    policy that learned chose their rows.
    """

    def __init__(
        self,
        log: BinaryReward,
        external: Sequence[BinaryReward],
        terms: Mapping[P, Nodes],
        *,
        confidence: float,
        workspace: Workspace | None = None,
        cells: Mapping[P, CellErrors] | None = None,
        spread: Collection[P] = (),
    ) -> None:
        self._log, self._cells = log, cells or {}
        self.n_arrays = 2
        self.workspace = workspace or Workspace.make_default()
        self._extreme = dict(terms)
        self._external = sorted(external, key=lambda source: prod(source.n_levels.values()))
        self.levels: Mapping[str, int] = {}
        for source in (*external, log):
            self.levels = {**self.levels, **source.n_levels}
        sizes = {term: self._count_intervals(term) for term in terms}
        total = sum(sizes.values())
        self._shares = {t: (1 - confidence) * size / total for t, size in sizes.items()}
        for term in spread:  # one half is for its means, one for its whole law
            self._shares[term] /= 2
        self._terms = KeptArrays[P, ProductTable](self.workspace)

    def read_ends(self, expression: Expression, wanted: Sequence[str]) -> EndPair:
        """Compute both confidence ends of a formula at every level of the variables ``wanted``.

        Over its other variables, whose level does not matter, the best ends are taken.
        """
        axes, (low, high) = evaluate_with(self, expression)
        kept = tuple(axis for axis in axes if axis in wanted)
        idle = tuple(i for i, axis in enumerate(axes) if axis not in wanted)
        lower = np.nan_to_num(low, nan=0.0).clip(0, 1).max(axis=idle)
        upper = np.nan_to_num(high, nan=1.0).clip(0, 1).min(axis=idle)
        return NamedArray(kept, lower).align(wanted), NamedArray(kept, upper).align(wanted)

    @property
    def extremes(self) -> Mapping[P, Nodes]:
        """Over which variables of each term only the extremes hold; all cells at once if none."""
        return self._extreme

    def read_term(self, term: P) -> ProductTable:
        """Return both confidence ends of the term ``P(of | given)``, an axis for each variable.

        Each term is computed once.
        """
        return self._terms.get(
            term, lambda: self._compute_interval(term), ProductTable.count_cells
        )

    def read_c_factor(self, of: Nodes) -> Arrays:
        """Return 0 and 1 as the ends of a c-factor that has no formula."""
        del of  # nothing is known of any
        return np.zeros(()), np.ones(())

    def invert(self, arrays: Arrays) -> Arrays:
        """Invert both ends of a factor below the line: the greatest gives the least.

        What is divided by nothing is infinite at most, and unknown at least.
        """
        low, high = arrays
        with np.errstate(divide="ignore"):
            return divide(np.ones(()), high), 1 / low

    def _compute_interval(self, term: P) -> ProductTable:
        """Compute both confidence ends of a term from its counts and its share of the error."""
        self.workspace.require_cells(prod(self.levels[name] for name in term.free), term.free)
        source = self._find_source(term)
        # A variable of one level needs no axis; the reward has two, whatever was logged.
        varying = frozenset(name for name in term.free if self.levels[name] > 1)
        joint, below = source.marginalize(varying), source.marginalize(term.given & varying)
        n = np.broadcast_to(below.align(joint.axes), joint.values.shape)
        if source.table.exact:
            with np.errstate(invalid="ignore", divide="ignore"):
                share = joint.values / n
            ends = np.nan_to_num(share, nan=0.0), np.nan_to_num(share, nan=1.0)
        elif source.outcome in term.given and not source.is_variable:
            ends = np.zeros_like(n), np.ones_like(n)
        elif term in self._cells:
            errors = self._cells[term].errors.align(joint.axes) / self._count_outcomes(term)
            ends = bound_share(joint.values, n, np.where(n > 0, errors, 1.0))
        else:
            adaptive = source.table.adaptive
            rows = self._count_sharing_rows(term, below, adaptive=adaptive)
            alpha = self._shares[term] / max(rows * self._count_outcomes(term), 1)
            if source.outcome in term.of and not source.binary:
                squares = source.sum_squares(varying).align(joint.axes)
                bound_means = bound_mean_adaptively if adaptive else bound_mean
                ends = bound_means(joint.values, squares, n, alpha)
            else:
                bound_shares = bound_share_adaptively if adaptive else bound_share
                ends = bound_shares(joint.values, n, alpha)
        return ProductTable(joint.axes, ends)

    def find_error(self, term: P) -> float:
        """Find with which chance a cell of a term may miss, where its law is read as a whole."""
        source = self._find_source(term)
        below = source.marginalize(term.given)
        rows = self._count_sharing_rows(term, below, adaptive=source.table.adaptive)
        return self._shares[term] / max(rows, 1)

    def _count_sharing_rows(self, term: P, below: NamedArray, *, adaptive: bool) -> int:
        """Count the levels of a term's ``given`` over which its error is split evenly.

        These are the levels that were logged at all, or all of them where it hangs on rewards
        which were logged; variables of which only extremes are taken count as one level.
        """
        over = tuple(i for i, axis in enumerate(below.axes) if axis in self._extreme[term])
        counted = np.ones_like(below.values, dtype=bool) if adaptive else below.values > 0
        return int(counted.any(axis=over).sum())

    def _find_source(self, term: P) -> BinaryReward:
        """Find the counts for a term: the log, or the smallest external table that has it."""
        if term in self._cells and (own := self._cells[term].source):
            return own
        if term.logged:
            return self._log
        return next(c for c in self._external if term.of | term.given <= c.names)

    def _count_outcomes(self, term: P) -> int:
        """Count the intervals a term needs at one level of ``given``; two outcomes need one."""
        size = prod(self.levels[name] for name in term.of)
        return 1 if size == 2 else size  # of two shares, one interval gives the other

    def _count_intervals(self, term: P) -> int:
        """Count the intervals that a term can need, by the levels of its variables alone.

        The error is shared out over terms by it, so it must not look at counts.
        """
        rows = term.given - self._extreme[term]
        return self._count_outcomes(term) * prod(self.levels[name] for name in rows)


def bound_share(k: Floats, n: Floats, alpha: float | Floats) -> EndPair:
    """Compute the exact (Clopper-Pearson) interval of a share from ``k`` successes of ``n``.

    It is 0 to 1 where ``n`` is 0; ``alpha`` is the chance of missing, half on each side.

    >>> low, high = bound_share(np.array([0.0, 5.0]), np.array([10.0, 10.0]), 0.05)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.187]), array([0.308, 0.813]))
    """
    k = np.clip(np.rint(k), 0, n)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, _find_quantile(np.maximum(k, 1), n - k + 1, alpha / 2), 0.0)
        high = np.where(k < n, _find_quantile(k + 1, np.maximum(n - k, 1), 1 - alpha / 2), 1.0)
    return low, high


def _find_quantile(a: Floats, b: Floats, chance: float | Floats) -> Floats:
    """Find where the distribution function of a beta law reaches ``chance``.

    Where scipy's inverse is wrong, by up to a factor for hundreds of millions of rows, it is
    bisected instead.
    """
    found = np.asarray(betaincinv(a, b, chance))
    wrong = ~(np.abs(betainc(a, b, found) - chance) <= _NEAR * np.minimum(chance, 1 - chance))
    if wrong.any():
        a, b, aim = (np.broadcast_to(each, found.shape)[wrong] for each in (a, b, chance))
        low, high = np.zeros(a.shape), np.ones(a.shape)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = betainc(a, b, middle) < aim
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found[wrong] = (low + high) / 2
    return found


def bound_mean(sums: Floats, squares: Floats, n: Floats, alpha: float | Floats) -> EndPair:
    """Compute an interval of a mean in [0, 1] from ``n`` values' sums and sums of squares.

    It is the tighter of Hoeffding's and the empirical Bernstein one, each with half the chance
    ``alpha`` of missing.
    """
    m = np.maximum(n, 2.0)
    mean = sums / np.maximum(n, 1.0)
    variance = np.clip(squares / m - mean**2, 0, None) * m / (m - 1)
    hoeffding = np.sqrt(np.log(4 / alpha) / (2 * m))
    bernstein = np.sqrt(2 * variance * np.log(8 / alpha) / m)
    bernstein += 7 * np.log(8 / alpha) / (3 * (m - 1))
    radius = np.where(n >= 2, np.minimum(hoeffding, bernstein), 1.0)
    return np.clip(mean - radius, 0, 1), np.clip(mean + radius, 0, 1)
