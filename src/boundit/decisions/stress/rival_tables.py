"""Bounds of one question under many graphs, from one log that is read once.

Graphs that differ little have much in common: what lies outside the causes of the question and
of selection changes no bound, and different graphs often justify the same rules.
"""

from dataclasses import replace
from typing import final

from boundit.bounds.derive import derive_planned, plan_request
from boundit.bounds.request import BoundRequest, hide_reward
from boundit.bounds.reward import is_binary, may_be_binary
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.log import Log
from boundit.decisions.stress.held import hold_log
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound_table import BoundTable
from boundit.terms.long_work import TimeBudget, Told, say_nothing
from boundit.terms.names import Nodes, sort_names


@final
class RivalTables:
    """Derives bound tables of one request under one graph after another.

    The log is grouped by all columns that the graphs have, once. A table serves all graphs that
    are alike among the causes of the question and of selection, if it reads nothing else: a
    model of the one, seen there, is a model of the other.
    """

    def __init__(self, request: BoundRequest, *, hidden: bool) -> None:
        self.request = request
        self._hidden = hidden
        self._tables: dict[CausalGraph, tuple[Nodes, BoundTable]] = {}

    @classmethod
    def of(cls, request: BoundRequest, nodes: Nodes) -> "RivalTables":
        """Read the log of a request once, by the columns of all nodes that graphs may have.

        Called by ``stress_request`` and ``bound_rivals``.
        """
        (outcome,) = request.query.outcomes
        held = hold_log(
            request.log,
            sort_names(nodes),
            reward=outcome,
            cluster=request.cluster,
            memory_limit=request.memory_limit,
        )
        logs = (held, *request.external)
        declared = request.reward_range
        hidden = not may_be_binary(declared)
        if declared is not None and not hidden:
            hidden = not all(_has_binary(log, outcome) for log in logs if outcome in log.names)
        return cls(replace(request, log=held), hidden=hidden)

    def derive(
        self, graph: CausalGraph, budget: TimeBudget, told: Told = say_nothing
    ) -> BoundTable:
        """Derive the bounds of the question under another graph, in the time that is left.

        Refusals, such as ends that cross, are raised as ``derive_bounds`` does. Called by
        ``StressRun.try_edges`` and ``bound_rivals`` for each graph.
        """
        request, causes = self._redraw(graph)
        if (known := self._look_up(causes)) is not None:
            return known
        workspace = Workspace(request.memory_limit, budget)
        plan = plan_request(request, workspace, told)
        table = derive_planned(request, plan, {}, workspace, told, online=False)
        self._tables.setdefault(causes, (plan.needs, table))
        return table

    def is_derived(self, graph: CausalGraph) -> bool:
        """Tell whether the bounds under a graph are those of an earlier one, and cost nothing.

        Called by ``StressRun.sort_edges``, which takes such graphs first.
        """
        _, causes = self._redraw(graph)
        return self._look_up(causes) is not None

    def _look_up(self, causes: CausalGraph) -> BoundTable | None:
        """Look up the bounds of a graph that is alike where it matters; None if there is none.

        A limit on hidden confounding speaks of all that was observed, wherever it is drawn.
        Called by ``RivalTables.derive`` and ``RivalTables.is_derived``.
        """
        found = None if self.request.limits else self._tables.get(causes)
        return None if found is None or not found[0] <= causes.nodes else found[1]

    def _redraw(self, graph: CausalGraph) -> tuple[BoundRequest, CausalGraph]:
        """Make the request under another graph, and find what of it has a say in the answer.

        That is the graph of the causes of the question and of selection. Called by
        ``RivalTables.derive``.
        """
        query = self.request.query
        drawn = hide_reward(graph, query.outcomes[0]) if self._hidden else graph
        asked = {*query.outcomes, *query.treatments, *query.context}
        causes = drawn.ancestors(asked) | drawn.selecting()
        return replace(self.request, graph=drawn), drawn.induced(causes)


def _has_binary(log: Log, outcome: str) -> bool:
    """Tell whether every reward of a log is 0 or 1. Called by ``RivalTables.of``."""
    return is_binary(log.count((), reward=outcome))
