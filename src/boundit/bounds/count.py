"""What the rules of a plan read, counted in one pass over each log."""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from boundit.bounds.caveats import note_uncounted
from boundit.bounds.evidence import (
    Counts,
    Evidence,
    has_two_values,
    is_binary,
    settle_outcome_range,
)
from boundit.bounds.plan import MOST_RULES, BoundPlan, drop_hidden, keep_smallest
from boundit.bounds.request import BoundRequest
from boundit.core.names import Nodes, sort_names
from boundit.counts.errors import TooManyCells
from boundit.counts.memory import Workspace
from boundit.counts.table import CountTable, share_levels
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import find_possible_selection


@dataclass(frozen=True, eq=False)
class PlanCounts:
    """The counts of a log and of unselected tables, all with the same levels.

    They serve every plan that reads no more than the plan they were counted for: another
    confidence, limit or selection rate needs no second pass.
    """

    log: CountTable
    external: tuple[CountTable, ...] = ()

    @property
    def tables(self) -> tuple[CountTable, ...]:
        """The counts of the log, then those of the unselected tables."""
        return (self.log, *self.external)

    @property
    def have_binary_outcome(self) -> bool:
        """Whether every counted outcome is 0 or 1."""
        return all(map(is_binary, self.tables))

    def gather(
        self,
        plan: BoundPlan,
        outcome_range: tuple[float, float] | None,
        workspace: Workspace | None = None,
    ) -> Evidence:
        """Make of counts what inference reads; without selection the log is the population."""
        tables = (self.log, *self.external)
        low, high = settle_outcome_range([t for t in tables if t.reward], outcome_range)
        log, *external = (
            Counts(table, table.reward, low, high, has_two_values(table, low, high))
            for table in tables
        )
        population = tuple(external) if plan.graph.selection is not None else (log,)
        space = workspace or Workspace.make_default()
        return Evidence(plan.graph, plan.query, log, population, space)


KeptCounts: TypeAlias = dict[tuple[CausalGraph, Nodes], PlanCounts]
"""Counts by graph and columns, so that the same logs are read once for many requests."""


def look_at_levels(plan: BoundPlan, request: BoundRequest) -> dict[str, int]:
    """How many levels the columns have that the rules of a plan read; no cell is counted."""
    (outcome,) = plan.query.outcomes
    levels = dict.fromkeys(plan.needs, 1) | {outcome: 2}
    for one in (request.log, *request.external):
        held = [name for name in sort_names(plan.needs - {outcome}) if name in one.columns]
        for name, n_levels in one.count_levels(held).items():
            levels[name] = max(levels[name], n_levels)
    for name, values in request.domain.items():
        if name in levels and name != outcome:
            levels[name] = max(levels[name], len(values))
    return levels


def count_plan(
    plan: BoundPlan, request: BoundRequest, kept: KeptCounts
) -> tuple[BoundPlan, PlanCounts]:
    """Count what the rules of a plan read, or as many of them as fit into memory.

    Where the log has more distinct rows than fit, the rules that need the fewest columns are
    kept, and the plan that comes back says so. Rules that read a variable of which selection may
    have left one value are dropped. What ``kept`` holds for the same graph and columns is taken
    from there.
    """
    counted, tried, rules = kept.get((plan.graph, plan.needs)), plan, [0, 1, MOST_RULES]
    refusal: TooManyCells | None = None
    while counted is None:
        try:
            counted = _count(tried, request)
        except TooManyCells as error:
            refusal = refusal or error
            if not rules:
                raise refusal from None
            tried = keep_smallest(plan, rules.pop())
    kept[tried.graph, tried.needs] = counted
    if gone := plan.list_left_out(tried) if tried is not plan else ():
        notes = (*tried.notes, note_uncounted(gone))
        tried = replace(tried, notes=notes, complete=False)
    log = counted.log
    levels = dict(log.n_levels)
    if log.reward is not None and log.lowest is not None and log.highest is not None:
        seen = {*np.unique([log.lowest, log.highest]).tolist()}
        levels[log.reward] = len(seen.union(request.domain.get(log.reward, ())))
    tried = drop_hidden(tried, levels, (other.columns for other in request.external))
    return tried, counted


def _count(plan: BoundPlan, request: BoundRequest) -> PlanCounts:
    """Count one plan.

    Rows of one cluster depend on each other: with exact inference each cluster is counted once,
    or refused.
    """
    (outcome,), cluster = plan.query.outcomes, request.cluster
    plan.graph.require(request.domain)
    wanted = sort_names(plan.needs - {outcome})
    asked = plan.query.outcomes + plan.query.treatments + plan.query.context
    first = request.log.count(
        wanted,
        reward=outcome,
        selection=plan.graph.selection,
        unmarked=find_possible_selection(plan.graph, asked),
        cluster=cluster,
        memory_limit=request.memory_limit,
    )
    tables = [
        other.count(
            [name for name in wanted if name in other.columns],
            reward=outcome if outcome in other.columns else None,
            # A table without the cluster has rows that each stand alone.
            cluster=cluster if cluster in other.columns and not other.exact else None,
            memory_limit=request.memory_limit,
        )
        for other in request.external
    ]
    levels = {name: found for name, found in request.domain.items() if name in plan.needs}
    counted = [first, *tables]
    if tables or levels:
        counted = list(share_levels(first, tables, levels))
    if cluster is not None and request.inference == "exact":
        counted = [table.count_clusters_once() for table in counted]
    return PlanCounts(counted[0], tuple(counted[1:]))
