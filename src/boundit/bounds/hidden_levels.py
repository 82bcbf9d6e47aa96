"""Variables of which selection left one value: the log cannot tell what was filtered out.

No rule can reckon with levels that nobody named. Where a variable has two or more values in the
log, that there are no others is an assumption. Where it has one and selection depends on it,
the others were filtered out, or it is no variable: a rule that reads it would take the part of
the population that was kept for all of it. An unselected table that has the variable shows all
its levels, and so does a variable that is independent of selection.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from boundit.bounds.plan import BoundPlan
from boundit.bounds.plan_counts import PlanCounts
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.message import CRITICAL, SOME, Message, Note, Option
from boundit.terms.names import Nodes, sort_names


def find_hidden(
    graph: CausalGraph,
    query: EffectQuery,
    levels: Mapping[str, int],
    unselected: Iterable[Collection[str]] = (),
) -> Nodes:
    """Find the variables with one level whose other levels selection may have filtered out.

    ``levels`` says how many there are, ``unselected`` which variables each external table has.
    A cause of selection is one, and so is what goes with selection in any way, but for what is
    asked about: rules take that as it was logged.
    """
    if graph.selection is None:
        return frozenset()
    single = {name for name, n in levels.items() if n == 1 and name in graph.observed}
    single = single.difference(*unselected)
    asked = {*query.outcomes, *query.treatments, *query.context}
    causes = graph.selecting()
    return frozenset(
        name
        for name in single
        if name in causes
        or (name not in asked and open_walk(graph, name, graph.selection) is not None)
    )


def drop_hidden(
    plan: BoundPlan, levels: Mapping[str, int], unselected: Iterable[Collection[str]] = ()
) -> BoundPlan:
    """Drop the rules of a plan that read a variable whose other levels may be hidden.

    The plan that comes back names such variables.
    """
    hidden = plan.hidden | find_hidden(plan.graph, plan.query, levels, unselected)
    kept = tuple(planned for planned in plan.rules if not planned.rule.needs & hidden)
    return replace(plan, rules=kept, hidden=hidden)


def count_values(
    counts: PlanCounts, declared: Mapping[str, Collection[object]]
) -> dict[str, int]:
    """Count the levels of all variables that were counted, the reward among them.

    Of the reward no more is told than whether it has one value.
    """
    log, levels = counts.log, dict(counts.log.n_levels)
    if log.reward is not None and log.lowest is not None and log.highest is not None:
        seen = {*np.unique([log.lowest, log.highest]).tolist()}
        levels[log.reward] = len(seen.union(declared.get(log.reward, ())))
    return levels


def note_critical(hidden: Nodes) -> Iterator[Note]:
    """Yield the caveat on each variable whose other levels may be hidden."""
    for name in sort_names(hidden):
        yield Message(
            f"{CRITICAL}{name} has one value in the log, and selection can have filtered out "
            "others: no rule reads it, and intervals are as wide as that leaves them; name all "
            "its values with ",
            Option("domain", {name: [SOME]}),
        )
