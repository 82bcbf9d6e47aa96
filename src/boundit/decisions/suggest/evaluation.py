"""Mean widths of bounds under one change after another, on a log that is counted once."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from boundit.bounds.count import KeptCounts
from boundit.bounds.derive import derive_table
from boundit.bounds.request import BoundRequest
from boundit.bounds.selection_facts import FactsRefuted, SelectionFacts
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.long_work import TimeBudget
from boundit.core.names import Nodes
from boundit.counts.log import Log
from boundit.counts.table import CountTable
from boundit.decisions.suggest.counted_log import hold_counts
from boundit.estimand.identify import identify
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound_table import BoundTable

REFUSALS = (EndsCross, NoModelFits, FactsRefuted)
"""How derived bounds say that a change does not go together with the log."""


def measure_width(table: BoundTable, *, estimates: bool = False) -> float:
    """Compute the mean width over all arms and contexts, without sampling error if asked."""
    rows = table.bounds.values()
    widths = [
        row.upper_estimate - row.lower_estimate if estimates else row.upper - row.lower
        for row in rows
    ]
    return sum(widths) / len(widths) if widths else 0.0


@dataclass(eq=False)
class Evaluation:
    """A request on a log that is held, the bounds of today, and the time that is left."""

    request: BoundRequest
    counts: CountTable
    table: BoundTable
    budget: TimeBudget
    kept: KeptCounts = field(default_factory=dict)

    @property
    def width(self) -> float:
        """Today's mean width."""
        return measure_width(self.table)

    @cached_property
    def formula(self) -> str | None:
        """The formula of the effect as things stand; None where it is not identified."""
        return self.find_formula(self.request.graph)

    @property
    def rows(self) -> int | None:
        """How many rows the log has; None for an exact law."""
        return None if self.counts.exact else round(self.counts.rows)

    def derive(self, request: BoundRequest, *, other_logs: bool = False) -> BoundTable | None:
        """Derive bounds under a changed request; None where it contradicts the log.

        None too where time is over, since bounds that were cut short say nothing of the change.
        Counts are kept between calls, unless the request has other logs.
        """
        if self.budget.is_over():
            return None
        limited = replace(request, time_limit=self.budget.count_seconds())
        try:
            table = derive_table(limited, {} if other_logs else self.kept)
        except REFUSALS:
            return None
        return None if self.budget.is_over() else table

    def measure_rate(self, rate: float) -> float | None:
        """Measure the width with a known selection rate; None where the log refutes it."""
        facts = SelectionFacts.from_options(
            selection_rate=rate, selection_limit=self.request.facts.limit
        )
        table = self.derive(replace(self.request, facts=facts))
        return None if table is None else measure_width(table)

    def measure_external(self, logs: Iterable[Log]) -> float | None:
        """Measure the width with more external tables; None where they contradict the log."""
        changed = replace(self.request, external=(*self.request.external, *logs))
        if changed.confidence is None and not all(log.exact for log in changed.external):
            return None
        table = self.derive(changed, other_logs=True)
        return None if table is None else measure_width(table)

    def measure_times(self, times: int) -> float | None:
        """Measure the width with so many times the rows, of each kind alike."""
        changed = replace(self.request, log=hold_counts(self.counts, times))
        table = self.derive(changed, other_logs=True)
        return None if table is None else measure_width(table)

    def find_formula(self, graph: CausalGraph, more: Iterable[Nodes] = ()) -> str | None:
        """Find the formula of the effect in a graph, with more external tables; None if none.

        Called wherever a suggestion may make the effect recoverable.
        """
        tables = [*self.request.tables, *more]
        found = identify(graph, self.request.query, external=tables)
        return str(found) if found else None
