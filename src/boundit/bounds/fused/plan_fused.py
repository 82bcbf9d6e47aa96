"""The plan of a bound table: the cells in which rows of its log and rounds count together."""

from collections.abc import Sequence
from dataclasses import replace

from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.fused.count_plan import PlanCounter
from boundit.bounds.fused.pooled_law import LawReader
from boundit.bounds.fused.search import SchemeSearch
from boundit.bounds.plan import BoundPlan
from boundit.bounds.refusals import LIMITS
from boundit.terms.bound import Key
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan
from boundit.terms.names import join_names


def plan_fused(
    plan: BoundPlan, evidence: BoundEvidence, pairs: Sequence[Key]
) -> FusedPlan | NoFusedPlan:
    """Plan the cells in which rows of the log and rounds count together, or say why not.

    It reads the counts that the bounds were made from, and nothing else; bounds do not hang on
    it.
    """
    if (refusal := _find_refusal(plan, evidence)) is not None:
        return NoFusedPlan(refusal)
    table, workspace = evidence.rewards.table, evidence.evaluator.workspace
    selected = plan.graph.selection is not None
    others = [other.table for other in evidence.population] if selected else []
    external = [other for other in others if not other.exact]
    reader = LawReader(
        plan.graph,
        plan.query,
        adaptive=table.adaptive,
        tables=[other.names for other in external],
    )
    search = SchemeSearch(
        reader, table.names - plan.hidden, table.n_levels, len(pairs), workspace.budget
    )
    scheme = search.find()
    if scheme is None:
        return NoFusedPlan(_explain_none(search))
    try:
        found = PlanCounter(reader, evidence.rewards, external).count(scheme, pairs)
    except LIMITS:
        return NoFusedPlan("memory or time did not suffice to count it")
    if len(external) == len(others):
        return found
    unread = "an external table that is an exact law has no rows, and is not counted"
    return replace(found, reasons=(*found.reasons, unread))


def _find_refusal(plan: BoundPlan, evidence: BoundEvidence) -> str | None:
    """Say why rows of a log cannot count as draws, whatever the graph; None where they can."""
    if not plan.is_sound:
        return f"the profile {plan.profile!r} makes intervals alone; derive them as 'sound'"
    if evidence.rewards.table.exact:
        return "an exact law has no rows to count; pass a log of rows"
    query = plan.query
    if hidden := plan.hidden.intersection(query.outcomes + query.treatments + query.context):
        return f"selection may have left one value of {join_names(hidden)} in the log"
    if evidence.is_clustered:
        return "rows of a cluster belong together, so that they are no draws of their own"
    return None


def _explain_none(search: SchemeSearch) -> str:
    """Say why there is no scheme: no room, no time, or what rows tell of the reward."""
    if not search.has_room():
        return f"{search.n_pairs:,} pairs of arm and context have too many cells to count in"
    if search.budget.is_over():
        return "the time was over before one was found"
    reader = search.reader
    outcomes = frozenset(reader.query.outcomes)
    why = reader.explain_refusal(reader.find_law(outcomes))
    logged = search.names - reader.graph.require(reader.query.treatments)
    others = logged.difference(reader.query.context, outcomes)
    words = f", and given {join_names(others)} rows are no better" if others else ""
    return f"rows of the log are no draws of {join_names(outcomes)} under an arm: {why}{words}"
