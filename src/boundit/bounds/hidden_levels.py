"""Variables of which selection left one value: the log cannot tell what was filtered out.

No rule can reckon with levels that were not declared. Where a variable has two or more values in
the log, that there are no others is an assumption. Where it has one and selection depends on it,
the others were filtered out, or it does not vary: a rule that reads it would take the part of
the population that was kept for all of it. An unselected table that has the variable shows all
its levels, and so does a variable that is independent of selection.
"""

from collections.abc import Collection, Iterable, Mapping

from boundit.core.names import Nodes
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk


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
