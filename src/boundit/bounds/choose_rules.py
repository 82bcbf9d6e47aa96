"""Which of a plan's rules are tried: the likeliest to win, judged by graph and levels alone.

Rewards and counts must have no say in the choice, or a confidence would not hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from boundit.bounds.confidence import collect_terms
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.refusals import name_rules, note_refused
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.errors import TooLarge
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.log import Log
from boundit.estimand.language.expression import P
from boundit.estimand.language.notation import write_text
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes

MOST_RULES = 3
"""With a confidence, how many rules share the error: each costs the others width."""
FEW_COLUMNS = 12
"""Up to so many columns a log is counted for all rules of a plan, whatever their levels."""
RANKED_COLUMNS = 16
"""With a confidence, how many columns are counted at most for rules that a pilot may rank."""
MANY_COLUMNS = 24
"""Without a confidence, how many columns are counted at most; rules that need more are left."""

POLICY = "the policy that learns"
"""The node by which ``draw_policy`` draws into a graph who chose the treatments."""

Rank: TypeAlias = tuple[int, int]


def rank_rule(rule: BoundRule, levels: Mapping[str, int]) -> Rank:
    """Rank a rule: fewest unknown variables first, then fewest cells that it reads.

    A rule with more of either is wider, or has fewer rows in each cell.
    """
    terms = collect_terms(rule.formulas)
    cells = sum(prod(levels[name] for name in term.of | term.given) for term in terms)
    return rule.n_unknown, cells


def choose_rules(plan: BoundPlan, levels: Mapping[str, int]) -> BoundPlan:
    """Keep the rules likeliest to win, judged by the graph and the levels alone.

    A reweighting of which nothing is known hardly ever beats conditioning, and costs error all
    the same; so do types that only limit a reweighting. Rewards must have no say, or the
    confidence would not hold.
    """
    worth = [p for p in plan.rules if not _is_refinement(p.rule)]
    tried = [p for p in worth if not _reweights_freely(p.rule)] or worth
    kept = sorted(tried, key=lambda planned: rank_rule(planned.rule, levels))[:MOST_RULES]
    return replace(plan, rules=tuple(kept))


def choose_columns(plan: BoundPlan, levels: Mapping[str, int], *, confident: bool) -> BoundPlan:
    """Keep the rules of a large plan that the log is counted for.

    With a confidence these are the rules whose cells get intervals, and those that a pilot may
    find sharper as long as they need few columns more; else the best ones, as long as they need
    few columns.
    """
    if confident:
        boxed = choose_rules(plan, levels).rules
        kept = [*boxed, *_choose_within(plan, levels, RANKED_COLUMNS)]
    else:
        kept = _choose_within(plan, levels, MANY_COLUMNS)
    chosen = replace(plan, rules=tuple(p for p in plan.rules if p in kept))
    gone = list_left_out(plan, chosen)
    if not gone or plan.complete:
        return chosen
    note = f"left out, as they read columns beyond those that are counted: {name_rules(gone)}"
    return replace(chosen, notes=(*plan.notes, note))


def drop_hopeless(
    plan: BoundPlan, levels: Mapping[str, int], workspace: Workspace
) -> BoundPlan:
    """Drop rules with a table that would not fit into memory, before anything is counted.

    The plan that comes back says which, and what would help.
    """
    kept, refused = list[PlannedRule](), dict[str, BaseException]()
    for planned in plan.rules:
        try:
            for term in collect_terms(planned.rule.formulas):
                cells = prod(levels[name] for name in term.free)
                workspace.require_cells(cells, term.free)
        except TooLarge as error:
            refused[planned.record.name] = error
        else:
            kept.append(planned)
    notes = (*plan.notes, *note_refused(refused))
    return replace(plan, rules=tuple(kept), notes=notes)


def keep_stable(plan: BoundPlan, log: Log, external: Sequence[Log] = ()) -> BoundPlan:
    """Keep the rules that read no law which changes while a policy learns.

    Nothing is left out unless a log is adaptive. The plan that comes back names what it leaves
    out, and the law that hangs on how treatments were chosen.
    """
    if not any(each.adaptive for each in (log, *external)):
        return plan
    laws = _LawsOfPolicies(plan, log, external)
    moved = [laws.find_moved(planned.rule) for planned in plan.rules]
    left_out = dict[P, list[str]]()
    for planned, term in zip(plan.rules, moved, strict=True):
        if term is not None:
            left_out.setdefault(term, []).append(planned.record.name)
    notes = [
        f"left out, as {write_text(term)} changed while the policy learned: {name_rules(names)}"
        for term, names in left_out.items()
    ]
    kept = (p for p, term in zip(plan.rules, moved, strict=True) if term is None)
    return replace(plan, rules=tuple(kept), notes=(*plan.notes, *notes))


def draw_policy(graph: CausalGraph, treatments: Sequence[str]) -> CausalGraph:
    """Draw a policy into a graph, as a cause of its treatments and of no more."""
    return CausalGraph.of(
        [*graph.nodes, POLICY],
        directed=[*graph.directed, *((POLICY, name) for name in treatments)],
        bidirected=graph.bidirected,
        selection=graph.selection,
    )


class _LawsOfPolicies:
    """Which laws of adaptive logs change with the policy that chooses a plan's treatments.

    The policy is drawn into the graph, as a cause of the query's treatments and of no more. A
    law ``P(of | given)`` is the same whatever it does where ``given`` separates the two.
    """

    def __init__(self, plan: BoundPlan, log: Log, external: Sequence[Log]) -> None:
        self._drawn = draw_policy(plan.graph, plan.query.treatments)
        self._log_adapts = log.adaptive
        self._tables = [frozenset(each.columns) for each in external if each.adaptive]
        self._moved = dict[P, bool]()

    def find_moved(self, rule: BoundRule) -> P | None:
        """Find the first term of a rule's formulas whose law changes with the policy."""
        for term in sorted(collect_terms(rule.formulas), key=lambda term: term.rank):
            if term not in self._moved:
                self._moved[term] = self._is_moved(term)
            if self._moved[term]:
                return term
        return None

    def _is_moved(self, term: P) -> bool:
        """Tell whether a term is read off an adaptive log and hangs on the policy.

        Without selection the log is the population, and no external table is read.
        """
        selection = self._drawn.selection
        of_log = term.logged or selection is None
        if not (self._log_adapts if of_log else any(term.free <= t for t in self._tables)):
            return False
        chosen = {selection} if term.logged and selection is not None else set()
        return bool(open_walk(self._drawn, term.of, POLICY, given=term.given | chosen))


def _choose_within(plan: BoundPlan, levels: Mapping[str, int], most: int) -> list[PlannedRule]:
    """Choose rules from the best on, as long as all of them together need few columns.

    The best one is kept, whatever it needs.
    """
    kept, needed = list[PlannedRule](), Nodes()
    for planned in sorted(plan.rules, key=lambda p: rank_rule(p.rule, levels)):
        wider = needed | planned.rule.needs
        if not kept or len(wider) <= most:
            kept, needed = [*kept, planned], wider
    return kept


def keep_smallest(plan: BoundPlan, n_rules: int) -> BoundPlan:
    """Keep the rules that need the fewest columns."""
    kept = sorted(plan.rules, key=lambda p: (len(p.rule.needs), p.rule.n_unknown))[:n_rules]
    return replace(plan, rules=tuple(p for p in plan.rules if p in kept))


def list_left_out(before: BoundPlan, after: BoundPlan) -> list[str]:
    """List the names of rules that one plan has and another has not."""
    kept = {planned.record.name for planned in after.rules}
    return [p.record.name for p in before.rules if p.record.name not in kept]


def _is_refinement(rule: BoundRule) -> bool:
    """Tell whether a rule only limits the reweighting of another rule a little more."""
    return isinstance(rule, ReweightedTypes) and rule.limits_reweighting


def _reweights_freely(rule: BoundRule) -> bool:
    """Tell whether a rule reweights the log with no fact and no table to say by how much."""
    supposed = rule.reweightings
    return bool(supposed) and not any(each.facts or each.tables for each in supposed)
