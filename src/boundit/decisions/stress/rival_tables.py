"""Bounds of one question under many graphs, from one log that is read once.

Graphs that differ little have much in common: what lies outside the causes of the question and
of selection changes no bound, and different graphs often justify the same rules. So a larger
graph is first looked at through the few variables that the first table rests on, the others
hidden (the latent projection, which keeps every model). Where that small graph tells as much as
the first table does, nothing more is to be looked for: a larger graph cannot tell more. With
models that is never done: they are no rule that a small graph could prove.
"""

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import final

from boundit.bounds.derive import derive_planned, plan_request
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import BoundRequest, hide_reward
from boundit.bounds.reward import is_binary, may_be_binary
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.log import Log
from boundit.decisions.stress.held import hold_log
from boundit.estimand.language.expression import Expression
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.explanation import RANGE
from boundit.terms.long_work import TimeBudget, Told, say_nothing
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import ROUNDING


@final
@dataclass(eq=False)
class _FirstTable:
    """The table of the first graph, and what other graphs tell of the variables it rests on.

    ``nodes`` are these variables, with those asked about; ``winners`` what the rules say that
    gave its ends. ``seen`` has for each graph over ``nodes`` a table that tells
    as much as the first one, or None.
    """

    table: BoundTable
    nodes: Nodes
    winners: frozenset[object]
    seen: dict[CausalGraph, BoundTable | None] = field(default_factory=dict)


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
        self._first: _FirstTable | None = None

    @classmethod
    def of(cls, request: BoundRequest, nodes: Nodes) -> "RivalTables":
        """Read the log of a request once, by the columns of all nodes that graphs may have.

        Called by ``stress_request`` and ``unite_rivals``.
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
        ``StressRun.try_edges`` and ``unite_rivals`` for each graph.
        """
        request, causes = self._redraw(graph)
        if (known := self._look_up(causes)) is not None:
            return known
        if (alike := self._look_through(request, budget, told)) is not None:
            return alike
        plan, table = _derive(request, budget, told)
        self._tables.setdefault(causes, (plan.needs, table))
        if self._first is None and self._may_look_through:
            self._first = self._find_basis(request.graph, plan, table)
        return table

    @property
    def _may_look_through(self) -> bool:
        """Whether rules of a plan alone give tables, so that small graphs can prove them again.

        What models adjust for is in no plan, and the small graph may hide what they read. Read
        by ``RivalTables.derive``.
        """
        return not self.request.limits and self.request.models is None

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

    def _look_through(
        self, request: BoundRequest, budget: TimeBudget, told: Told
    ) -> BoundTable | None:
        """Look at a graph through what the first table rests on; None if that tells less.

        Called by ``RivalTables.derive`` before all that a graph may tell is looked for.
        """
        first, graph = self._first, request.graph
        if first is None or not (gone := graph.observed - first.nodes):
            return None
        small = project(graph, gone)
        if small not in first.seen:
            try:
                found = _find_alike(replace(request, graph=small), first, budget, told)
            except BounditError:  # which the whole graph will say in its own words
                found = None
            if budget.is_over():
                return None  # rules may have been left out
            first.seen[small] = found
        return first.seen[small]

    def _find_basis(
        self, graph: CausalGraph, plan: BoundPlan, table: BoundTable
    ) -> _FirstTable:
        """Find what the first table rests on: the rules that gave its ends, their variables.

        Differences of arms may rest on any rule that was tried; if they rest on more, the small
        graph tells less of them, and that is seen. Called by ``RivalTables.derive``.
        """
        won = {name for b in table.bounds.values() for name in (b.lower_rule, b.upper_rule)}
        if table.contrasts:
            won |= table.rules.keys()
        rules = {planned.record.name: planned.rule for planned in plan.rules}
        known = [rules[name] for name in won if name in rules]
        query = self.request.query
        basis = Nodes((*query.outcomes, *query.treatments, *query.context))
        basis = basis.union(*(rule.needs for rule in known))
        basis = basis.union(*(other.columns for other in self.request.external))
        # A rule that was made of others may read anything.
        if not won <= {*rules, RANGE}:
            basis, known = basis | plan.needs, [planned.rule for planned in plan.rules]
        winners = frozenset(map(_strip_proof, known))
        return _FirstTable(table, basis & graph.nodes, winners)

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


def _derive(
    request: BoundRequest, budget: TimeBudget, told: Told
) -> tuple[BoundPlan, BoundTable]:
    """Plan the rules of a request and derive its table, without what only policies need.

    Called by ``RivalTables.derive``.
    """
    workspace = Workspace(request.memory_limit, budget)
    plan = plan_request(request, workspace, told)
    return plan, derive_planned(request, plan, {}, workspace, told, online=False)


def _find_alike(
    request: BoundRequest, first: _FirstTable, budget: TimeBudget, told: Told
) -> BoundTable | None:
    """Find a table that tells as much as the first one, under another small graph.

    It is the first one itself where that graph proves all the rules that gave its ends; its
    confidence is that of numbers which they read off rows, whatever the graph. What arms share
    hangs on the graph, so differences of arms are found again, by the same rules. Called by
    ``RivalTables._look_through``.
    """
    workspace = Workspace(request.memory_limit, budget)
    plan = plan_request(request, workspace, told)
    proved = {_strip_proof(planned.rule): planned for planned in plan.rules}
    if first.winners <= proved.keys():
        if not first.table.contrasts:
            return first.table
        again = tuple(p for rule, p in proved.items() if rule in first.winners)
        plan = replace(plan, rules=again)
    table = derive_planned(request, plan, {}, workspace, told, online=False)
    return table if _tells_as_much(table, first.table) else None


def _strip_proof(rule: object) -> object:
    """Strip a rule of the steps that prove it: what is left says what it computes.

    Called by ``RivalTables._find_basis`` and ``_find_alike``, to see a rule again that another
    graph proves in another way.
    """
    if isinstance(rule, tuple):
        return tuple(map(_strip_proof, rule))
    if not is_dataclass(rule) or isinstance(rule, Expression):
        return rule
    parts = (getattr(rule, f.name) for f in fields(rule) if f.compare and f.name != "steps")
    return type(rule), tuple(map(_strip_proof, parts))


def _tells_as_much(table: BoundTable, first: BoundTable) -> bool:
    """Tell whether a table is nowhere wider than the first one, differences of arms included.

    Called by ``_find_alike``.
    """
    if first.contrasts and table.contrast_cost > first.contrast_cost:
        return False
    return all(
        table.bounds[key].lower >= bound.lower - ROUNDING
        and table.bounds[key].upper <= bound.upper + ROUNDING
        for key, bound in first.bounds.items()
    ) and all(
        table.contrast(one, other, where) <= most + ROUNDING
        for (where, one, other), most in first.contrasts.items()
    )


def _has_binary(log: Log, outcome: str) -> bool:
    """Tell whether every reward of a log is 0 or 1. Called by ``RivalTables.of``."""
    return is_binary(log.count((), reward=outcome))
