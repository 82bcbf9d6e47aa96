"""Adjustment sets of an effect: whether covariates are one, and which there are.

Without a context by the generalized adjustment criterion (``criteria.adjustment``), with one by
``criteria.context_adjustment``.
"""

from collections.abc import Iterator

from boundit.estimand.criteria.adjustment import Adjustment, adjusts
from boundit.estimand.criteria.adjustment_sets import (
    find_unselected_part,
    list_adjustments,
    list_minimal_adjustments,
)
from boundit.estimand.criteria.context_adjustment import (
    adjusts_in_context,
    list_context_adjustments,
)
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.names import Names
from boundit.terms.verdict import Verdict


def is_adjustment_set(
    graph: GraphLike, query: EffectQuery | str, covariates: Names, *, external: Names = ()
) -> Verdict:
    """Judge whether ``covariates`` are an adjustment set for the effect that ``query`` asks for.

    Parameters
    ----------
    graph
        The causal graph.
    query
        The effect, as in ``"Y | do(X)"`` or ``"Y | do(X), C"``.
    covariates
        The variables to adjust for.
    external
        Variables that are also measured without selection; with a context, together.

    Returns
    -------
    Verdict
        Whether it holds, by which criterion, and if not the path that is open.

    Examples
    --------
    >>> graph = "Z -> X -> Y; Z -> Y; Z -> [S]"
    >>> print(is_adjustment_set(graph, "Y | do(X)", "Z", external="Z"))
    yes, by GACT2: every non-causal path is blocked, and selection tells nothing of the outcome
    >>> print(is_adjustment_set(graph, "Y | do(X)", "Z"))
    no, by Theorem 1 (GACT1) (c): selection depends on the outcome [Y <- Z -> S]
    """
    graph, asked = _read(graph, query)
    roles = {"treatments": asked.treatments, "outcomes": asked.outcomes}
    if asked.context:
        return adjusts_in_context(
            graph, covariates=covariates, **roles, context=asked.context, table=external
        )
    part = find_unselected_part(graph, covariates=covariates, **roles, external=external)
    return adjusts(graph, covariates=covariates, **roles, external=part)


def adjustment_sets(
    graph: GraphLike,
    query: EffectQuery | str,
    *,
    external: Names = (),
    within: Names | None = None,
    minimal: bool = True,
) -> Iterator[Adjustment]:
    """List the adjustment sets of the effect that ``query`` asks for.

    Parameters
    ----------
    graph
        The causal graph.
    query
        The effect, as in ``"Y | do(X)"`` or ``"Y | do(X), C"``.
    external
        Variables that are also measured without selection; with a context, together.
    within
        Variables that may be adjusted for; all observed ones by default.
    minimal
        Whether sets that hold a smaller one are left out.

    Yields
    ------
    Adjustment
        ``covariates``, and ``external``, those of them whose distribution is read off the
        external data.

    Examples
    --------
    >>> graph = "A -> B -> X -> Y; A -> Y"
    >>> [sorted(found.covariates) for found in adjustment_sets(graph, "Y | do(X)")]
    [['B'], ['A']]
    >>> sets = adjustment_sets(graph, "Y | do(X)", minimal=False)
    >>> [sorted(found.covariates) for found in sets]
    [['A', 'B'], ['A'], ['B']]
    """
    graph, asked = _read(graph, query)
    roles = {"treatments": asked.treatments, "outcomes": asked.outcomes}
    if asked.context:
        return list_context_adjustments(
            graph,
            **roles,
            context=asked.context,
            external=external,
            within=within,
            minimal=minimal,
        )
    list_sets = list_minimal_adjustments if minimal else list_adjustments
    return list_sets(graph, **roles, external=external, within=within)


def _read(graph: GraphLike, query: EffectQuery | str) -> tuple[CausalGraph, EffectQuery]:
    """Read graph and query, and refuse variables that the graph lacks."""
    graph = require_graph(graph)
    asked = parse_query(query) if isinstance(query, str) else query
    asked.require_in(graph)
    return graph, asked
