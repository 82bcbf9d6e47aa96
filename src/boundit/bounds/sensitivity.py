"""Bounds against the sensitivity limit: how far the log may be from everyone before they fail.

A limit ``G`` states ``1/G <= r <= G`` of the reweighting ``r``. What holds under a limit holds
under every smaller one, so a curve is read from its largest limit down, each interval within
the one before it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from boundit.bounds.intersect import EndsCross
from boundit.bounds.selection_facts import FactsRefuted
from boundit.terms.bound import Bound, Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.found_later import FoundLater
from boundit.terms.interval import Interval
from boundit.terms.sampling import RowSampling


@dataclass(frozen=True)
class SensitivityCurve:
    """A table of bounds for each limit, smallest first.

    ``refuted`` are limits that the log itself contradicts: it is further from everyone.
    """

    limits: tuple[float, ...]
    tables: tuple[BoundTable, ...]
    refuted: tuple[float, ...] = ()

    def intervals(self, arm: object, context: object = ()) -> list[tuple[float, Interval]]:
        """List the interval of one arm and context at every sensitivity limit, smallest first.

        Users call it to see from which limit on two arms can no longer be told apart.
        """
        pairs = zip(self.limits, self.tables, strict=True)
        return [(limit, table[arm, context]) for limit, table in pairs]

    def rows(self) -> list[dict[str, object]]:
        """List every row of every table as a dict, its sensitivity limit first.

        Users call it to save or draw the curve.
        """
        pairs = zip(self.limits, self.tables, strict=True)
        return [{"sensitivity": limit} | row for limit, table in pairs for row in table.rows()]


def sensitivity_curve(
    bounded: Callable[[float], BoundTable], limits: Iterable[float]
) -> SensitivityCurve:
    """Bound under every sensitivity limit; ``bounded`` gives the bound table under one.

    A limit says how far selection may have reweighted the log. Intervals never widen as the
    limit gets smaller, whatever the confidence shares out. Called by users, and by
    ``derive_ladders`` for the command that plots the curve.
    """
    found: dict[float, BoundTable] = {}
    refuted, wider = list[float](), None
    for limit in sorted(set(map(float, limits)), reverse=True):
        try:
            table = bounded(limit)
            wider = table if wider is None else _narrow_table(table, wider)
        except (EndsCross, FactsRefuted):
            refuted.append(limit)
            continue
        found[limit] = wider
    order = sorted(found)
    return SensitivityCurve(tuple(order), tuple(found[g] for g in order), tuple(refuted[::-1]))


def _narrow_table(table: BoundTable, wider: BoundTable) -> BoundTable:
    """Replace each end of a table by that of a ``wider`` table where that one is tighter.

    Both hold. What the other method would give is said of rows that stay as they are. Called by
    ``sensitivity_curve`` for the table of each limit and that of the next larger one.
    """
    bounds = {
        key: _keep_better(key, bound, wider.bounds[key]) for key, bound in table.bounds.items()
    }
    rules = {**wider.rules, **table.rules}

    def find_others() -> dict[Key, Interval]:
        own = (key for key, bound in bounds.items() if bound is table.bounds[key])
        return {key: table.others[key] for key in own if key in table.others}

    return replace(table, bounds=bounds, rules=rules, others=FoundLater(find_others))


def _keep_better(key: Key, one: Bound, other: Bound) -> Bound:
    """Keep the larger lower and smaller upper end of two bounds, each with its rule.

    Raises ``EndsCross`` where they contradict each other. Called by ``_narrow_table`` for each
    arm and context.
    """
    if max(one.lower, other.lower) > min(one.upper, other.upper):
        raise EndsCross([f"arm {key[0]} in context {key[1]}"])
    if other.lower > one.lower:
        one = replace(
            one,
            lower=other.lower,
            lower_rule=other.lower_rule,
            lower_cells=other.lower_cells,
            sampling=_mix_sampling(other.sampling, one.sampling),
        )
    if other.upper < one.upper:
        one = replace(
            one,
            upper=other.upper,
            upper_rule=other.upper_rule,
            upper_cells=other.upper_cells,
            sampling=_mix_sampling(one.sampling, other.sampling),
        )
    return one


def _mix_sampling(low: RowSampling | None, high: RowSampling | None) -> RowSampling | None:
    """Say why chance moves the lower end of one row and the upper end of another.

    Called by ``_keep_better``.
    """
    if low is None and high is None:
        return None
    return RowSampling(low.lower if low else None, high.upper if high else None)
