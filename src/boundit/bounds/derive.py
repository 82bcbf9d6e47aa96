"""The offline half in one call: a graph, a query and a log in, a table of bounds out."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Unpack

from boundit.bounds.candidates import name_graph, read_candidates, unite_tables
from boundit.bounds.caveats import note_late, note_refuted, warn_of
from boundit.bounds.count import KeptCounts, count_plan, look_at_levels
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference import Approximate, Exact, Inference, PlugIn
from boundit.bounds.models.rule import WithModels, find_many_values, fit_models, leave_numbers
from boundit.bounds.options import DeriveOptions, accept_options
from boundit.bounds.plan import (
    FEW_COLUMNS,
    BoundPlan,
    choose_columns,
    drop_hidden,
    drop_too_large,
    plan_bounds,
)
from boundit.bounds.program.rule import Program
from boundit.bounds.request import BoundRequest, hide_reward, read_request
from boundit.bounds.table import EndsCross, NoModelFits, make_table
from boundit.core.errors import BounditError
from boundit.core.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.core.message import Note
from boundit.counts.memory import Workspace
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.read import GraphLike
from boundit.results.bound_table import BoundTable

_log = logging.getLogger(__name__)
PLANNING = 0.4
"""Which part of the time the search for rules may take."""


@accept_options
def derive_bounds(
    graph: GraphLike | Iterable[GraphLike] | Mapping[str, GraphLike],
    query: EffectQuery | str,
    log: object,
    **options: Unpack[DeriveOptions],
) -> BoundTable:
    """Bound the mean outcome under every arm in every context, with the reason for each endpoint.

    Request, plan, count, gather, bound, table: options are checked and logs opened, rules are
    found by the graph, the columns they read are counted in one pass over the log, and inference
    turns counts into endpoints. Estimates, effects, explanations, caveats and the pooling plan
    are computed when they are first read.

    Parameters
    ----------
    graph : CausalGraph, str, networkx graph, or several
        What is assumed. Of several candidate graphs, in a list or by name, one is right: the
        intervals then hold whichever it is, and their rules name the graph that set each end.
    query : EffectQuery or str
        What is asked, as in ``"Y | do(X1, X2), U1, U2"``.
    log : log
        Anything ``read_log`` takes.
    **options
        Sources, assumptions, inference and limits.

    Returns
    -------
    BoundTable
        One interval for each arm and context.

    Warns
    -----
    BounditWarning
        For every critical caveat: of the question at once, of a log that contradicts the graph
        when the caveats are first read.
    """
    candidates = read_candidates(graph)
    request = read_request(
        next(iter(candidates.values())) if candidates else graph,
        query,
        log,
        **options,
    )
    with follow_progress(options.get("progress")) as tell:
        if not candidates:
            return derive_table(request, {}, tell, warn=True)
        united = derive_candidates(request, candidates, tell)
        warn_of(united.caveats)
        return united


def derive_candidates(
    request: BoundRequest, graphs: Mapping[str, CausalGraph], progress: Progress = say_nothing
) -> BoundTable:
    """Bound a request under each of several graphs, and unite the tables.

    A graph that the data refute is left out, with a caveat: the right one is not refuted
    wherever its table holds.
    """
    start, kept, found = time.monotonic(), KeptCounts(), dict[str, BoundTable]()
    refuted = list[tuple[str, BounditError]]()
    for done, (name, graph) in enumerate(graphs.items()):
        progress(f"bound {name}", done, len(graphs))
        left = request.time_limit
        if left is not None:
            left = max(left - (time.monotonic() - start), 0.0)
        try:
            found[name] = derive_table(replace(request.under(graph), time_limit=left), kept)
        except (EndsCross, NoModelFits) as error:
            refuted.append((name, error))
        except BounditError as error:
            raise name_graph(error, name) from None
    if not found:
        name, refusal = refuted[0]
        raise name_graph(refusal, name)
    united = unite_tables(found)
    notes = [note_refuted(name) for name, _ in refuted]
    return replace(united, caveats=(*notes, *united.caveats))


def derive_table(
    request: BoundRequest,
    kept: KeptCounts,
    progress: Progress = say_nothing,
    *,
    warn: bool = False,
) -> BoundTable:
    """Plan the rules, count what they read and make one table of bounds.

    Counts are looked up in ``kept`` and left there, so that the same logs under other facts or
    another confidence are read again only where the rules read other columns.
    """
    start = time.monotonic()
    workspace = Workspace(request.memory_limit, TimeBudget(request.time_limit))
    plan = plan_request(request, workspace, progress)
    table = derive_planned(request, plan, kept, workspace, progress, warn=warn)
    seconds = time.monotonic() - start
    _log.info("bounded %s: %d intervals, %.1f s", request.query, len(table.intervals), seconds)
    return table


def derive_planned(
    request: BoundRequest,
    plan: BoundPlan,
    kept: KeptCounts,
    workspace: Workspace,
    progress: Progress,
    *,
    warn: bool = False,
) -> BoundTable:
    """Count what the rules of a plan read, and make the table of a request."""
    progress(f"count {len(plan.needs)} columns", 0, 1)
    plan, counts = count_plan(plan, request, kept)
    if request.outcome_range is not None and not counts.have_binary_outcome:
        # A numeric outcome cannot be conditioned on: its success causes nothing.
        hidden = hide_reward(request.graph, request.query.outcomes[0])
        if hidden is not request.graph:
            request = replace(request, graph=hidden)
            plan = plan_request(request, workspace, progress)
            plan, counts = count_plan(plan, request, kept)
    evidence = counts.gather(plan, request.outcome_range, workspace)
    progress(f"try {len(plan.rules)} rules", 0, 1)
    inference, models, notes = choose_inference(request, plan, evidence, progress)
    endpoints = inference.bound(plan.rules, evidence)
    return make_table(
        request,
        plan,
        counts,
        evidence,
        inference,
        endpoints,
        models=models,
        notes=notes,
        warn=warn,
    )


def choose_inference(
    request: BoundRequest, plan: BoundPlan, evidence: Evidence, progress: Progress
) -> tuple[Inference, str, tuple[Note, ...]]:
    """Which strategy a request asks for; which models were fitted for it, and their caveats."""
    if request.confidence is None:
        return PlugIn(), "", ()
    if request.models is not None:
        fitted = fit_models(
            request.models,
            request.graph,
            evidence,
            request.log,
            request.external,
            confidence=request.confidence,
            hidden=plan.hidden,
            cluster=request.cluster,
            progress=progress,
        )
        if fitted.rule is not None:
            return WithModels(fitted.rule), fitted.fitted, fitted.notes
        return Approximate(request.confidence), fitted.fitted, fitted.notes
    chosen = Exact if request.inference == "exact" else Approximate
    return chosen(request.confidence), "", ()


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
    columns = frozenset(request.log.columns)
    blind = [r for r in plan.rules if isinstance(r, Program) and not r.needs <= columns]
    if blind:
        plan = plan.keep(rule for rule in plan.rules if rule not in blind)
    found = plan.rules
    if numbers:
        rules, note = leave_numbers(plan.rules, numbers)
        plan = plan.keep(rules, note)
    if len(plan.needs) > FEW_COLUMNS:
        progress(f"look at {len(plan.needs)} columns", 0, 1)
        levels = look_at_levels(plan, request)
        plan = drop_hidden(plan, levels, (other.columns for other in request.external))
        if request.confidence is not None:
            plan = drop_too_large(plan, levels, workspace)
        plan = choose_columns(plan, levels, confident=request.confidence is not None)
    if plan.rules != found:
        plan = replace(plan, complete=False)
    if workspace.budget.is_over() and plan.rules:
        late = note_late(record.name for record in plan.records.values())
        plan = replace(plan, rules=(), notes=(*plan.notes, late))
    return plan
