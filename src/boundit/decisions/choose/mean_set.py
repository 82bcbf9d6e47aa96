r"""What the arms of one context may earn: intervals, cut by how far arms can lie apart.

The set is :math:`M = \{\mu : L_a \le \mu_a \le U_a,\ \mu_a - \mu_b \le D_{ab}\}`. All it says
are bounds on differences, with a further arm whose mean is 0 for the intervals, so shortest
paths close it: after that every ``D_ab`` is attained somewhere in the set, and so is every end.
Sums along paths are rounded up, so that the closed set holds the given one.

By duality the greatest ``w mu`` is the least cost of moving the weights above 0 to those below,
at the price ``D_ab`` for moving from ``a`` to ``b``. From one arm alone there is one way to do
that, and nothing is left to search for.
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
    "The differences between arms contradict the intervals here, as they may where chance is "
    "not fully allowed for; the intervals alone were used."
)
"""What is said of a context whose differences of arms had to be left out."""
_EPS = float(np.finfo(np.float64).eps)


class MeansContradict(BounditError):
    """Intervals and differences of arms that no means have together."""

    def __init__(self, context: Context) -> None:
        self.context = context
        where = f" in context {shorten(repr(context))}" if context else ""
        super().__init__(
            f"the data refute the graph: no means of the arms{where} fit both their intervals "
            "and how far apart they can be"
        )


@dataclass(frozen=True, eq=False)
class MeanSet:
    """The means that the arms of a context may have together, closed.

    ``lowers`` and ``uppers`` are attained ends in the order of ``arms``. ``leads`` has in row
    ``a`` and column ``b`` how much more ``a`` may earn than ``b`` at most; it is None where the
    table knows no more than the intervals. ``mark`` is what a reader must know of the context.

    >>> arms = ("a",), ("b",)
    >>> means = MeanSet.close(arms, [0.1, 0.3], [0.9, 0.6], {arms[0]: {arms[1]: -0.1}})
    >>> print(means.uppers.round(9), round(means.largest({arms[0]: 1.0, arms[1]: -1.0}), 9))
    [0.5 0.6] -0.1
    """

    arms: tuple[Arm, ...]
    lowers: Floats
    uppers: Floats
    leads: Floats | None = None
    mark: str | None = None

    @classmethod
    def from_table(cls, table: BoundTable, context: Context) -> Self:
        """Read off a table what the arms of a context may earn; no row means the reward range.

        Differences that contradict the intervals refute a table with a confidence
        (``MeansContradict``); one without keeps its intervals and says so in ``mark``.
        """
        contrasts = table.find_contrasts(context)  # first: it computes what is compared
        rows = [table.find_compared(arm, context) for arm in table.arms]
        box = cls(table.arms, *np.array([(row.lower, row.upper) for row in rows]).T.copy())
        try:
            return cls.close(table.arms, list(box.lowers), list(box.uppers), contrasts)
        except _Empty:
            if table.confidence is not None:
                raise MeansContradict(context) from None
            return replace(box, mark=DROPPED)

    @classmethod
    def close(
        cls,
        arms: Sequence[Arm],
        lowers: Sequence[float],
        uppers: Sequence[float],
        contrasts: Mapping[Arm, Mapping[Arm, float]],
    ) -> Self:
        """Make the set of intervals, and of differences of each arm to others, and close it.

        What contradicts itself by no more than rounding is taken as touching.
        """
        places = {arm: i for i, arm in enumerate(arms)}
        low, high = np.array(lowers, dtype=float), np.array(uppers, dtype=float)
        known = _number_contrasts(places, contrasts)
        if not known:
            return cls(tuple(arms), low, high)
        prices = _list_prices(low, high, known)
        closed = _close_prices(prices)
        if (np.diag(closed) < 0).any():  # by rounding alone? then this much room makes it whole
            room = ROUNDING * max(1.0, float(np.abs(prices[np.isfinite(prices)]).max()))
            closed = _close_prices(prices + room * (1 - np.eye(len(prices))))
        if (np.diag(closed) < 0).any():
            raise _Empty
        # The added arm, with mean 0, has the last row and column.
        return cls(tuple(arms), -closed[-1, :-1], closed[:-1, -1], closed[:-1, :-1])

    def turn(self) -> Self:
        """The same means with their signs changed, for choices where less is better."""
        leads = None if self.leads is None else self.leads.T
        return replace(self, lowers=-self.uppers, uppers=-self.lowers, leads=leads)

    def find_leads(self) -> Floats:
        """Find how much more each arm may earn than each other one, at most; 0 for itself."""
        if self.leads is not None:
            return self.leads
        found = _add_up(self.uppers[:, None], -self.lowers)
        np.fill_diagonal(found, 0.0)
        return found

    def largest(self, weights: Mapping[Arm, float]) -> float:
        """Bound the weighted sum of the arms' means from above, by what is attained.

        An arm that is not named has weight 0. The number holds however a solver rounds: it is
        proved by multipliers and rounded up. The least sum is ``-largest`` of the weights with
        their signs turned.
        """
        given = np.array([weights.get(arm, 0.0) for arm in self.arms])
        used = np.flatnonzero(given)
        ends = np.where(given > 0, self.uppers, self.lowers)[used]
        apart = _sum_up(given[used] * ends)
        if self.leads is None:
            return apart
        left, spare = math.fsum(given), 0.0
        if 0 < abs(left) <= 4 * _EPS * np.abs(given).sum():  # nothing but rounding
            spare, left = abs(left) * float(np.abs(ends).max()), 0.0
        # The mean that is always 0 takes what is left over, at the price of an arm's end.
        prices = np.zeros((len(given) + 1, len(given) + 1))
        prices[:-1, :-1], prices[:-1, -1], prices[-1, :-1] = (
            self.leads,
            self.uppers,
            -self.lowers,
        )
        together = _move(np.append(given, -left), prices)
        if together is None:
            together = self._solve_largest(given)
        return min(apart, _sum_up([together, spare]))

    def _solve_largest(self, weights: Floats) -> float:
        """Bound a weighted sum of means by a linear program, from its multipliers.

        Its variables are how far means lie above their lower ends, in units of the widest
        interval; arms without weight are left out, since a closed set says all without them.
        """
        assert self.leads is not None  # a box has no program
        used = np.flatnonzero(weights)
        lowers, uppers = self.lowers[used], self.uppers[used]
        unit = float((uppers - lowers).max())
        if not 0 < unit < math.inf:
            return math.inf  # which holds; the intervals apart say all there is to say
        one, other = np.nonzero(~np.eye(len(used), dtype=bool))
        rows, each = np.zeros((len(one), len(used))), np.arange(len(one))
        rows[each, one], rows[each, other] = 1.0, -1.0
        shifted = self.leads[np.ix_(used, used)][one, other] - (lowers[one] - lowers[other])
        slack = 8 * _EPS * float(np.abs([lowers, uppers]).max())  # the shift was rounded
        program = Program(
            SparseMatrix.from_dense(rows),
            lower=np.full(len(one), -np.inf),
            upper=(shifted + slack) / unit,
            highest=(uppers - lowers + slack) / unit,
        )
        most = program.maximise(weights[used] * unit).bound
        return _sum_up([most, *(weights[used] * lowers)])


class _Empty(Exception):
    """Intervals and differences that exclude each other."""


def _number_contrasts(
    places: Mapping[Arm, int], contrasts: Mapping[Arm, Mapping[Arm, float]]
) -> list[tuple[int, int, float]]:
    """List differences by the places of both arms, of arms that have one."""
    return [
        (places[one], places[other], most)
        for one, others in contrasts.items()
        for other, most in others.items()
        if one in places and other in places and one != other
    ]


def _list_prices(
    lowers: Floats, uppers: Floats, known: Sequence[tuple[int, int, float]]
) -> Floats:
    """List how much more each arm earns than each other at most; the last arm's mean is 0."""
    n = len(lowers)
    prices = np.full((n + 1, n + 1), np.inf)
    prices[:n, n], prices[n, :n] = uppers, -lowers
    for one, other, most in known:
        prices[one, other] = most
    np.fill_diagonal(prices, 0.0)
    return prices


def _close_prices(prices: Floats) -> Floats:
    """Find the cheapest way from each arm to each other, with every sum rounded up.

    This is Floyd's and Warshall's search. Below 0 on the diagonal there is no cheapest way.
    """
    found = prices.copy()
    for k in range(len(found)):
        through = _add_up(found[:, [k]], found[[k], :])
        through[k], through[:, k] = found[k], found[:, k]  # going nowhere first costs nothing
        found = np.minimum(found, through)
    return found


def _add_up(one: Floats, other: Floats) -> Floats:
    """Add two arrays and round up where the sum is not exact; what is lost is known exactly."""
    total = one + other
    with np.errstate(invalid="ignore"):  # infinite sums lose nothing
        back = total - one
        lost = (one - (total - back)) + (other - back)
    return np.where(lost > 0, np.nextafter(total, np.inf), total)


def _move(weights: Floats, prices: Floats) -> float | None:
    """Cost what it takes to move weights above 0 to those below, if there is but one way.

    There is one where all come from one place or all go to one; else None.
    """
    above, below = np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)
    if len(above) <= 1:
        return _sum_up((-weights[below] * prices[np.ix_(above, below)]).ravel())
    if len(below) == 1:
        return _sum_up((weights[above] * prices[above, below[0]]).ravel())
    return None


def _sum_up(parts: Sequence[float] | Floats) -> float:
    """Add numbers, each of which may be rounded once, and round up by what that can make."""
    slack = 4 * _EPS * math.fsum(map(abs, parts))
    return math.fsum([*parts, slack])
