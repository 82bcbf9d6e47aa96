"""Bounds against the selection limit: how far the log may be from everyone before they fail.

A limit ``G`` states ``1/G <= r <= G`` of the reweighting ``r``. What holds under a limit holds
under every smaller one, so a curve is read from its largest limit down, each interval within
the one before it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from boundit.bounds.intersect import EndsCross
from boundit.bounds.selection_facts import FactsRefuted
from boundit.terms.bound import Bound, Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.found_later import FoundLater
from boundit.terms.interval import Interval
from boundit.terms.public_names import find_forwarded
from boundit.terms.sampling import RowSampling
from boundit.terms.saving.frames import FrameKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class SensitivityCurve:
    """A table of bounds for each limit, smallest first.

    ``refuted`` are limits that the log itself contradicts: it is further from everyone.
    """

    limits: tuple[float, ...]
    tables: tuple[BoundTable, ...]
    refuted: tuple[float, ...] = ()

    def intervals(self, arm: object, context: object = ()) -> list[tuple[float, Interval]]:
        """List the interval of one arm and context at every selection limit, smallest first."""
        pairs = zip(self.limits, self.tables, strict=True)
        return [(limit, table[arm, context]) for limit, table in pairs]

    def rows(self) -> list[dict[str, object]]:
        """List every row of every table as a dict, its limit first."""
        pairs = zip(self.limits, self.tables, strict=True)
        return [{"limit": limit} | row for limit, table in pairs for row in table.rows()]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return find_forwarded("make_frame")(self.rows(), to)

    def plot(self, path: str | PathLike[str] | None = None) -> "tuple[Axes, ...]":
        """Draw the bounds against the limit, a panel for each arm and context; give their axes.

        A notebook shows the figure, pyplot's ``show`` elsewhere; with a ``path`` it is saved as
        PNG or SVG instead. For users.
        """
        drawn: tuple[Axes, ...] = find_forwarded("plot_sensitivity")(self, path)
        return drawn

    def summary(self) -> str:
        """Say how the intervals widen with the limit, and up to which one arms are ruled out."""
        contradicted = ", ".join(f"{limit:g}" for limit in self.refuted)
        said = [f"The log contradicts the limits {contradicted}."] if self.refuted else []
        if self.limits:
            widths = [_find_mean_width(table) for table in self.tables]
            said.append(
                f"From a limit of {self.limits[0]:g} to one of {self.limits[-1]:g} the "
                f"intervals widen from {widths[0]:.3g} to {widths[-1]:.3g} on average."
            )
            told = [
                g
                for g, table in zip(self.limits, self.tables, strict=True)
                if _rules_out(table)
            ]
            said.append(
                f"Arms are ruled out up to a limit of {told[-1]:g}."
                if told
                else "No arm is ruled out at any limit."
            )
        return " ".join(said)

    def __repr__(self) -> str:
        limits = ", ".join(f"{limit:g}" for limit in self.limits)
        rows = len(self.tables[0].bounds) if self.tables else 0
        return f"<SensitivityCurve at limits {limits or 'none'}: {rows:,} rows each>"

    def _repr_html_(self) -> str:
        """Show in a notebook how the intervals widen with the limit."""
        shown: str = find_forwarded("show_sensitivity")(self)
        return shown


def sensitivity_curve(
    bounded: Callable[[float], BoundTable], limits: Iterable[float]
) -> SensitivityCurve:
    """Bound under every selection limit; ``bounded`` gives the bound table under one.

    A limit says how far selection may have reweighted the log. Intervals never widen as the
    limit gets smaller, whatever the confidence shares out.
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


def _find_mean_width(table: BoundTable) -> float:
    """Find the mean width of a table's intervals."""
    widths = [bound.upper - bound.lower for bound in table.bounds.values()]
    return sum(widths) / max(len(widths), 1)


def _rules_out(table: BoundTable) -> bool:
    """Tell whether some arm surely earns less than another in some context."""
    return any(table.find_dominations(where) for where in table.contexts)


def _narrow_table(table: BoundTable, wider: BoundTable) -> BoundTable:
    """Replace each end of a table by that of a ``wider`` table where that one is tighter.

    Both hold. What the other method would give is said of rows that stay as they are.
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

    Raises ``EndsCross`` where they contradict each other.
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
    """Say why chance moves the lower end of one row and the upper end of another."""
    if low is None and high is None:
        return None
    return RowSampling(low.lower if low else None, high.upper if high else None)
