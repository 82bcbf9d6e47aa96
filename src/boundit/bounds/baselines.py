"""The biased estimates the paper compares with: points, not bounds, and wrong by design.

They come as tables of intervals of no width, so that they can be read, saved and drawn like
bounds; their profile and a caveat say what they neglect.
"""

from boundit.bounds.assemble import assemble
from boundit.bounds.plan import BoundPlan
from boundit.bounds.plan_counts import count_for
from boundit.bounds.request import read_bandit_query
from boundit.bounds.rules.chain import Chain, KnownFormula
from boundit.counts.read import read_log
from boundit.estimand.criteria.adjustment_sets import find_adjustment
from boundit.estimand.language.expression import Expression, P, Product, Sum
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.bound import StepRecord
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import join_names

CP, BIASED = "condition only", "adjust for confounding only"


def condition_only(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    outcome_range: tuple[float, float] | None = None,
) -> BoundTable:
    """Estimate each arm by its logged mean in each context (CP): neglects both biases."""
    graph = require_graph(graph)
    asked = read_bandit_query(graph, query)
    given = frozenset(asked.treatments + asked.context)
    formula = P(frozenset(asked.outcomes), given, logged=graph.selection is not None)
    return _estimate(graph, asked, log, formula, CP, "neither bias is corrected", outcome_range)


def adjust_for_confounding_only(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    outcome_range: tuple[float, float] | None = None,
) -> BoundTable:
    """Estimate each arm by back-door adjustment, eq. 2, as if every row had been kept (Biased).

    It speaks of the arm alone: the context plays no part. Where no set of covariates satisfies
    Definition 2 the range is all there is.
    """
    graph = require_graph(graph)
    asked = read_bandit_query(graph, query)
    everyone = graph.induced(graph.observed)
    found = find_adjustment(everyone, treatments=asked.treatments, outcomes=asked.outcomes)
    if found is None:
        return _estimate(graph, asked, log, None, BIASED, "no covariates adjust", outcome_range)
    logged, z = graph.selection is not None, found.covariates
    given = frozenset(asked.treatments) | z
    inner = P(frozenset(asked.outcomes), given, logged=logged)
    formula = Sum(z, Product((inner, P(z, logged=logged)))) if z else inner
    why = f"adjusted for {join_names(z) or 'nothing'}; selection is not corrected"
    return _estimate(graph, asked, log, formula, BIASED, why, outcome_range)


def _estimate(
    graph: CausalGraph,
    query: EffectQuery,
    log: object,
    formula: Expression | None,
    profile: str,
    why: str,
    outcome_range: tuple[float, float] | None,
) -> BoundTable:
    """Make a table of intervals without width: one formula for every arm, and a caveat.

    ``why`` says what the formula neglects; without a formula the range is all there is.
    """
    caveat = f"this is a biased estimate, not a bound: {why}"
    rules = []
    if formula is not None:
        rules = [Chain(query, (), KnownFormula(formula, (StepRecord(why),)), profile)]
    plan = BoundPlan.of(graph, query, profile, rules, caveat)
    return assemble(plan, count_for(plan, read_log(log)), outcome_range=outcome_range)
