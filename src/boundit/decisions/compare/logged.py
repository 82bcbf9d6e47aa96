r"""What the log did, in every context: the mean reward of everyone, as the log's world goes on.

It is :math:`E[Y \mid c]` of the population. Without selection that is the mean of the rows, and
under selection whatever the rules of bounds can say of it: they are asked for the effect of no
treatment at all. Its unknowns are those of a table of its own, so against the bounds of arms
its ends are subtracted.

Where arms were chosen by nothing that also moves the reward, given the context (Rule 2 of the
do-calculus), the log is a lottery over the arms in each context: its mean lies between the
least and the greatest mean of an arm, whatever selection did. Then each arm in turn stands for
the log, under the same unknowns as the bounds.

Where selection goes by something known before the arm is chosen, how many of each such group
there are is unknown, but the same for the policy and for the log. So both are compared within
every group, and the difference lies between those of the worst and the best group.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import final

from boundit.bounds.caveats import find_hidden
from boundit.bounds.derive import derive_table
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.interval import Interval
from boundit.core.names import sort_names
from boundit.counts.log import Log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

MOST_GROUPS = 32
"""Into how many groups a context may fall; of more, each has too few rows."""
_GROUP_TABLES = 3
"""Over how many tables the error is shared where there are groups."""


@final
@dataclass(frozen=True, eq=False)
class LoggedMeans:
    """What the log did in each context, and whether it was a lottery over the arms there.

    ``groups`` are what selection goes by within a context, where it does.
    """

    table: BoundTable
    is_lottery: bool
    is_selected: bool
    groups: "GroupMeans | None" = None

    def find(self, context: Context) -> Interval:
        """Find what the log's own visitors of a context earned."""
        return self.table[(), context]


@final
@dataclass(frozen=True, eq=False)
class GroupMeans:
    """What arms and the log earn within groups that selection goes by, named after them."""

    names: tuple[str, ...]
    arms: BoundTable
    logged: LoggedMeans

    def list_within(self, context: Context) -> list[Context]:
        """List the groups of a context, as contexts of their tables."""
        return self._by_context.get(context, [])

    @cached_property
    def _by_context(self) -> dict[Context, list[Context]]:
        """The groups of every context; read by ``GroupMeans.list_within``."""
        found, k = dict[Context, list[Context]](), -len(self.names)
        for finer in self.arms.contexts:
            found.setdefault(finer[:k], []).append(finer)
        return found


def bound_logged(
    graph: CausalGraph,
    table: BoundTable,
    log: object,
    *,
    confidence: float | None,
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    selection_limit: float | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
) -> LoggedMeans:
    """Bound what the log did in every context of a table of bounds.

    Options are those of ``derive_bounds``.
    """
    query = EffectQuery((table.outcome,), table.treatments, table.context)
    request = read_request(
        graph,
        query,
        log,
        confidence=confidence,
        external=external,
        selection_rate=selection_rate,
        selection_limit=selection_limit,
        outcome_range=table.outcome_range,
        domain={name: table.levels[name] for name in query.treatments + query.context},
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    names = _find_groups(graph, query, request.log)
    if not names:
        return _derive_logged(graph, table, request)
    shared = replace(request, confidence=_share(confidence))
    finer = replace(
        shared, query=EffectQuery(query.outcomes, query.treatments, query.context + names)
    )
    arms = derive_table(finer, {})
    groups = GroupMeans(names, arms, _derive_logged(graph, arms, finer))
    return replace(_derive_logged(graph, table, shared), groups=groups)


def _derive_logged(graph: CausalGraph, table: BoundTable, request: BoundRequest) -> LoggedMeans:
    """Derive what the log did in each context, as the effect of no treatment."""
    query = request.query
    no_arms = EffectQuery(query.outcomes, (), query.context)
    found = derive_table(replace(request, query=no_arms), {})
    columns = [other.columns for other in request.external]
    sizes = {name: len(table.levels[name]) for name in query.treatments}
    # Of an arm that nobody may have been logged with there is no telling how often it came.
    known = not find_hidden(graph, no_arms, sizes, columns)
    is_lottery = known and _is_lottery(graph, query) and _has_all_arms(table, request.log)
    return LoggedMeans(found, is_lottery, graph.selection is not None)


def _share(confidence: float | None) -> float | None:
    """Share the error of a confidence out over the tables of groups and contexts."""
    return None if confidence is None else 1 - (1 - confidence) / _GROUP_TABLES


def _find_groups(graph: CausalGraph, query: EffectQuery, log: Log) -> tuple[str, ...]:
    """Find the logged variables that selection goes by and that are known before the arm.

    None where there are none, or too many levels of them.
    """
    if graph.selection is None:
        return ()
    asked = {*query.outcomes, *query.treatments, *query.context}
    known = graph.parents(graph.selection) - asked - graph.descendants(query.treatments)
    names = tuple(sort_names(known.intersection(log.columns)))
    return names if names and prod(log.count_levels(names).values()) <= MOST_GROUPS else ()


def _is_lottery(graph: CausalGraph, query: EffectQuery) -> bool:
    """Tell whether seeing an arm in a context is as good as setting it, in the population."""
    cut = graph.without_edges_out_of(query.treatments)
    return not open_walk(cut, query.treatments, query.outcomes, given=query.context)


def _has_all_arms(table: BoundTable, log: Log) -> bool:
    """Tell whether every arm of the log has bounds; an expert's table may leave some out."""
    counts = log.count(table.treatments)
    levels = [counts.levels[name] for name in table.treatments]
    arms = set(table.arms)
    return all(
        tuple(of[code] for of, code in zip(levels, codes, strict=True)) in arms
        for codes in counts.codes.tolist()
    )
