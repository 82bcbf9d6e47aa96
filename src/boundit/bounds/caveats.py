"""Caveats of a table: one function each, from what was asked, planned, counted and found."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from boundit.bounds.chain import Chain
from boundit.bounds.count import PlanCounts
from boundit.bounds.hidden_levels import find_hidden
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import BoundRequest
from boundit.bounds.reward import is_binary
from boundit.checks.contradictions import note_contradictions
from boundit.terms.long_work import TimeBudget
from boundit.terms.message import ANY, CRITICAL, SOME, Message, Note, Option
from boundit.terms.names import Nodes, join_names, sort_names, write_name

CHECKING = 0.05
"""Which part of the time that is left the graph may be held against the log."""
OVER = Message(
    Option("time_limit"), " was over before all arms were compared and rows explained"
)


def drop_hidden(
    plan: BoundPlan, levels: Mapping[str, int], unselected: Iterable[Iterable[str]] = ()
) -> BoundPlan:
    """Drop the rules that read a variable whose other levels selection may have filtered out."""
    hidden = plan.hidden | find_hidden(plan.graph, plan.query, levels, map(tuple, unselected))
    kept = (rule for rule in plan.rules if not rule.needs & hidden)
    return replace(plan.keep(kept), hidden=hidden)


def list_caveats(
    request: BoundRequest, plan: BoundPlan, counts: PlanCounts, found: Iterable[Note]
) -> tuple[Note, ...]:
    """List all caveats of a table, in the order in which they are read.

    ``found`` are those of models and of inference. Of the paper's method a reader must first
    know that it can miss the truth.
    """
    hidden = tuple(note_hidden(plan, request))
    first = (*hidden, *plan.notes) if plan.is_sound else (*plan.notes, *hidden)
    said = (
        *first,
        *found,
        *note_idle_arms(request),
        *note_refuted(plan, counts, request.time_limit),
        *note_learning(plan, request),
        *dict.fromkeys(note for table in counts.tables for note in table.notes),
    )
    return tuple(dict.fromkeys(said))


def note_hidden(plan: BoundPlan, request: BoundRequest) -> Iterator[Note]:
    """Levels and outcomes that selection may hide from the log altogether."""
    for name in sort_names(plan.hidden):
        yield Message(
            f"{CRITICAL}{name} has one value in the log, and selection can have filtered out "
            "others: no rule reads it, and intervals are as wide as that leaves them; name all "
            "its values with ",
            Option("domain", {name: [SOME]}),
        )
    graph, (outcome,) = plan.graph, plan.query.outcomes
    asked = {*plan.query.outcomes, *plan.query.treatments, *plan.query.context}
    ranged = Nodes().union(
        *(law.variables for rule in plan.rules for law in rule.reweightings),
        *(
            {name.rstrip("'") for name in rule.variables}
            for rule in plan.rules
            if isinstance(rule, Chain)
        ),
    )
    guessed = ranged.difference(request.domain, asked)
    if graph.selection is not None and guessed:
        yield Message(
            f"only levels of {join_names(guessed)} that were logged count; if selection hides "
            "others, declare them with ",
            Option("domain", ANY),
        )
    if request.outcome_range is not None and graph.selection in graph.descendants(outcome):
        yield (
            f"every logged {outcome} is 0 or 1, so it counts as 0/1; if selection hides values "
            "between, these bounds can miss"
        )


def note_idle_arms(request: BoundRequest) -> Iterator[Note]:
    """Arms that do not cause the outcome in the graph: every effect is zero by assumption.

    An arrow that was drawn the wrong way round looks just so.
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


def note_refuted(
    plan: BoundPlan, counts: PlanCounts, time_limit: float | None
) -> Iterator[Note]:
    """Counted columns that contradict the graph."""
    yield from note_contradictions(
        plan.graph,
        counts.log,
        TimeBudget(time_limit).share(CHECKING),
        binary_reward=is_binary(counts.log) and counts.log.reward is not None,
        ungrouped=frozenset(plan.query.treatments + plan.query.outcomes),
    )


def note_learning(plan: BoundPlan, request: BoundRequest) -> Iterator[Note]:
    """An adaptive log: how sampling error was allowed for, and which levels it may hide.

    Which levels a learning policy reached depends on outcomes, and the error of a confidence is
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
            f"which levels of {join_names(guessed)} were logged may depend on what the policy "
            "learned; declare all that were possible with ",
            Option("domain", ANY),
        )
