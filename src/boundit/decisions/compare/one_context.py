"""How much more one side of a comparison earns than the other in one context."""

from dataclasses import dataclass
from typing import final

from boundit.core.errors import BounditError
from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING
from boundit.decisions.choose.mean_set import MeanSet
from boundit.decisions.compare.comparison import ContextDifference
from boundit.decisions.compare.logged import LoggedMeans
from boundit.decisions.compare.measured import Logged
from boundit.decisions.compare.policies import ReadPolicy, Side
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable


class AnswersContradict(BounditError):
    """Two intervals of one difference that no truth fits both."""

    def __init__(self, bounds: Interval, other: Interval, what: str) -> None:
        self.bounds, self.other = bounds, other
        super().__init__(
            f"the bounds say {bounds} of the difference and {what} {other}: the graph, the "
            f"bounds or {what} are wrong"
        )


@final
@dataclass(frozen=True)
class _Ends:
    """Two ends of a difference, which further knowledge narrows; ``sure`` of all but chance."""

    least: float
    most: float
    sure: bool

    def narrow(self, least: float, most: float) -> "_Ends":
        """Take the better ends; where they exclude each other, estimates stay as they are."""
        low, high = max(self.least, least), min(self.most, most)
        if low <= high + ROUNDING:
            return _Ends(low, high, self.sure)
        if self.sure:
            rows = Interval(self.least, self.most)
            raise AnswersContradict(Interval(least, most), rows, "the rows of the log")
        return self  # chance alone can bring estimates apart


def compare_in_context(
    table: BoundTable,
    sides: tuple[Side, Side],
    where: Context,
    share: Interval,
    logged: LoggedMeans | None,
) -> ContextDifference:
    """Bound how much more one side earns than the other in one context.

    Measured values are left out; they speak of no single context. Differences of arms that hold
    one at a time narrow the lower end where they are ``paid`` for.
    """
    means = MeanSet.from_table(table, where)
    gained = dict[Arm, float]()
    for sign, side in ((1, sides[0]), (-1, sides[1])):
        if isinstance(side, ReadPolicy):
            for arm, chance in side.chances[where].items():
                gained[arm] = gained.get(arm, 0.0) + sign * chance
    if logged is None:
        least, most = _bound_gain(means, gained)
        shared = means.leads is not None
        found = _Ends(least, most, sure=False)
    else:
        sign = 1 if isinstance(sides[0], Logged) else -1
        found = _add_logged(means, gained, sign, logged, where)
        if logged.groups is not None:
            found = _compare_groups(found, gained, sign, logged, where)
        shared = logged.groups is not None or (logged.is_lottery and means.leads is not None)
    ends = make_interval(found.least, found.most)
    return ContextDifference(where, share, ends, shared, means.mark)


def _bound_gain(means: MeanSet, gained: dict[Arm, float]) -> tuple[float, float]:
    """Bound a weighted sum of the means of arms from both sides."""
    turned = {arm: -weight for arm, weight in gained.items()}
    return -means.largest(turned), means.largest(gained)


def _add_logged(
    means: MeanSet,
    gained: dict[Arm, float],
    sign: int,
    logged: LoggedMeans,
    where: Context,
) -> _Ends:
    """Bound what a policy earns with what the log did in a context added or taken off.

    Where the log is a lottery over the arms, each of them in turn stands for it too, and the
    better ends are taken.
    """
    did, (least, most) = logged.find(where), _bound_gain(means, gained)
    low, high = (did.lower, did.upper) if sign > 0 else (-did.upper, -did.lower)
    found = _Ends(least + low, most + high, logged.table.confidence is not None)
    if not logged.is_lottery:
        return found
    each = [
        _bound_gain(means, {**gained, arm: gained.get(arm, 0.0) + sign}) for arm in means.arms
    ]
    return found.narrow(min(low for low, _ in each), max(high for _, high in each))


def _compare_groups(
    found: _Ends, gained: dict[Arm, float], sign: int, logged: LoggedMeans, where: Context
) -> _Ends:
    """Narrow a difference to what lies between its worst and its best group of the context.

    How large groups are is unknown to the policy and to the log alike, so they share it.
    """
    groups = logged.groups
    assert groups is not None  # asked by the caller
    ends = [
        _add_logged(MeanSet.from_table(groups.arms, finer), gained, sign, groups.logged, finer)
        for finer in groups.list_within(where)
    ]
    return found.narrow(min(each.least for each in ends), max(each.most for each in ends))


def make_interval(low: float, high: float) -> Interval:
    """Make an interval of two ends that cross by no more than rounding."""
    low, high = low + 0.0, high + 0.0  # no zero below zero
    close = low - high <= ROUNDING
    return Interval(min(low, high), max(low, high)) if close else Interval(low, high)
