"""The offline half in one call: a graph, a question and a log in, a bound table out."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from boundit.bounds.assemble import assemble
from boundit.bounds.choose_rules import (
    FEW_COLUMNS,
    choose_columns,
    drop_hopeless,
    keep_stable,
)
from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.confounding.reward_spread import RewardCounter, RewardSpread
from boundit.bounds.hidden_levels import count_values, drop_hidden, note_critical
from boundit.bounds.models.fit import NO_MODELS, find_many_values, fit_models, leave_numbers
from boundit.bounds.models.options import Models
from boundit.bounds.plan import BoundPlan, PlannedRule, Profile, plan_bounds
from boundit.bounds.plan_counts import KeptCounts, PlanCounts, count_within, look_at_levels
from boundit.bounds.refusals import LIMITS, note_late
from boundit.bounds.request import BoundRequest, hide_reward, read_request
from boundit.bounds.reward import is_binary
from boundit.checks.contradictions import note_contradictions
from boundit.counts.errors import TooManyCells
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.read import GraphLike
from boundit.terms.bound_table import BoundTable
from boundit.terms.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.terms.message import ANY, Message, Note, Option
from boundit.terms.names import join_names, write_name
from boundit.terms.renamed import refuse_renamed
from boundit.terms.sampling import Inference

_log = logging.getLogger(__name__)
PLANNING = 0.4
"""Which part of the time the search for rules may take; a rule not evaluated is no use."""
CHECKING = 0.05
"""Which part of the time that is left after counting the graph may be held against the log."""


@refuse_renamed
def derive_bounds(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    profile: Profile = "sound",
    confidence: float | None = 0.95,
    inference: Inference = "exact",
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    selection_limit: float | None = None,
    outcome_range: tuple[float, float] | None = None,
    domain: Mapping[str, Sequence[object]] | None = None,
    max_condition: int = 3,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    cluster: str | None = None,
    confounding_limit: Mapping[str, float] | None = None,
    models: str | Models | None = None,
    progress: Progress | bool | None = None,
) -> BoundTable:
    """Bound what every arm would earn in every context, with the reason for each end.

    In four steps: ``read_request`` checks what is asked, ``plan_bounds`` chooses the rules from
    the graph, ``count_within`` counts the columns they read in one pass over the log, and
    ``assemble`` tries the rules on the counts.
    Only a reward that has effects and is declared to be in (0, 1) is counted a second time
    where some of its values turn out to lie between: its effects then tell less.

    Parameters
    ----------
    graph, query
        What is assumed, and what is asked, as in ``"Y | do(X1, X2), U1, U2"``.
    log
        Anything ``read_log`` takes.
    profile
        ``"sound"``: everything that holds, intersected. ``"paper"``: the printed method under
        its own name, which can miss the truth.
    confidence
        The chance that *every* interval of the table holds, over logs drawn the same way. None
        for plug-in ends, which neglect sampling error; an exact law and profile ``"paper"``
        have no others.
    inference
        How chance is allowed for. ``"exact"``: the confidence holds whatever the size of the
        log. ``"approximate"``: it holds nearly, where every arm has some dozen rows in the
        strata that matter, and most intervals are narrower; not for policies that drop arms.
    external
        Unselected logs of some of the variables.
    selection_rate
        Which share of the population was logged: a number, or a range such as (0.3, 0.6).
    selection_limit
        A limit G on how far selection may reweight: each kind of row was logged between 1/G
        and G times as often as the average one.
    outcome_range
        What the reward can be; only a 0/1 reward needs none.
    domain
        Levels of variables beyond those seen.
    max_condition
        How many variables a rule may condition on.
    time_limit
        Seconds for everything: the search for rules, counting, formulas, linear programs and
        the comparison of arms. What is found until then holds, and caveats say what was left
        out. A pass over the log that has begun is not broken off.
    memory_limit
        Bytes that our own arrays may take, or a text such as ``"2 GB"``; None for a quarter of
        the machine's memory. What would not fit is left out beforehand, with a caveat. An
        engine that holds the log, such as a Spark cluster or a pandas frame, has memory of its
        own.
    cluster
        A column whose rows belong together, such as a user's id; it need not be in the graph.
        Clusters are then taken for independent, not rows. ``"approximate"`` allows for that;
        ``"exact"`` counts each cluster once, and refuses it where its rows differ in a column
        that is read.
    confounding_limit
        Limits on hidden confounding by edges of the graph, as in ``{"X <-> Y": 1.5}``: given
        all that was observed before the treatment, its unseen cause moves the odds of each
        level by a factor of at most 1.5. An edge without an entry has no limit.
    models
        With approximate inference: where a sum over covariates is the effect, predict rewards
        and arms by models (``"boosting"``, ``"forest"``, ``"linear"`` or ``bd.Models``) instead
        of counting strata, so that covariates may be many, and numbers without bins. Needs the
        extra ``ml``.
    progress
        True for a bar on stderr, or a function of (message, done, total).
    """
    request = read_request(
        graph,
        query,
        log,
        profile=profile,
        confidence=confidence,
        inference=inference,
        external=external,
        selection_rate=selection_rate,
        selection_limit=selection_limit,
        outcome_range=outcome_range,
        domain=domain,
        max_condition=max_condition,
        time_limit=time_limit,
        memory_limit=memory_limit,
        cluster=cluster,
        confounding_limit=confounding_limit,
        models=models,
    )
    with follow_progress(progress) as tell:
        return derive_table(request, {}, tell)


def derive_table(
    request: BoundRequest, kept: KeptCounts, progress: Progress = say_nothing
) -> BoundTable:
    """Plan the rules, count what they read and assemble one bound table.

    Counts are looked up in ``kept`` and left there, so that the same logs under other facts or
    another confidence are read again only where the rules read other columns.
    """
    start = time.monotonic()
    workspace = Workspace(request.memory_limit, TimeBudget(request.time_limit))
    plan = plan_request(request, workspace, progress)
    table = derive_planned(request, plan, kept, workspace, progress)
    seconds = time.monotonic() - start
    _log.info("bounded %s: %d intervals, %.1f s", request.query, len(table.bounds), seconds)
    return table


def plan_request(request: BoundRequest, workspace: Workspace, progress: Progress) -> BoundPlan:
    """Choose the rules that bound what a request asks; no row is counted.

    By the graph alone, unless they need many columns: then a first look at how many levels
    these have chooses among the rules, so that the pass counts no more than is read.
    """
    progress("look for rules", 0, 1)
    graph, numbers = request.graph, frozenset[str]()
    if request.models is not None:
        numbers = find_many_values(graph, request.query, request.log)
        # A limit on an edge says nothing of what hidden numbers add to the edge.
        graph = graph if request.limits else project(graph, numbers)
    plan = plan_bounds(
        graph,
        request.query,
        profile=request.profile,
        tables=[table & graph.observed for table in request.tables],
        max_condition=request.max_condition,
        budget=workspace.budget.share(PLANNING),
        facts=request.facts,
        limits=request.limits,
    )
    found = plan.rules
    plan = keep_stable(plan, request.log, request.external)
    if numbers:
        plan = leave_numbers(plan, numbers)
    if len(plan.needs) > FEW_COLUMNS:
        progress(f"look at {len(plan.needs)} columns", 0, 1)
        levels = look_at_levels(plan, request.log, request.external, request.domain)
        plan = drop_hidden(plan, levels, (other.columns for other in request.external))
        if request.confidence is not None:  # estimates can do with the cells that were seen
            plan = drop_hopeless(plan, levels, workspace)
        plan = choose_columns(plan, levels, confident=request.confidence is not None)
    plan = replace(plan, complete=plan.complete and plan.rules == found)
    if workspace.budget.is_over() and plan.rules:
        late = note_late(planned.record.name for planned in plan.rules)
        plan = replace(plan, rules=(), notes=(*plan.notes, late))
    return plan


def derive_planned(
    request: BoundRequest,
    plan: BoundPlan,
    kept: KeptCounts,
    workspace: Workspace,
    progress: Progress,
    *,
    online: bool = True,
) -> BoundTable:
    """Count what the rules of a plan read, and assemble the bound table of a request.

    Unless ``online``, nothing is looked for that a policy could go on learning.
    """
    plan, counts = _count_plan(request, plan, kept, workspace, progress)
    graph = request.graph
    if request.outcome_range is not None and not counts.have_binary_reward:
        hidden = hide_reward(request.graph, request.query.outcomes[0])
        if hidden is not request.graph:
            again, graph = replace(request, graph=hidden), hidden
            plan = plan_request(again, workspace, progress)
            plan, counts = _count_plan(again, plan, kept, workspace, progress)
    if not counts.have_binary_reward and not request.cluster:
        plan = add_spreads(request, plan, counts, kept, workspace)
    modelled = NO_MODELS
    if request.models is not None:
        modelled = fit_models(
            request.models,
            replace(plan, graph=graph),
            counts,
            request.log,
            request.external,
            request.outcome_range,
            request.cluster,
            workspace,
            progress,
        )
    unseen = tuple(_note_hidden(plan, request.domain, request.outcome_range))
    # Of the printed method a reader must first know that it can miss.
    said = (*unseen, *plan.notes) if plan.is_sound else (*plan.notes, *unseen)
    table = assemble(
        replace(plan, notes=said),
        counts,
        outcome_range=request.outcome_range,
        confidence=request.confidence,
        inference=request.inference,
        modelled=modelled.planned,
        compared=modelled.planned is None,
        online=online,
        notes=(
            *modelled.notes,
            *_note_idle_arms(request),
            *_note_refuted(plan, counts, workspace),
            *_note_learning(plan, request),
        ),
        workspace=workspace,
        progress=progress,
    )
    return replace(
        table,
        units=request.units,
        confounding_limit=request.limits.by_edge,
        models=modelled.fitted,
    )


def _count_plan(
    request: BoundRequest,
    plan: BoundPlan,
    kept: KeptCounts,
    workspace: Workspace,
    progress: Progress,
) -> tuple[BoundPlan, PlanCounts]:
    """Count what the rules of a plan read, or as many of them as memory has room for.

    Rules that read a variable of which selection left one value are dropped.
    """
    progress(f"count {len(plan.needs)} columns", 0, 1)
    plan, counts = count_within(
        plan,
        request.log,
        request.external,
        request.domain,
        kept,
        workspace.memory_limit,
        cluster=request.cluster,
        keep_clusters=request.inference == "approximate",
    )
    levels = count_values(counts, request.domain)
    return drop_hidden(plan, levels, (other.columns for other in request.external)), counts


def add_spreads(
    request: BoundRequest,
    plan: BoundPlan,
    counts: PlanCounts,
    kept: KeptCounts,
    workspace: Workspace,
) -> BoundPlan:
    """Give rules that rest on a limit on confounding the spread of rewards, value by value.

    The values are counted in a pass of their own, which ``kept`` remembers. Where there is no
    room for that, the mean must do.
    """
    if request.outcome_range is None:
        return plan
    (outcome,) = plan.query.outcomes
    counter = RewardCounter(
        request.log,
        counts.log,
        outcome,
        request.outcome_range,
        request.domain,
        workspace.memory_limit,
    )
    rules = list[PlannedRule]()
    for planned in plan.rules:
        rule = planned.rule
        if isinstance(rule, LimitedConfounding):
            table = _count_values(rule, plan.graph, counter, kept)
            if table is not None:
                spread = RewardSpread.from_table(table, outcome, request.outcome_range)
                rule = replace(rule, spread=spread)
        rules.append(replace(planned, rule=rule))
    return replace(plan, rules=tuple(rules))


def _count_values(
    rule: LimitedConfounding, graph: CausalGraph, counter: RewardCounter, kept: KeptCounts
) -> CountTable | None:
    """Count the values of the reward that a rule reads off the log, if it may and can."""
    term = rule.spread_term
    if term is None or not (term.logged or graph.selection is None):
        return None
    key = graph, term.given | {counter.outcome, f"values of {counter.outcome}"}
    if key not in kept:
        with suppress(TooManyCells, *LIMITS):
            kept[key] = PlanCounts(counter.count_values(term))
    return kept[key].log if key in kept else None


def _note_idle_arms(request: BoundRequest) -> Iterator[Note]:
    """Yield a caveat for each arm that causes no reward in the graph, whatever the log shows.

    A formula is then exact because the graph says that there is nothing to find: an arrow that
    was drawn the wrong way round looks just so.
    """
    graph, (outcome,) = request.graph, request.query.outcomes
    for arm in request.query.treatments:
        if outcome not in graph.descendants(arm):
            turned = arm in graph.descendants(outcome)
            shown = f"it leads from {outcome} to {arm}" if turned else "no arrow leads there"
            yield (
                f"by the graph {arm} does not cause {outcome} ({shown}), so the mean of "
                f"{outcome} is the same for every {arm} by assumption, not by the log; if it "
                f"may, write '{write_name(arm)} -> {write_name(outcome)}'"
            )


def _note_refuted(plan: BoundPlan, counts: PlanCounts, workspace: Workspace) -> Iterator[Note]:
    """Yield a caveat where the columns that were counted contradict the graph."""
    asked = plan.query.treatments + plan.query.outcomes
    yield from note_contradictions(
        plan.graph,
        counts.log,
        workspace.budget.share(CHECKING),
        binary_reward=is_binary(counts.log) and counts.log.reward is not None,
        ungrouped=frozenset(asked),
    )


def _note_hidden(
    plan: BoundPlan, declared: Mapping[str, object], outcome_range: tuple[float, float] | None
) -> Iterator[Note]:
    """Yield caveats on levels and rewards that selection may hide from the log altogether.

    No rule can reckon with these.
    """
    yield from note_critical(plan.hidden)
    graph, (outcome,) = plan.graph, plan.query.outcomes
    read = frozenset[str]().union(*(p.rule.range_variables for p in plan.rules))
    guessed = read.difference(declared)
    if graph.selection is not None and guessed:
        yield Message(
            f"only levels of {join_names(guessed)} that were logged count; if selection hides "
            "others, declare them with ",
            Option("domain", ANY),
        )
    if outcome_range is not None and graph.selection in graph.descendants(outcome):
        yield (
            f"every logged {outcome} is 0 or 1, so it counts as 0/1; if selection hides values "
            "between, these bounds can miss"
        )


def _note_learning(plan: BoundPlan, request: BoundRequest) -> Iterator[Note]:
    """Yield caveats on an adaptive log: how chance was allowed for, and what it may hide.

    Which levels a learning policy reached hangs on rewards, and the error of a confidence is
    shared out over the levels that count.
    """
    logs = (request.log, *request.external)
    if not any(log.adaptive for log in logs) or request.confidence is None:
        return
    yield "intervals of cells hold however a policy that learned came to have as many rows"
    late = plan.graph.descendants(plan.query.treatments) & plan.needs
    guessed = late.difference(request.domain, plan.query.outcomes)
    if plan.rules and guessed:
        yield Message(
            f"which levels of {join_names(guessed)} were logged may hang on what the policy "
            "learned; declare all that were possible with ",
            Option("domain", ANY),
        )
