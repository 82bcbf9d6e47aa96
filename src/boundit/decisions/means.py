r"""The joint set of mean outcomes of the arms in one context: intervals and differences.

The set is :math:`M = \{\mu : L_a \le \mu_a \le U_a,\ \mu_a - \mu_b \le D_{ab}\}`. With one more
arm whose mean is 0, all of these are bounds on differences, so shortest paths close the set:
afterwards every ``D_ab`` and every endpoint is attained somewhere in it. Sums along paths are
rounded up, so the closed set contains the given one.

By duality the greatest ``w mu`` is the least cost of moving the positive weights to the negative
ones, at the price ``D_ab`` for moving a unit from ``a`` to ``b``. From a single arm there is
only one way to do that; otherwise it is a linear program.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from boundit.bounds.linear_program import Program, SparseMatrix
from boundit.core.errors import BounditError, shorten
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

DROPPED = (
    "The effects contradict the intervals here, as plug-in estimates can; the intervals alone "
    "were used."
)
EPS = float(np.finfo(np.float64).eps)


class MeansContradict(BounditError):
    """Intervals and differences of arms that no means satisfy together."""

    def __init__(self, context: Context) -> None:
        self.context = context
        where = f" in context {shorten(repr(context))}" if context else ""
        super().__init__(
            f"the data refute the graph: no means of the arms{where} satisfy both their "
            "intervals and the bounds on their differences"
        )


class _Empty(Exception):
    """Intervals and differences that exclude each other."""


@dataclass(frozen=True, eq=False)
class MeanSet:
    """The means that the arms of a context may have together, closed.

    ``leads`` has in row ``a`` and column ``b`` the greatest difference of the means of ``a`` and
    ``b``; ``linked`` tells whether the table bounds some differences by more than the intervals.

    >>> arms = ("a",), ("b",)
    >>> means = MeanSet.close(arms, [0.1, 0.3], [0.9, 0.6], {arms[0]: {arms[1]: -0.1}})
    >>> print(means.uppers.round(9), round(means.largest({arms[0]: 1.0, arms[1]: -1.0}), 9))
    [0.5 0.6] -0.1
    """

    arms: tuple[Arm, ...]
    lowers: Floats
    uppers: Floats
    leads: Floats
    linked: bool = False
    mark: str | None = None

    @classmethod
    def from_table(
        cls, table: BoundTable, context: Context, costs: Mapping[Arm, float] | None = None
    ) -> Self:
        """Read the set of a context; arms without a row have the outcome's range.

        ``costs`` are subtracted from the means. Differences that contradict the intervals refute
        a table with a confidence; plug-in estimates keep their intervals, with a mark.
        """
        contrasts = table.find_contrasts(context)  # first: it computes what is compared
        rows = [table.find_compared(arm, context) for arm in table.arms]
        low, high = [row.lower for row in rows], [row.upper for row in rows]
        try:
            means = cls.close(table.arms, low, high, contrasts)
        except _Empty:
            if table.confidence is not None:
                raise MeansContradict(context) from None
            means = replace(cls.close(table.arms, low, high, {}), mark=DROPPED)
        if not costs:
            return means
        paid = np.array([costs.get(arm, 0.0) for arm in table.arms])
        return replace(
            means,
            lowers=means.lowers - paid,
            uppers=means.uppers - paid,
            leads=means.leads - paid[:, None] + paid,
        )

    @classmethod
    def close(
        cls,
        arms: Sequence[Arm],
        lowers: Sequence[float],
        uppers: Sequence[float],
        contrasts: Mapping[Arm, Mapping[Arm, float]],
    ) -> Self:
        """Close a set; contradictions no larger than rounding count as touching."""
        n, places = len(arms), {arm: i for i, arm in enumerate(arms)}
        low, high = np.array(lowers, dtype=float), np.array(uppers, dtype=float)
        prices = np.full((n + 1, n + 1), np.inf)  # the added arm, with mean 0, comes last
        prices[:n, n], prices[n, :n] = high, -low
        known = [
            (places[one], places[other], most)
            for one, others in contrasts.items()
            for other, most in others.items()
            if one in places and other in places and one != other
        ]
        if not known:
            leads = _add_up(high[:, None], -low)
            np.fill_diagonal(leads, 0.0)
            return cls(tuple(arms), low, high, leads)
        for one, other, most in known:
            prices[one, other] = most
        np.fill_diagonal(prices, 0.0)
        closed = _close_prices(prices)
        if (np.diag(closed) < 0).any():
            slack = ROUNDING * max(1.0, float(np.abs(prices[np.isfinite(prices)]).max()))
            closed = _close_prices(prices + slack * (1 - np.eye(len(prices))))
        if (np.diag(closed) < 0).any():
            raise _Empty
        return cls(
            tuple(arms), -closed[n, :n], closed[:n, n], closed[:n, :n].copy(), linked=True
        )

    def turn(self) -> Self:
        """The same means with their signs changed, for goals where less is better."""
        return replace(self, lowers=-self.uppers, uppers=-self.lowers, leads=self.leads.T)

    def largest(self, weights: Mapping[Arm, float]) -> float:
        """Bound the weighted sum of the means from above; rounded up, whatever a solver does.

        The least sum is ``-largest`` of the weights with their signs changed.
        """
        given = np.array([weights.get(arm, 0.0) for arm in self.arms])
        used = np.flatnonzero(given)
        ends = np.where(given > 0, self.uppers, self.lowers)[used]
        apart = sum_up(given[used] * ends)
        if not self.linked:
            return apart
        left, spare = math.fsum(given), 0.0
        if 0 < abs(left) <= 4 * EPS * np.abs(given).sum():  # nothing but rounding
            spare, left = abs(left) * float(np.abs(ends).max()), 0.0
        # The arm whose mean is 0 takes what is left over, at the price of an endpoint.
        n = len(given)
        prices = np.zeros((n + 1, n + 1))
        prices[:n, :n], prices[:n, n], prices[n, :n] = self.leads, self.uppers, -self.lowers
        together = _move(np.append(given, -left), prices)
        if together is None:
            together = self._solve_largest(given)
        return min(apart, sum_up([together, spare]))

    def _solve_largest(self, weights: Floats) -> float:
        # Variables: how far means lie above their lower endpoints, in units of the widest
        # interval. Arms without weight are left out: a closed set implies all without them.
        used = np.flatnonzero(weights)
        lowers, uppers = self.lowers[used], self.uppers[used]
        unit = float((uppers - lowers).max())
        if not 0 < unit < math.inf:
            return math.inf  # valid; the intervals alone imply all there is
        one, other = np.nonzero(~np.eye(len(used), dtype=bool))
        rows, each = np.zeros((len(one), len(used))), np.arange(len(one))
        rows[each, one], rows[each, other] = 1.0, -1.0
        shifted = self.leads[np.ix_(used, used)][one, other] - (lowers[one] - lowers[other])
        slack = 8 * EPS * float(np.abs([lowers, uppers]).max())  # the shift was rounded
        program = Program(
            SparseMatrix.from_dense(rows),
            lower=np.full(len(one), -np.inf),
            upper=(shifted + slack) / unit,
            highest=(uppers - lowers + slack) / unit,
        )
        most = program.maximise(weights[used] * unit).bound
        return sum_up([most, *(weights[used] * lowers)])


def _close_prices(prices: Floats) -> Floats:
    """Floyd-Warshall with sums rounded up; a negative diagonal means contradiction."""
    found = prices.copy()
    for k in range(len(found)):
        through = _add_up(found[:, [k]], found[[k], :])
        through[k], through[:, k] = found[k], found[:, k]  # going nowhere first costs nothing
        found = np.minimum(found, through)
    return found


def _add_up(one: Floats, other: Floats) -> Floats:
    """Add two arrays, rounding up where the sum is not exact (Knuth's error-free sum)."""
    total = one + other
    with np.errstate(invalid="ignore"):  # infinite sums lose nothing
        back = total - one
        lost = (one - (total - back)) + (other - back)
    return np.where(lost > 0, np.nextafter(total, np.inf), total)


def _move(weights: Floats, prices: Floats) -> float | None:
    """The cost of moving positive weights to negative ones, if there is only one way."""
    above, below = np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)
    if len(above) <= 1:
        return sum_up((-weights[below] * prices[np.ix_(above, below)]).ravel())
    if len(below) == 1:
        return sum_up((weights[above] * prices[above, below[0]]).ravel())
    return None


def sum_up(parts: Sequence[float] | Floats) -> float:
    """Add numbers, each of which may have been rounded once; the sum is rounded up."""
    slack = 4 * EPS * math.fsum(map(abs, parts))
    return math.fsum([*parts, slack])
