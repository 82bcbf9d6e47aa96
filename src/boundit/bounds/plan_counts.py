"""What the rules of a plan read, counted in one pass a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from boundit.bounds.plan import BoundPlan
from boundit.bounds.reward import is_binary
from boundit.counts.log import Log
from boundit.counts.shared_levels import share_levels
from boundit.counts.table import CountTable
from boundit.counts.unmarked import find_possible_selection
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, eq=False)
class PlanCounts:
    """The counts of a log and of unselected tables, all with the same levels.

    They serve every plan that reads no more than the plan they were counted for: another
    confidence, sensitivity or selection rate needs no second pass.
    """

    log: CountTable
    external: tuple[CountTable, ...] = ()

    @property
    def tables(self) -> tuple[CountTable, ...]:
        """The counts of the log, then those of the unselected tables.

        Read by ``BoundEvidence.from_counts``.
        """
        return (self.log, *self.external)

    @property
    def are_exact(self) -> bool:
        """Whether all tables are exact laws; one counted from rows has sampling error.

        Read by ``BoundEvidence.from_counts``.
        """
        return all(table.exact for table in self.tables)

    @property
    def have_binary_reward(self) -> bool:
        """Whether every counted reward is 0 or 1.

        Read by ``derive_table``, which else hides the reward in the graph and plans again.
        """
        return all(map(is_binary, self.tables))


KeptCounts: TypeAlias = dict[tuple[CausalGraph, Nodes], PlanCounts]
"""Counts by the graph that was planned on and the variables that were read."""


def count_for(
    plan: BoundPlan,
    log: Log,
    external: Sequence[Log] = (),
    domain: Mapping[str, Sequence[object]] | None = None,
    kept: KeptCounts | None = None,
) -> PlanCounts:
    """Count what the rules of a plan read, in one pass over each log.

    All tables come out with the same levels. What ``kept`` holds for the same graph and
    variables is taken from there; what is counted is left in it. Called by ``derive_table``,
    between ``plan_bounds`` and ``assemble``.
    """
    memory = {} if kept is None else kept
    key = (plan.graph, plan.needs)
    if key not in memory:
        memory[key] = _count(plan, log, external, domain or {})
    return memory[key]


def _count(
    plan: BoundPlan, log: Log, external: Sequence[Log], domain: Mapping[str, Sequence[object]]
) -> PlanCounts:
    """Count the columns that a plan reads, in one pass over each log.

    Called by ``count_for`` for what is not kept from an earlier call.
    """
    (outcome,) = plan.query.outcomes
    plan.graph.require(domain)
    needed = plan.needs
    wanted = sort_names(needed - {outcome})
    first = log.count(
        wanted,
        reward=outcome,
        selection=plan.graph.selection,
        unmarked=find_possible_selection(
            plan.graph, plan.query.outcomes + plan.query.treatments + plan.query.context
        ),
    )
    tables = []
    for other in external:
        held = [name for name in wanted if name in other.columns]
        tables.append(other.count(held, reward=outcome if outcome in other.columns else None))
    levels = {name: levels for name, levels in domain.items() if name in needed}
    counted, *others = share_levels(first, tables, levels)
    return PlanCounts(counted, tuple(others))
