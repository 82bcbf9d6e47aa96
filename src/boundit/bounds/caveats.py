"""Caveats of a table: one function each, from what was asked, planned, counted and found."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from boundit.bounds.chain import Chain
from boundit.bounds.count import PlanCounts
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import BoundRequest
from boundit.bounds.reward import is_binary
from boundit.checks.contradictions import note_contradictions
from boundit.core.long_work import TimeBudget
from boundit.core.message import ANY, SOME, Caveat, Note, Option, sort_caveats
from boundit.core.names import Nodes, join_names, sort_names, write_name
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk

MOST_LEVELS = 6
"""Up to how many levels of a variable a caveat names."""
CHECKING = 0.05
"""Which part of the time that is left the graph may be held against the log."""
OVER = Caveat(
    Option("time_limit"),
    " was reached before all arms were compared and rows explained",
    kind="skipped",
    code="time-limit",
)


def drop_hidden(
    plan: BoundPlan, levels: Mapping[str, int], unselected: Iterable[Iterable[str]] = ()
) -> BoundPlan:
    """Drop the rules that read a variable whose other levels selection may have filtered out."""
    hidden = plan.hidden | find_hidden(plan.graph, plan.query, levels, map(tuple, unselected))
    kept = (rule for rule in plan.rules if not rule.needs & hidden)
    return replace(plan.keep(kept), hidden=hidden)


def find_hidden(
    graph: CausalGraph,
    query: EffectQuery,
    levels: Mapping[str, int],
    unselected: Iterable[Collection[str]] = (),
) -> Nodes:
    """Find the variables with one level whose other levels selection may have filtered out.

    ``levels`` says how many there are, ``unselected`` which variables each external table has.
    A cause of selection is one, and so is what goes with selection in any way, but for what is
    asked about: rules take that as it was logged. No rule can reckon with levels that were not
    declared: one that reads such a variable would take the part of the population that was kept
    for all of it. An unselected table that has the variable shows all its levels.
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


def list_caveats(
    request: BoundRequest, plan: BoundPlan, counts: PlanCounts, found: Iterable[Note]
) -> tuple[Caveat, ...]:
    """List all caveats of a table, critical ones first.

    ``found`` are those of models and of inference.
    """
    return sort_caveats(
        (
            *note_hidden(plan.hidden, counts),
            *note_idle_arms(request),
            *note_refuted(plan, counts, request.time_limit),
            *note_levels(plan, request, counts),
            *plan.notes,
            *found,
            *note_learning(plan, request),
            *(note for table in counts.tables for note in table.notes),
        )
    )


def note_hidden(hidden: Nodes, counts: PlanCounts) -> Iterator[Caveat]:
    """Variables of which selection left one value."""
    for name in sort_names(hidden):
        levels = counts.log.levels.get(name, ())
        seen = f" ({levels[0]})" if len(levels) == 1 else ""
        yield Caveat(
            f"{name} affects selection and has one value in the data{seen}, so its other values "
            "were filtered out. Rules that use it return the whole range. Declare its values "
            "with ",
            Option("domain", {name: [SOME]}),
            ".",
            kind="critical",
            code="hidden-levels",
        )


def note_levels(plan: BoundPlan, request: BoundRequest, counts: PlanCounts) -> Iterator[Caveat]:
    """Levels and outcomes that selection may hide from the log altogether."""
    graph, (outcome,) = plan.graph, plan.query.outcomes
    asked = {*plan.query.outcomes, *plan.query.treatments, *plan.query.context}
    ranged = Nodes().union(
        *(own.variables for rule in plan.rules for own in rule.reweightings),
        *(
            {name.rstrip("'") for name in rule.variables}
            for rule in plan.rules
            if isinstance(rule, Chain)
        ),
    )
    guessed = ranged.difference(request.domain, asked)
    if graph.selection is not None and guessed:
        yield Caveat(
            f"{_write_levels(guessed, counts.log.levels)}; selection could hide others (",
            Option("domain", ANY),
            ")",
            kind="assumes",
            code="observed-levels",
        )
    if request.outcome_range is not None and graph.selection in graph.descendants(outcome):
        yield Caveat(
            f"{outcome} has no values besides 0 and 1; selection could hide others",
            kind="assumes",
            code="binary-outcome",
        )


def _write_levels(names: Nodes, levels: Mapping[str, Sequence[object]]) -> str:
    """Write which values variables have, as ``A has no values besides 0, 1, and B none ...``."""
    stated = list[str]()
    for name in sort_names(names):
        known = levels.get(name, ())
        shown = ", ".join(map(str, known))
        if len(known) > MOST_LEVELS:
            shown = f"the {len(known)} in the data"
        stated.append(f"{name} {'none' if stated else 'has no values'} besides {shown}")
    return ", and ".join(filter(None, (", ".join(stated[:-1]), stated[-1])))


def note_idle_arms(request: BoundRequest) -> Iterator[Caveat]:
    """Arms that do not cause the outcome in the graph: every effect is zero by assumption.

    An arrow that was drawn the wrong way round looks just so.
    """
    graph, (outcome,) = request.graph, request.query.outcomes
    for arm in request.query.treatments:
        if outcome not in graph.descendants(arm):
            turned = ""
            if arm in graph.descendants(outcome):
                turned = f", but one from {outcome} to {arm}"
            yield Caveat(
                f"The graph has no directed path from {arm} to {outcome}{turned}, so every "
                f"effect is zero by assumption. If {arm} may affect {outcome}, add "
                f"'{write_name(arm)} -> {write_name(outcome)}'.",
                kind="critical",
                code="no-causal-path",
            )


def note_silence(plan: BoundPlan) -> Iterator[Caveat]:
    """Why no interval is narrower than the whole range, where that is read off the graph."""
    graph, (outcome,) = plan.graph, plan.query.outcomes
    links = graph.links[outcome]
    for step in sort_names(graph.selecting().intersection(links.children))[:1]:
        target = f"[{step}]" if step == graph.selection else write_name(step)
        yield Caveat(
            f"{outcome} affects which rows were logged ({write_name(outcome)} -> {target}), so "
            "logged outcomes are not representative.",
            kind="critical",
            code="selected-outcome",
        )
    for arm in plan.query.treatments:
        if arm in links.siblings:
            yield Caveat(
                f"{arm} and {outcome} have an unmeasured common cause ({write_name(arm)} <-> "
                f"{write_name(outcome)}).",
                kind="critical",
                code="hidden-confounding",
            )


def note_refuted(
    plan: BoundPlan, counts: PlanCounts, time_limit: float | None
) -> Iterator[Caveat]:
    """Counted columns that contradict the graph."""
    yield from note_contradictions(
        plan.graph,
        counts.log,
        TimeBudget(time_limit).share(CHECKING),
        binary_reward=is_binary(counts.log) and counts.log.reward is not None,
        ungrouped=frozenset(plan.query.treatments + plan.query.outcomes),
    )


def note_learning(plan: BoundPlan, request: BoundRequest) -> Iterator[Caveat]:
    """An adaptive log: how sampling error was allowed for, and which levels it may hide.

    Which levels a learning policy reached depends on outcomes, and the error of a confidence is
    shared out over the levels that count.
    """
    logs = (request.log, *request.external)
    if not any(log.adaptive for log in logs) or request.confidence is None:
        return
    yield Caveat(
        "intervals of cells hold however a policy that learned came to have as many rows",
        code="adaptive-log",
    )
    late = plan.graph.descendants(plan.query.treatments) & plan.needs
    guessed = late.difference(request.domain, plan.query.outcomes)
    if plan.rules and guessed:
        yield Caveat(
            f"{join_names(guessed)} {'has' if len(guessed) == 1 else 'have'} no values besides "
            "those in the data, which may depend on what the policy learned (",
            Option("domain", ANY),
            ")",
            kind="assumes",
            code="adaptive-levels",
        )
