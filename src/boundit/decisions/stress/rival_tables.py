"""Bounds of one question under many graphs, from one log that is read once.

A graph with an edge more cannot tell more. So it is first looked at through the few variables
that the first table rests on, the others hidden (the latent projection, which keeps every
model): a quick search. Where that tells as much as the first table, nothing more is to be looked
for; else all of the graph is searched.
"""

from dataclasses import replace
from typing import final

from boundit.bounds.derive import derive_planned, plan_request
from boundit.bounds.evidence import is_binary
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import OUTCOME_IS_BINARY, BoundRequest, hide_reward
from boundit.core.errors import BounditError
from boundit.core.long_work import TimeBudget, say_nothing
from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log
from boundit.counts.memory import Workspace
from boundit.decisions.stress.held import hold_log
from boundit.graph.causal_graph import CausalGraph, project
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE


@final
class RivalTables:
    """Derives bound tables of one request under one graph after another.

    The log is grouped by all columns that the graphs have, once.
    """

    def __init__(self, request: BoundRequest, *, hidden: bool) -> None:
        self.request = request
        self._hidden = hidden
        self._fresh = True
        self._first: BoundTable | None = None
        self._basis: Nodes = frozenset()
        self._alike: dict[CausalGraph, bool] = {}

    @classmethod
    def of(cls, request: BoundRequest, nodes: Nodes) -> "RivalTables":
        """Read the log of a request once, by the columns of all nodes that graphs may have."""
        (outcome,) = request.query.outcomes
        held = hold_log(
            request.log,
            sort_names(nodes),
            reward=outcome,
            cluster=request.cluster,
            memory_limit=request.memory_limit,
        )
        logs = (held, *request.external)
        declared = request.outcome_range
        hidden = declared not in OUTCOME_IS_BINARY
        if declared is not None and not hidden:
            hidden = not all(_has_binary(log, outcome) for log in logs if outcome in log.names)
        return cls(replace(request, log=held), hidden=hidden)

    def derive(self, graph: CausalGraph, budget: TimeBudget) -> BoundTable:
        """Derive the bounds of the question under another graph, in the time that is left.

        Refusals, such as ends that cross, are raised as ``derive_bounds`` does.
        """
        drawn, fresh, self._fresh = self._draw(graph), self._fresh, False
        if self._first is not None and self._tells_as_much(drawn, self._first, budget):
            return self._first  # no interval of it is narrower than one that holds
        plan, table = self._search(drawn, budget)
        # Where the log refutes the first graph, a few variables may not show whether it refutes
        # another. A limit speaks of all that was observed; what models read is in no plan.
        if fresh and not self.request.limits and self.request.models is None:
            self._first, self._basis = table, self._find_basis(plan, table)
        return table

    def derive_open(self, graph: CausalGraph, budget: TimeBudget) -> BoundTable:
        """Make the table in which every arm may earn anything: a refuted graph tells nothing."""
        request = replace(self.request, graph=self._draw(graph), models=None)
        plan = BoundPlan(request.graph, request.query, "sound", ())
        workspace = Workspace(request.memory_limit, budget)
        return derive_planned(request, plan, {}, workspace, say_nothing)

    def _draw(self, graph: CausalGraph) -> CausalGraph:
        return hide_reward(graph, self.request.query.outcomes[0]) if self._hidden else graph

    def _search(self, graph: CausalGraph, budget: TimeBudget) -> tuple[BoundPlan, BoundTable]:
        """Plan the rules under a graph and derive its table, but what only policies need."""
        request = replace(self.request, graph=graph)
        workspace = Workspace(request.memory_limit, budget)
        plan = plan_request(request, workspace, say_nothing)
        return plan, derive_planned(request, plan, {}, workspace, say_nothing)

    def _tells_as_much(self, graph: CausalGraph, first: BoundTable, budget: TimeBudget) -> bool:
        """Tell whether a graph, seen through what the first table rests on, tells as much."""
        gone = graph.observed - self._basis
        if not gone:
            return False
        small = project(graph, gone)
        if small not in self._alike:
            try:
                _, table = self._search(small, budget)
            except BounditError:  # which the whole graph will say in its own words
                return False
            if budget.is_over():
                return False  # rules may have been left out
            self._alike[small] = _is_within(table, first)
        return self._alike[small]

    def _find_basis(self, plan: BoundPlan, table: BoundTable) -> Nodes:
        """Find the variables that a table rests on: of the rules that gave its ends.

        Differences of arms may rest on any rule that was tried, and a rule that was made of
        others may read anything.
        """
        won = {name for b in table.bounds.values() for name in (b.lower_rule, b.upper_rule)}
        if table.contrasts:
            won |= table.rules.keys()
        needs = {record.name: rule.needs for rule, record in plan.records.items()}
        read = [needs.get(name, plan.needs) for name in won - {RANGE}]
        query = self.request.query
        asked = (*query.outcomes, *query.treatments, *query.context)
        return Nodes(asked).union(*read, *(other.columns for other in self.request.external))


def _is_within(table: BoundTable, first: BoundTable) -> bool:
    """Tell whether a table is nowhere wider than the first one, differences of arms included."""
    return all(
        table.bounds[key].lower >= bound.lower - ROUNDING
        and table.bounds[key].upper <= bound.upper + ROUNDING
        for key, bound in first.bounds.items()
    ) and all(
        table.find_largest_difference(one, other, where) <= most + ROUNDING
        for (where, one, other), most in first.contrasts.items()
    )


def _has_binary(log: Log, outcome: str) -> bool:
    """Tell whether every reward of a log is 0 or 1."""
    return is_binary(log.count((), reward=outcome))
