r"""The mean outcome under the logging policy, in every context of the population.

It is :math:`E[Y \mid c]`: without selection the mean of the rows, under selection whatever the
rules of bounds imply for the effect of no treatment at all. Its unknowns are those of a table of
its own, so its endpoints are subtracted from those of the arms, with two refinements:

- where the arm of a row is unconfounded given the context (Rule 2), the logging policy is a
  randomization over arms in each context, so each arm in turn stands for it, under the unknowns
  that the arms share;
- where selection depends on logged variables that precede the treatment, their distribution is
  the same unknown for the policy and for the log: both are compared within every stratum, and
  the difference lies between those of the worst and the best stratum.
"""

from dataclasses import dataclass, replace
from math import prod
from typing import final

from boundit.bounds.confounding_limits import NO_LIMITS
from boundit.bounds.derive import derive_table
from boundit.bounds.plan import find_hidden
from boundit.bounds.request import BoundRequest
from boundit.core.interval import Interval
from boundit.core.names import sort_names
from boundit.counts.log import Log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

_MOST_STRATA = 32  # of more, each has too few rows
_TABLES = 3  # over which the error is shared where there are strata


@final
@dataclass(frozen=True, eq=False)
class LoggedMeans:
    """The means under the logging policy, and those of arms within strata of selection."""

    table: BoundTable
    is_randomized: bool
    is_selected: bool
    by: tuple[str, ...] = ()
    arms: BoundTable | None = None
    within: "LoggedMeans | None" = None

    def find(self, context: Context) -> Interval:
        """The mean under the logging policy in a context."""
        return self.table[(), context]

    def list_strata(self, context: Context) -> list[Context]:
        """The strata of a context, as contexts of the tables within."""
        if self.arms is None:
            return []
        k = len(self.by)
        return [finer for finer in self.arms.contexts if finer[:-k] == context]


def bound_logged(request: BoundRequest, table: BoundTable) -> LoggedMeans:
    """Bound the mean under the logging policy in every context of a table of bounds."""
    query, graph = request.query, request.graph
    declared = {name: table.levels[name] for name in query.treatments + query.context}
    request = replace(
        request,
        outcome_range=table.outcome_range,
        domain={**request.domain, **declared},
        limits=NO_LIMITS,
        models=None,
        inference="exact",
    )
    names = _find_strata(graph, query, request.log)
    if not names:
        return _derive(table, request)
    sure = request.confidence
    request = replace(request, confidence=None if sure is None else 1 - (1 - sure) / _TABLES)
    finer = replace(
        request, query=EffectQuery(query.outcomes, query.treatments, query.context + names)
    )
    arms = derive_table(finer, {})
    return replace(_derive(table, request), by=names, arms=arms, within=_derive(arms, finer))


def _derive(table: BoundTable, request: BoundRequest) -> LoggedMeans:
    """Derive the means of the logging policy, as the effect of no treatment."""
    query, graph = request.query, request.graph
    no_arms = EffectQuery(query.outcomes, (), query.context)
    found = derive_table(replace(request, query=no_arms), {})
    columns = [other.columns for other in request.external]
    sizes = {name: len(table.levels[name]) for name in query.treatments}
    # Where selection may hide an arm, its share is not known.
    is_randomized = (
        not find_hidden(graph, no_arms, sizes, columns)
        and not open_walk(
            graph.without_edges_out_of(query.treatments),
            query.treatments,
            query.outcomes,
            given=query.context,
        )
        and _has_all_arms(table, request.log)
    )
    return LoggedMeans(found, is_randomized, graph.selection is not None)


def _find_strata(graph: CausalGraph, query: EffectQuery, log: Log) -> tuple[str, ...]:
    """The logged causes of selection that precede the treatment; none if they are too many."""
    if graph.selection is None:
        return ()
    asked = {*query.outcomes, *query.treatments, *query.context}
    known = graph.parents(graph.selection) - asked - graph.descendants(query.treatments)
    names = tuple(sort_names(known.intersection(log.columns)))
    return names if names and prod(log.count_levels(names).values()) <= _MOST_STRATA else ()


def _has_all_arms(table: BoundTable, log: Log) -> bool:
    """Whether every arm of the log has bounds; an expert's table may leave some out."""
    counts = log.count(table.treatments)
    levels = [counts.levels[name] for name in table.treatments]
    arms = set(table.arms)
    return all(
        tuple(of[code] for of, code in zip(levels, codes, strict=True)) in arms
        for codes in counts.codes.tolist()
    )
