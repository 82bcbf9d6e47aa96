"""From a plan and counts to the finished table."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from boundit.bounds.approximate.approximate_rules import ApproximateRules
from boundit.bounds.choose_rules import choose_rules
from boundit.bounds.claims.claim_finder import ClaimCounts, ClaimFinder
from boundit.bounds.claims.claim_rules import (
    CONTRAST_SHARE,
    ClaimPlan,
    explain_boxes,
    find_forms,
    plan_claims,
)
from boundit.bounds.claims.few_cells import FewCells, find_few, share_few
from boundit.bounds.confidence import ConfidentNumbers, collect_extremes
from boundit.bounds.contrasts.contrast_claims import ContrastFinder
from boundit.bounds.contrasts.contrast_cost import find_contrast_cost
from boundit.bounds.contrasts.table import collect_contrasts, find_shared
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.fused.plan_fused import plan_fused
from boundit.bounds.intersect import EndsCross, find_intervals, intersect_rules
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.models.modelled_rule import OTHERS_SHARE, find_with_models
from boundit.bounds.numbers import Numbers, PlugInNumbers
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.refusals import LIMITS
from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.try_rules import EndFinder, try_rules
from boundit.counts.formulas.workspace import Workspace
from boundit.terms.bound import Bound, Key
from boundit.terms.bound_table import PLAIN, BoundTable
from boundit.terms.contrast import Pair
from boundit.terms.errors import BounditError
from boundit.terms.found_later import FoundLater
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan
from boundit.terms.interval import Interval
from boundit.terms.long_work import Progress, say_nothing
from boundit.terms.message import Message, Note, Option
from boundit.terms.names import join_names
from boundit.terms.sampling import Inference

OVER = Message(
    Option("time_limit"), " was over before all arms were compared and rows explained"
)
MOST_COMPARED = 200
"""Up to how many rows a table tells what the other method to allow for chance would give."""
MOST_KEPT = 10_000
"""Up to how many counted cells a table holds on to, until somebody asks for that."""
MOST_COMPARED_NOW = 20
"""Up to how many rows both methods are compared at once, where more cells were counted."""
ROW_BYTES = 2_000
"""What a row of a table takes, with its reasons."""


class TooManyRows(BounditError):
    """A table with more rows than fit into memory."""

    def __init__(self, axes: Sequence[str], rows: int, limit: int) -> None:
        self.axes, self.rows = tuple(axes), rows
        super().__init__(
            f"a table of {join_names(axes)} has {rows:,} rows, ",
            Option("memory_limit"),
            f" allows {limit:,}; ask for fewer contexts, group their levels, or raise it",
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """The rules that are tried, and how.

    ``boxed`` are those whose formulas ``numbers`` can read: estimates, or intervals of cells.
    ``finder`` finds ends that allow for chance, and is None for estimates. ``contrasts`` finds
    differences of arms by claims, if there are any. ``reasons`` say by rule why cells have
    intervals of their own, where nothing else can be.
    """

    plan: BoundPlan
    boxed: BoundPlan
    numbers: Numbers
    finder: EndFinder | None
    contrasts: ContrastFinder | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


def assemble(
    plan: BoundPlan,
    counts: PlanCounts,
    *,
    outcome_range: tuple[float, float] | None = None,
    confidence: float | None = None,
    inference: Inference = "exact",
    modelled: PlannedRule | None = None,
    compared: bool = False,
    online: bool = True,
    notes: Sequence[Note] = (),
    workspace: Workspace | None = None,
    progress: Progress = say_nothing,
) -> BoundTable:
    """Try every rule of the plan on the counts and keep the best ends, as a bound table.

    A rule is one way to bound the rewards that the graph justifies. ``plan`` and ``counts`` are
    left as they are, so that it can be called again. ``inference`` is how a ``confidence``
    allows for chance; if ``compared``, a small table says what the other inference would give.
    ``modelled`` is a rule that models were fitted for, which shares the error with the others.
    Unless ``online``, nothing is looked for that a policy could go on learning. ``notes`` go to
    the table's caveats. Rules that the ``workspace`` has no memory or time for are left out,
    and the table says so. ``progress`` hears of every rule.
    """
    evidence = BoundEvidence.from_counts(plan, counts, outcome_range, workspace)
    _require_room(plan, evidence)
    trial = Trial(plan, plan, PlugInNumbers(evidence.evaluator), None)
    if confidence is not None:
        trial = _make_trial(plan, evidence, confidence, inference, modelled)
    if evidence.log.exact or trial.finder:
        require_possible(trial.boxed, trial.numbers)
    bounds, of_rules = _bound_rows(trial, evidence, progress)
    progress("compare arms", 0, 1)
    contrasts = _bound_contrasts(trial, evidence, bounds)
    cost = _find_cost(trial, evidence)
    fused = plan_fused(plan, evidence, tuple(bounds)) if online else PLAIN
    late = (OVER,) if evidence.evaluator.workspace.budget.is_over() else ()
    of_tables = dict.fromkeys(note for table in counts.tables for note in table.notes)
    said = (*plan.notes, *notes, *of_rules, *late, *of_tables)
    winners = _keep_winners(plan, trial, bounds, inference)
    at = confidence if compared else None
    others = _compare_later(winners, evidence, counts, outcome_range, at, inference)
    levels, query = evidence.log.levels, plan.query
    return BoundTable(
        outcome=query.outcomes[0],
        treatments=query.treatments,
        context=query.context,
        levels={name: levels[name] for name in query.treatments + query.context},
        outcome_range=evidence.outcome_range,
        bounds=bounds,
        contrasts=contrasts,
        joint=cost == 0,
        contrast_cost=cost,
        pooling=fused,
        bins=_collect_bins(query.treatments + query.context, counts, fused),
        rules={planned.record.name: planned.record for planned in trial.plan.rules},
        profile=plan.profile,
        confidence=confidence,
        inference=inference,
        others=others,
        caveats=tuple(map(str, said)),
        complete=plan.complete and not of_rules and not late,
        notes=said,
    )


def _find_cost(trial: Trial, evidence: BoundEvidence) -> float:
    """Find what differences of arms cost beside the intervals, in units of the error of rows.

    Estimates cost nothing.
    """
    if not isinstance(trial.numbers, ConfidentNumbers):
        return 0.0
    boxed, sizes = [p.rule for p in trial.boxed.rules], evidence.evaluator.levels
    return find_contrast_cost(trial.numbers.extremes, boxed, trial.plan.query, sizes)


def _collect_bins(
    named: Sequence[str],
    counts: PlanCounts,
    fused: FusedPlan | NoFusedPlan,
) -> dict[str, tuple[float, ...]]:
    """Collect the edges of all variables in bins that a table, or a policy with it, speaks of.

    ``named`` are those of the query; a policy is told others by their numbers.
    """
    asked = fused.variables if isinstance(fused, FusedPlan) else ()
    bins = counts.log.bins
    return {name: bins[name] for name in dict.fromkeys((*named, *asked)) if name in bins}


def _make_trial(
    plan: BoundPlan,
    evidence: BoundEvidence,
    confidence: float,
    inference: Inference,
    modelled: PlannedRule | None = None,
) -> Trial:
    """Choose the rules to try at a confidence, and what finds their ends by a method.

    A rule of models comes before all others, and takes most of the error.
    """
    if modelled is not None:
        error = 1 - confidence
        trial = _make_trial(plan, evidence, 1 - OTHERS_SHARE * error, inference)
        assert trial.finder is not None
        finder = partial(find_with_models, modelled, trial.finder, (1 - OTHERS_SHARE) * error)
        rules = (modelled, *trial.plan.rules)
        return replace(trial, plan=replace(trial.plan, rules=rules), finder=finder)
    if inference == "approximate":
        return _approximate(plan, evidence, confidence)
    return _allow_for_chance(plan, evidence, confidence)


def _allow_for_chance(plan: BoundPlan, evidence: BoundEvidence, confidence: float) -> Trial:
    """Choose the rules that are tried with a confidence, their boxes, and what finds ends.

    Where some rule is a sum, claims get most of the error and boxes little; else boxes get all
    of it, and so they do where rows of an adaptive log hang on each other.
    """
    levels, error = evidence.evaluator.levels, 1 - confidence
    boxed = choose_rules(plan, levels)
    rules = [planned.rule for planned in boxed.rules]
    numeric, adaptive = evidence.is_numeric, evidence.is_adaptive
    forms = find_forms(plan, numeric=numeric)
    reasons = explain_boxes(boxed, forms, adaptive=adaptive)
    # A claim on a whole sum is for independent rows.
    claims = None if adaptive else plan_claims(plan, forms, levels, evidence.log.rows)
    if claims is None:
        boxes = evidence.make_confident(rules, confidence)
        return Trial(boxed, boxed, boxes, partial(try_rules, boxes), reasons=reasons)
    share = claims.share_with(boxed)
    boxes = evidence.make_confident(rules, 1 - share * error)
    names = [planned.record.name for planned in boxed.rules]
    kept = tuple(p for p in plan.rules if p.record.name in claims.names.union(names))
    counts = ClaimCounts(evidence, larger=claims.has_multipliers)
    contrasts = ContrastFinder(claims, plan, counts, CONTRAST_SHARE * error)
    spent = CONTRAST_SHARE if contrasts.has_claims else 0.0
    compare = contrasts if contrasts.has_claims else None
    few = None if numeric else _share_out(claims, counts, error, spent)
    if few is not None:
        return _favour_boxes(few, claims, plan, boxed, counts, compare, confidence)
    finder = ClaimFinder(claims, counts, (1 - share - spent) * error, boxes, names)
    return Trial(replace(plan, rules=kept), boxed, boxes, finder.find, compare, reasons)


def _share_out(
    claims: ClaimPlan, counts: ClaimCounts, error: float, spent: float
) -> FewCells | None:
    """Share the error out cell by cell where a sum goes over few cells.

    None where it does not, and where memory or time is over: shares of the whole table hold as
    well.
    """
    evaluator = counts.evidence.evaluator
    form = find_few(claims, evaluator.levels)
    if form is None:
        return None
    try:
        sources, space = counts.split(1), evaluator.workspace
        found = share_few(form, sources, evaluator.levels, space, error, spent)
        # Another rule may read more of the log than its rewards.
        if not found.look or (found.look == 1 and len(claims.rules) > 1):
            return found
        sources = counts.look_further(form.last.term.given, found.look)
        return share_few(form, sources, evaluator.levels, space, error, spent)
    except LIMITS:
        return None


def _favour_boxes(
    few: FewCells,
    claims: ClaimPlan,
    plan: BoundPlan,
    boxed: BoundPlan,
    counts: ClaimCounts,
    contrasts: ContrastFinder | None,
    confidence: float,
) -> Trial:
    """Make the trial of a sum over few cells, whose boxes have errors cell by cell.

    Other rules compute the same number, and have boxes if they read no other cells; they lend
    them to the rule with claims if there is one alone.
    """
    rules = (p for p in boxed.rules if few.cells.keys() >= collect_extremes([p.rule]).keys())
    kept = replace(boxed, rules=tuple(rules))
    terms = dict.fromkeys(few.cells, frozenset[str]())
    boxes = counts.evidence.make_confident_of(terms, confidence, few.cells)
    names = [planned.record.name for planned in kept.rules]
    finder = ClaimFinder(claims, counts, few.row_errors, boxes, names)
    if len(claims.rules) > 1:
        tried = tuple(p for p in plan.rules if p.record.name in claims.names.union(names))
        return Trial(replace(plan, rules=tried), kept, boxes, finder.find, contrasts)
    own = replace(plan, rules=(claims.rules[0].planned,))
    return Trial(own, kept, boxes, partial(finder.find_among, kept.rules), contrasts)


def _approximate(plan: BoundPlan, evidence: BoundEvidence, confidence: float) -> Trial:
    """Choose the rules that are formulas, and what finds their ends by the normal law.

    Rules of other kinds keep exact ends with a share of the error, and so do differences of
    arms; rows with few rewards keep those that the exact method would give. Where rows belong
    together, nothing else than formulas is tried.
    """
    near = ApproximateRules(plan, evidence, 1 - confidence)
    if evidence.is_clustered:
        none = replace(plan, rules=())
        formulas = near.add_formulas(())
        numbers = PlugInNumbers(evidence.evaluator)  # nobody reads them
        finder = partial(near.find, None, (), whole=None, alone=())
        return Trial(formulas, none, numbers, finder)
    exact = _allow_for_chance(plan, evidence, 1 - near.exact_error)
    whole = _allow_for_chance(plan, evidence, confidence)
    tried, alone = exact.plan.rules, whole.plan.rules
    finder = partial(near.find, exact.finder, tried, whole=whole.finder, alone=alone)
    return replace(exact, plan=near.add_formulas((*tried, *alone)), finder=finder)


def _keep_winners(
    plan: BoundPlan, trial: Trial, bounds: Mapping[Key, Bound], inference: Inference
) -> BoundPlan:
    """Keep the rules that gave some end, of those tried; all of the ``plan`` if approximate.

    No approximate row is wider than the exact method makes it, which tries them all.
    """
    if inference == "approximate":
        return plan
    won = {name for bound in bounds.values() for name in (bound.lower_rule, bound.upper_rule)}
    return replace(plan, rules=tuple(p for p in trial.plan.rules if p.record.name in won))


def _compare_later(
    plan: BoundPlan,
    evidence: BoundEvidence,
    counts: PlanCounts,
    outcome_range: tuple[float, float] | None,
    confidence: float | None,
    inference: Inference,
) -> Mapping[Key, Interval]:
    """Leave it to whoever reads it to find what the other way to allow for chance would give.

    They have the time that is left now. Where many cells were counted, it is found at once, so
    that no table holds them. Empty for tables of more than a few rows, without a confidence,
    and where rows of the log are not independent: then one way alone holds.
    """
    space = evidence.evaluator.workspace
    dependent = evidence.is_clustered or evidence.is_adaptive
    if confidence is None or dependent or space.budget.is_over():
        return {}
    kept = sum(len(table.n) for table in counts.tables) <= MOST_KEPT
    if _count_rows(plan, evidence) > (MOST_COMPARED if kept else MOST_COMPARED_NOW):
        return {}
    # Seconds of a part of a budget start to run when they are first asked for.
    space = replace(space, budget=space.budget.share(1.0))
    other: Inference = "approximate" if inference == "exact" else "exact"
    find = partial(_compare, plan, counts, outcome_range, confidence, other, space)
    return FoundLater(find) if kept else find()


def _compare(
    plan: BoundPlan,
    counts: PlanCounts,
    outcome_range: tuple[float, float] | None,
    confidence: float,
    inference: Inference,
    workspace: Workspace,
) -> Mapping[Key, Interval]:
    """Find the intervals that one way to allow for chance would give by the rules of a plan.

    None where memory or time is over: a comparison less, but the ends hold.
    """
    evidence = BoundEvidence.from_counts(plan, counts, outcome_range, workspace)
    try:
        trial = _make_trial(plan, evidence, confidence, inference)
        finder = trial.finder or partial(try_rules, trial.numbers)
        return find_intervals(trial.plan, finder, evidence.log, evidence.outcome_range)
    except LIMITS:
        return {}


def _bound_rows(
    trial: Trial, evidence: BoundEvidence, progress: Progress
) -> tuple[dict[Key, Bound], tuple[Note, ...]]:
    """Intersect the rules into a bound for every arm and context, with notes on the table.

    Where lower ends exceed upper ones, the facts stated about selection and the limits on
    confounding are blamed if there are any (``FactsRefuted``), else the graph.
    """
    try:
        return intersect_rules(
            trial.plan,
            evidence.evaluator,
            evidence.log,
            evidence.outcome_range,
            finder=trial.finder,
            boxes=[trial.reasons.get(p.record.name) for p in trial.plan.rules],
            progress=progress,
        )
    except EndsCross:
        # Rules that hold whatever is stated cross because of the graph; else who knows.
        facts = (each.statement for each in _list_stated(trial.plan))
        limits = (said for p in trial.plan.rules for said in p.rule.confounding_limits)
        if stated := "; ".join(dict.fromkeys((*facts, *limits))):
            raise FactsRefuted(stated) from None
        raise


def _bound_contrasts(
    trial: Trial, evidence: BoundEvidence, bounds: Mapping[Key, Bound]
) -> Mapping[Pair, float]:
    """Bound how much better one arm can be than another, by what both share.

    Two arms and a context map to the greatest difference. Only rules of a sound plan prove any,
    and none is begun when time is over.
    """
    plan, numbers = trial.boxed, trial.numbers
    if numbers.workspace.budget.is_over():
        return {}
    rules = [planned.rule for planned in plan.rules] if plan.is_sound else []
    shared = [found for rule in rules if (found := find_shared(rule, plan.graph))]
    return collect_contrasts(
        shared,
        numbers,
        plan.query,
        evidence.log.levels,
        bounds,
        evidence.outcome_range,
        claimed=trial.contrasts.find() if trial.contrasts else None,
        budget=numbers.workspace.budget,
    )


def _require_room(plan: BoundPlan, evidence: BoundEvidence) -> None:
    """Refuse a table with more rows than memory has room for, before any is made."""
    rows, workspace = _count_rows(plan, evidence), evidence.evaluator.workspace
    if rows * ROW_BYTES > workspace.memory_limit:
        axes = plan.query.treatments + plan.query.context
        raise TooManyRows(axes, rows, workspace.memory_limit // ROW_BYTES)


def _count_rows(plan: BoundPlan, evidence: BoundEvidence) -> int:
    """Count the rows of a table: an arm in a context each."""
    axes = plan.query.treatments + plan.query.context
    return prod(evidence.evaluator.levels[a] for a in axes)


def require_possible(plan: BoundPlan, numbers: Numbers) -> None:
    """Refuse facts about selection that no population could have, the log being as it is.

    What memory or time leaves no room for is not looked at.
    """
    for reweighting in _list_stated(plan):
        with suppress(*LIMITS):
            if not Populations(reweighting, numbers).may_exist():
                raise FactsRefuted(reweighting.statement)


def _list_stated(plan: BoundPlan) -> list[Reweighting]:
    """List the reweightings (ways to undo selection) limited by facts that the user stated.

    The facts are a selection rate or a selection limit.
    """
    supposed = (each for planned in plan.rules for each in planned.rule.reweightings)
    return list(dict.fromkeys(each for each in supposed if each.facts))
