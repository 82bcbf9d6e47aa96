"""Which covariates the models take: a set that adjusts, without what tells nothing of rewards.

Of all sets that adjust in context the widest is taken first, and from it every covariate is
dropped of which the reward is independent given the others. The formula stays the same number.
What is dropped predicts the arm alone: it would make propensities small and intervals wide.
What only rewards depend on stays, as it makes them narrow.
"""

from collections.abc import Iterable, Iterator

from boundit.core.names import Nodes, sort_names
from boundit.estimand.context_adjustment import ContextAdjustment, adjusts_in_context
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_connected_nodes, open_walk
from boundit.graph.separators import find_separator


def find_model_adjustment(
    graph: CausalGraph, query: EffectQuery, columns: Iterable[str], tables: Iterable[Nodes]
) -> ContextAdjustment | None:
    """Find the covariates for models among the ``columns`` of the log; None if none adjust.

    Their weights come from the log where they can, else from the first of the unselected
    ``tables`` that holds them and the contexts.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> graph = parse("I -> X; Z -> X -> Y; Z -> Y; R -> Y")
    >>> found = find_model_adjustment(graph, parse_query("Y | do(X)"), "IRZ", [])
    >>> sorted(found.covariates)
    ['R', 'Z']
    """
    x, y, c = (frozenset(names) for names in (query.treatments, query.outcomes, query.context))
    if c & graph.descendants(x):
        return None
    s = frozenset((graph.selection,)) if graph.selection else frozenset[str]()
    free = graph.observed.intersection(columns) - graph.descendants(x) - y - c - s
    behind = graph.without_edges_out_of(x)
    for usable, table in _list_sources(graph, s, free, c, tables):
        found = find_separator(behind, y, x | s, include=c, within=usable)
        if found is not None:
            widest = ContextAdjustment(found - c, table)
            return _drop_irrelevant(graph, query, widest)
    return None


def _list_sources(
    graph: CausalGraph, s: Nodes, free: Nodes, c: Nodes, tables: Iterable[Nodes]
) -> Iterator[tuple[Nodes, Nodes]]:
    """List what may be adjusted for with weights of the log, then with those of each table."""
    yield free - find_connected_nodes(graph, s, given=c), frozenset()
    for table in tables:
        if s and c <= table:
            yield free & table, table


def _drop_irrelevant(
    graph: CausalGraph, query: EffectQuery, widest: ContextAdjustment
) -> ContextAdjustment:
    """Drop one by one the covariates that tell nothing of rewards given all the others."""
    kept, known = widest.covariates, {*query.treatments, *query.context}
    for name in sort_names(kept):
        fewer = kept - {name}
        if open_walk(graph, name, query.outcomes, given=known | fewer):
            continue
        if adjusts_in_context(
            graph,
            covariates=fewer,
            treatments=query.treatments,
            outcomes=query.outcomes,
            context=query.context,
            table=widest.table,
        ):
            kept = fewer
    return ContextAdjustment(kept, widest.table)
