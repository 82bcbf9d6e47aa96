"""Bounds against the selection limit: how far the log may be from everyone before they fail.

A limit ``G`` states ``1/G <= r <= G`` of the reweighting ``r``. The table of each limit is one
simultaneous statement at the stated confidence; nothing is stated of several limits at once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.public_names import find_forwarded
from boundit.results.bound_table import BoundTable

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
            shown = [
                g
                for g, table in zip(self.limits, self.tables, strict=True)
                if _rules_out(table)
            ]
            said.append(
                f"Arms are ruled out up to a limit of {shown[-1]:g}."
                if shown
                else "No arm is ruled out at any limit."
            )
        return " ".join(said)

    def __repr__(self) -> str:
        limits = ", ".join(f"{limit:g}" for limit in self.limits)
        rows = len(self.tables[0].intervals) if self.tables else 0
        return f"<SensitivityCurve at limits {limits or 'none'}: {rows:,} rows each>"

    def _repr_html_(self) -> str:
        """Show in a notebook how the intervals widen with the limit."""
        shown: str = find_forwarded("show_sensitivity")(self)
        return shown


def sensitivity_curve(
    bounded: Callable[[float], BoundTable], limits: Iterable[float]
) -> SensitivityCurve:
    """Bound under every selection limit; ``bounded`` gives the bound table under one.

    A limit says how far selection may have reweighted the log. A limit that the log contradicts
    is listed as refuted.
    """
    found, refuted = dict[float, BoundTable](), list[float]()
    for limit in sorted(set(map(float, limits))):
        try:
            found[limit] = bounded(limit)
        except (EndsCross, FactsRefuted, NoModelFits):
            refuted.append(limit)
    return SensitivityCurve(tuple(found), tuple(found.values()), tuple(refuted))


def _find_mean_width(table: BoundTable) -> float:
    """Find the mean width of a table's intervals."""
    widths = [interval.width for interval in table.intervals.values()]
    return sum(widths) / max(len(widths), 1)


def _rules_out(table: BoundTable) -> bool:
    """Tell whether some arm surely earns less than another in some context."""
    return any(table.find_dominations(where) for where in table.contexts)
