"""What the rules of a plan read, counted in one pass a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from boundit.bounds.choose_rules import MOST_RULES, keep_smallest, list_left_out
from boundit.bounds.plan import BoundPlan
from boundit.bounds.refusals import name_rules
from boundit.bounds.reward import is_binary
from boundit.counts.errors import TooManyCells
from boundit.counts.log import Log
from boundit.counts.shared_levels import share_levels
from boundit.counts.table import CountTable
from boundit.counts.unmarked import find_possible_selection
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.message import ANY, Message, Option
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
        """The counts of the log, then those of the unselected tables."""
        return (self.log, *self.external)

    @property
    def are_exact(self) -> bool:
        """Whether all tables are exact laws; one counted from rows has sampling error."""
        return all(table.exact for table in self.tables)

    @property
    def have_binary_reward(self) -> bool:
        """Whether every counted reward is 0 or 1."""
        return all(map(is_binary, self.tables))


KeptCounts: TypeAlias = dict[tuple[CausalGraph, Nodes], PlanCounts]
"""Counts by the graph that was planned on and the variables that were read."""


def look_at_levels(
    plan: BoundPlan,
    log: Log,
    external: Sequence[Log] = (),
    domain: Mapping[str, Sequence[object]] | None = None,
) -> dict[str, int]:
    """Look how many levels the columns have that the rules of a plan read; no cell is counted."""
    (outcome,) = plan.query.outcomes
    levels = dict.fromkeys(plan.needs, 1) | {outcome: 2}
    for one in (log, *external):
        held = [name for name in sort_names(plan.needs - {outcome}) if name in one.columns]
        for name, n_levels in one.count_levels(held).items():
            levels[name] = max(levels[name], n_levels)
    for name, values in (domain or {}).items():
        if name in levels and name != outcome:
            levels[name] = max(levels[name], len(values))
    return levels


def count_within(
    plan: BoundPlan,
    log: Log,
    external: Sequence[Log],
    domain: Mapping[str, Sequence[object]],
    kept: KeptCounts,
    memory_limit: int,
    *,
    cluster: str | None = None,
    keep_clusters: bool = False,
) -> tuple[BoundPlan, PlanCounts]:
    """Count what the rules of a plan read, or as many of them as memory has room for.

    Where the log has more distinct rows than fit, the rules that need the fewest columns are
    kept, and the plan that comes back says so. Rows that share a ``cluster`` belong together:
    each cluster is counted once, or refused, unless ``keep_clusters`` asks for tables whose
    ``clusters`` say how often each fell into each cell, for intervals that allow for it.
    """
    refusal: TooManyCells | None = None
    for tried in (plan, *(keep_smallest(plan, n) for n in (MOST_RULES, 1, 0))):
        try:
            counts = count_for(
                tried,
                log,
                external,
                domain,
                kept,
                memory_limit,
                cluster=cluster,
                keep_clusters=keep_clusters,
            )
        except TooManyCells as error:
            refusal = refusal or error
        else:
            return _say_left_out(plan, tried), counts
    assert refusal is not None
    raise refusal


def _say_left_out(asked: BoundPlan, counted: BoundPlan) -> BoundPlan:
    """Add to a plan a note that names the rules that were dropped to count fewer columns."""
    gone = list_left_out(asked, counted)
    if not gone:
        return counted
    note = Message(
        f"the log has too many distinct rows to count what {name_rules(gone)} read; raise ",
        Option("memory_limit"),
        " or cut columns with ",
        Option("bins", ANY),
    )
    return replace(counted, notes=(*counted.notes, note), complete=False)


def count_for(
    plan: BoundPlan,
    log: Log,
    external: Sequence[Log] = (),
    domain: Mapping[str, Sequence[object]] | None = None,
    kept: KeptCounts | None = None,
    memory_limit: int | None = None,
    *,
    cluster: str | None = None,
    keep_clusters: bool = False,
) -> PlanCounts:
    """Count what the rules of a plan read, in one pass over each log.

    All tables come out with the same levels. What ``kept`` holds for the same graph and
    variables is taken from there; what is counted is left in it.
    """
    memory = {} if kept is None else kept
    key = (plan.graph, plan.needs)
    if key not in memory:
        counts = _count(plan, log, external, domain or {}, memory_limit, cluster)
        if not keep_clusters:
            once, *others = (table.count_clusters_once() for table in counts.tables)
            counts = PlanCounts(once, tuple(others))
        memory[key] = counts
    return memory[key]


def _count(
    plan: BoundPlan,
    log: Log,
    external: Sequence[Log],
    domain: Mapping[str, Sequence[object]],
    memory_limit: int | None,
    cluster: str | None,
) -> PlanCounts:
    """Count the columns that a plan reads, in one pass over each log.

    An external table without the ``cluster`` has rows that each stand alone.
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
        cluster=cluster,
        memory_limit=memory_limit,
    )
    tables = []
    for other in external:
        held = [name for name in wanted if name in other.columns]
        reward = outcome if outcome in other.columns else None
        together = cluster if cluster in other.columns and not other.exact else None
        tables.append(
            other.count(held, reward=reward, cluster=together, memory_limit=memory_limit)
        )
    levels = {name: levels for name, levels in domain.items() if name in needed}
    counted, *others = share_levels(first, tables, levels)
    return PlanCounts(counted, tuple(others))
