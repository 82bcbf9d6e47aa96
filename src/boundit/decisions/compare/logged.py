r"""What the log did, in every context: the mean reward of everyone, as the log's world goes on.

It is :math:`E[Y \mid c]` of the population. Without selection that is the mean of the rows, and
under selection whatever the rules of bounds can say of it: they are asked for the effect of no
treatment at all. Its unknowns are those of a table of its own, so against the bounds of arms
its ends are subtracted.

Where arms were chosen by nothing that also moves the reward, given the context (Rule 2 of the
do-calculus), the log is a lottery over the arms in each context: its mean lies between the
least and the greatest mean of an arm, whatever selection did. Then each arm in turn stands for
the log, under the same unknowns as the bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import final

from boundit.bounds.derive import derive_table
from boundit.bounds.request import read_request
from boundit.counts.log import Log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.interval import Interval


@final
@dataclass(frozen=True, eq=False)
class LoggedMeans:
    """What the log did in each context, and whether it was a lottery over the arms there."""

    table: BoundTable
    is_lottery: bool
    is_selected: bool

    def find(self, context: Context) -> Interval:
        """Find what the log's own visitors of a context earned. Called by ``_add_logged``."""
        return self.table[(), context]


def bound_logged(
    graph: CausalGraph,
    table: BoundTable,
    log: object,
    *,
    confidence: float | None,
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    sensitivity: float | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
) -> LoggedMeans:
    """Bound what the log did in every context of a table of bounds.

    Options are those of ``derive_bounds``. Called by ``compare`` where what the log did is one
    of its sides.
    """
    query = EffectQuery((table.outcome,), table.treatments, table.context)
    request = read_request(
        graph,
        query,
        log,
        confidence=confidence,
        external=external,
        selection_rate=selection_rate,
        sensitivity=sensitivity,
        reward_range=table.reward_range,
        domain={name: table.levels[name] for name in table.context},
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    no_arms = EffectQuery(query.outcomes, (), query.context)
    found = derive_table(replace(request, query=no_arms), {})
    is_lottery = _is_lottery(graph, query) and _has_all_arms(table, request.log)
    return LoggedMeans(found, is_lottery, graph.selection is not None)


def _is_lottery(graph: CausalGraph, query: EffectQuery) -> bool:
    """Tell whether seeing an arm in a context is as good as setting it, in the population.

    Called by ``bound_logged``.
    """
    cut = graph.without_edges_out_of(query.treatments)
    return not open_walk(cut, query.treatments, query.outcomes, given=query.context)


def _has_all_arms(table: BoundTable, log: Log) -> bool:
    """Tell whether every arm of the log has bounds; an expert's table may leave some out.

    Called by ``bound_logged``.
    """
    counts = log.count(table.treatments)
    levels = [counts.levels[name] for name in table.treatments]
    arms = set(table.arms)
    return all(
        tuple(of[code] for of, code in zip(levels, codes, strict=True)) in arms
        for codes in counts.codes.tolist()
    )
