"""A table of bounds made of endpoints: intervals now, the rest when it is first read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, product, starmap

import numpy as np

from boundit.bounds.caveats import (
    note_adaptive,
    note_adaptive_levels,
    note_binary_outcome,
    note_external_missing,
    note_hidden,
    note_idle_arms,
    note_levels,
    note_over,
    note_silence,
    warn_of,
)
from boundit.bounds.chain import Chain, require_possible
from boundit.bounds.count import PlanCounts
from boundit.bounds.effects import compare_arms
from boundit.bounds.evidence import Evidence, is_binary
from boundit.bounds.explain import Explainer
from boundit.bounds.inference import Endpoints, Inference, PlugIn
from boundit.bounds.plan import BoundPlan, record_rules
from boundit.bounds.pooling import plan_pooling
from boundit.bounds.program.rule import Program
from boundit.bounds.request import BoundRequest
from boundit.bounds.selection_facts import FactsRefuted
from boundit.checks.contradictions import note_contradictions
from boundit.core.errors import BounditError, shorten
from boundit.core.interval import Interval
from boundit.core.long_work import TimeBudget
from boundit.core.message import Caveat, Note, Option, sort_caveats
from boundit.core.names import join_names
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats
from boundit.results.bound import Bound, Key, RuleRecord
from boundit.results.bound_table import BoundTable
from boundit.results.contrast import Pair
from boundit.results.explanation import EMPTY, NEVER_LOGGED, RANGE
from boundit.results.fused_plan import FusedPlan, NoFusedPlan

CROSSED = "the rules contradict each other here; this is the narrowest single one"
NO_FIT = (
    "by sampling error no model of the graph fits the estimates here; the program was left out"
)
MOST_KEPT = 1_000_000
"""Up to how many counted cells a table keeps; of more, everything is computed at once."""
ROW_BYTES = 2_000
"""About what a row of a table takes."""
CHECKING = 0.05
"""Which part of the time that is left the graph may be held against the log."""


class EndsCross(BounditError):
    """Bounds that exclude each other: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: {len(rows)} intervals are empty, "
            f"{shorten('; '.join(rows), 400)}"
        )


class NoModelFits(BounditError):
    """Numbers that no model of the graph can give: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: no model of it has these probabilities, "
            f"{shorten('; '.join(rows), 400)}"
        )


class TooManyRows(BounditError):
    """A table with more rows than fit into memory."""

    def __init__(self, axes: Sequence[str], rows: int, limit: int) -> None:
        self.axes, self.rows = tuple(axes), rows
        super().__init__(
            f"a table of {join_names(axes)} has {rows:,} rows, ",
            Option("memory_limit"),
            f" allows {limit:,}; ask for fewer contexts, group their levels, or raise it",
        )


class _Rows:
    """The best endpoints of all rules, which rule gave each, and where they cross."""

    def __init__(self, endpoints: Endpoints, *, strict: bool) -> None:
        self.endpoints = endpoints
        lowers, uppers = endpoints.lowers, endpoints.uppers
        # Of rules that agree up to rounding the first is named: chains before programs.
        lower_by = (lowers >= endpoints.lower - ROUNDING).argmax(axis=0)
        upper_by = (uppers <= endpoints.upper + ROUNDING).argmax(axis=0)
        self.crossed = endpoints.lower > endpoints.upper + ROUNDING
        if self.crossed.any() and not strict:  # estimates cross by noise
            narrowest = (uppers - lowers).argmin(axis=0)
            lower_by = np.where(self.crossed, narrowest, lower_by)
            upper_by = np.where(self.crossed, narrowest, upper_by)
        self.lower_by, self.upper_by = lower_by, upper_by
        self.lower = np.take_along_axis(lowers, lower_by[None], 0)[0]
        self.upper = np.maximum(np.take_along_axis(uppers, upper_by[None], 0)[0], self.lower)
        self.say_nothing = self.lower.max() <= ROUNDING and self.upper.min() >= 1 - ROUNDING


def make_table(
    request: BoundRequest,
    plan: BoundPlan,
    counts: PlanCounts,
    evidence: Evidence,
    inference: Inference,
    endpoints: Endpoints,
    *,
    models: str = "",
    notes: Sequence[Note] = (),
    warn: bool = False,
) -> BoundTable:
    """Intervals for every arm and context, made of endpoints; refuse what refutes the graph.

    Endpoints that cross refute the graph, or what was stated, if the input is exact or has a
    confidence; estimates cross by noise, and such a row keeps the narrowest single rule.
    Everything else is computed when it is first read.
    """
    _require_room(evidence)
    sure = plan.is_sound and (evidence.is_exact or request.confidence is not None)
    rows = _Rows(endpoints, strict=sure)
    if sure:
        _refuse_contradictions(rows, plan, evidence)
    query, log = plan.query, evidence.log
    arms, contexts = (
        list(product(*(log.table.levels[axis] for axis in axes)))
        for axes in (query.treatments, query.context)
    )
    keys: list[Key] = list(product(arms, contexts))
    over = evidence.workspace.budget.is_over()
    late = (note_over(),) if over else ()
    # What is computed later has the time that is left now, from when it is first read.
    later = replace(
        evidence,
        workspace=replace(evidence.workspace, budget=evidence.workspace.budget.share(1.0)),
    )
    critical = [
        *note_hidden(plan.hidden, log.table.levels),
        *note_idle_arms(request.graph, query),
        *(note_silence(plan.graph, query) if rows.say_nothing else ()),
        *(
            note_external_missing(i, table.dropped)
            for i, table in enumerate(counts.tables[1:], 1)
            if table.dropped
        ),
    ]

    @cache
    def compare() -> tuple[dict[Pair, float], dict[Key, Interval]]:
        if not plan.is_sound or models:
            return {}, {}
        return compare_arms(endpoints, evidence, inference, keys)

    def estimate() -> dict[Pair, float]:
        if request.confidence is None:
            return dict(compare()[0])
        if not plan.is_sound or models or not compare()[0]:
            return {}
        found = PlugIn().bound(endpoints.rules or plan.rules, later)
        return compare_arms(found, later, PlugIn(), keys)[0]

    @cache
    def pool() -> FusedPlan | NoFusedPlan:
        if not plan.is_sound:
            return NoFusedPlan(
                f"the profile {plan.profile!r} makes intervals alone; derive them as 'sound'"
            )
        return plan_pooling(later, keys, hidden=plan.hidden)

    def list_caveats() -> tuple[Caveat, ...]:
        refuting = list(_note_contradictions(request, plan, counts))
        if warn:
            warn_of(refuting)
        found = [*_note_assumptions(request, plan, counts), *plan.notes]
        logged = (note for table in counts.tables for note in table.notes)
        own = (*critical, *refuting, *found, *notes, *endpoints.notes, *late)
        return sort_caveats((*own, *logged))

    def list_bins() -> dict[str, tuple[float, ...]]:
        found, bins = pool(), log.table.bins
        asked = found.variables if isinstance(found, FusedPlan) else ()
        named = dict.fromkeys((*query.treatments, *query.context, *asked))
        return {name: bins[name] for name in named if name in bins}

    parts: dict[str, Callable[[], object]] = {
        "bounds": partial(_write_rows, rows, plan, later, keys, request.confidence),
        "rules": lambda: dict(_write_records(endpoints, evidence)),
        "contrasts": lambda: compare()[0],
        "compared": lambda: compare()[1],
        "contrast_estimates": estimate,
        "pooling": pool,
        "bins": list_bins,
        "caveats": list_caveats,
    }
    ends = zip(evidence.scale(rows.lower), evidence.scale(rows.upper), strict=True)
    table = BoundTable.compute_later(
        parts,
        dict(zip(keys, starmap(Interval, ends), strict=True)),
        outcome=query.outcomes[0],
        treatments=query.treatments,
        context=query.context,
        levels={name: log.table.levels[name] for name in query.treatments + query.context},
        outcome_range=(log.low, log.high),
        profile=plan.profile,
        confidence=request.confidence,
        inference=request.inference if request.confidence is not None else None,
        units=request.units,
        confounding_limit=request.limits.by_edge,
        models=models,
        complete=plan.complete and not endpoints.notes and not over,
        goal=request.goal,
    )
    if sum(len(each.n) for each in counts.tables) > MOST_KEPT:
        for part in parts:
            getattr(table, part)
    if warn:
        warn_of(critical)
    return table


def _note_contradictions(
    request: BoundRequest, plan: BoundPlan, counts: PlanCounts
) -> Iterator[Caveat]:
    """Counted columns that contradict the graph."""
    yield from note_contradictions(
        plan.graph,
        counts.log,
        TimeBudget(request.time_limit).share(CHECKING),
        binary_reward=is_binary(counts.log) and counts.log.reward is not None,
        ungrouped=frozenset(plan.query.treatments + plan.query.outcomes),
    )


def _note_assumptions(
    request: BoundRequest, plan: BoundPlan, counts: PlanCounts
) -> Iterator[Caveat]:
    """Levels and outcomes that are taken to be all there are."""
    graph, query, (outcome,) = plan.graph, plan.query, plan.query.outcomes
    if graph.selection is not None:
        weighed = (own.variables for rule in plan.rules for own in rule.reweightings)
        drawn = (rule.variables for rule in plan.rules if isinstance(rule, Chain))
        gone_over = {name.rstrip("'") for name in chain(*weighed, *drawn)}
        asked = {outcome, *query.treatments, *query.context}
        yield from note_levels(
            frozenset(gone_over.difference(request.domain, asked)), counts.log.levels
        )
    if request.outcome_range is not None and graph.selection in graph.descendants(outcome):
        yield note_binary_outcome(outcome)
    adaptive = any(log.adaptive for log in (request.log, *request.external))
    if adaptive and request.confidence is not None:
        yield note_adaptive()
        late = graph.descendants(query.treatments) & plan.needs
        guessed = late.difference(request.domain, query.outcomes)
        if plan.rules and guessed:
            yield note_adaptive_levels(guessed)


def _write_records(
    endpoints: Endpoints, evidence: Evidence
) -> Iterator[tuple[str, RuleRecord]]:
    """The records of all rules by name, and why rows of one mean were intersected."""
    for rule, record in record_rules(endpoints.rules).items():
        more = evidence.lightened[1] if rule in endpoints.apart else ()
        yield record.name, replace(record, steps=(*record.steps, *more))


def _require_room(evidence: Evidence) -> None:
    """Refuse a table with more rows than fit into memory, before any is made."""
    axes, n = evidence.query.treatments + evidence.query.context, int(np.prod(evidence.shape))
    if n * ROW_BYTES > evidence.workspace.memory_limit:
        raise TooManyRows(axes, n, evidence.workspace.memory_limit // ROW_BYTES)


def _refuse_contradictions(rows: _Rows, plan: BoundPlan, evidence: Evidence) -> None:
    """Raise where no model of the graph, or no population, fits the numbers."""
    endpoints = rows.endpoints
    covered = (r for r in endpoints.rules if endpoints.run.numbers.covers(r.terms))
    require_possible(
        (distribution for rule in covered for distribution in rule.reweightings),
        endpoints.run,
    )
    if not (endpoints.empty.any() or rows.crossed.any()):
        return
    names = [RANGE, *(each.name for each in record_rules(endpoints.rules).values())]
    axes, levels = plan.query.treatments + plan.query.context, evidence.log.table.levels

    def write(place: tuple[int, ...]) -> str:
        return ", ".join(f"{a}={levels[a][i]!r}" for a, i in zip(axes, place, strict=True))

    stated = "; ".join(dict.fromkeys(said for rule in plan.rules for said in rule.assumptions))
    programs = ", ".join(rule.name for rule in endpoints.rules if isinstance(rule, Program))
    found = [
        f"{write(place)} (by {programs!r})"
        for place in map(tuple, np.argwhere(endpoints.empty))
    ]
    crossed = [
        f"{write(place)} ({names[int(rows.lower_by[place])]!r} "
        f"against {names[int(rows.upper_by[place])]!r})"
        for place in map(tuple, np.argwhere(rows.crossed))
    ]
    if (found or crossed) and stated:
        raise FactsRefuted(stated)
    if found:
        raise NoModelFits(found)
    if crossed:
        raise EndsCross(crossed)


def _write_rows(
    rows: _Rows,
    plan: BoundPlan,
    evidence: Evidence,
    keys: Sequence[Key],
    confidence: float | None,
) -> dict[Key, Bound]:
    """Make the row of every arm and context: endpoints, estimates, rules, numbers, marks."""
    names = [RANGE, *(each.name for each in record_rules(rows.endpoints.rules).values())]
    endpoints, axes = rows.endpoints, plan.query.treatments + plan.query.context
    estimates = rows
    if confidence is not None:
        # Where no rule has intervals that fit, estimates may: they go over seen cells.
        found = PlugIn().bound(endpoints.rules or plan.rules, evidence)
        estimates = _Rows(found, strict=evidence.is_exact)
    explainer = Explainer(evidence, endpoints, estimates.endpoints)
    table = evidence.log.table
    n = np.broadcast_to(table.marginalize(axes).align(axes), evidence.shape)
    sums = np.broadcast_to(table.sum_rewards(axes).align(axes), evidence.shape)
    marks = _list_marks(rows, estimates, explainer, n, sampled=confidence is not None)
    low_by, high_by = rows.lower_by, rows.upper_by
    scale = evidence.scale
    columns = zip(
        scale(rows.lower),
        scale(rows.upper),
        scale(estimates.lower),
        scale(estimates.upper),
        (n if table.exact else n.astype(int)).ravel().tolist(),
        [names[which] for which in low_by.ravel().tolist()],
        [names[which] for which in high_by.ravel().tolist()],
        (
            explainer.list_numbers(int(low_by[p]) - 1, p, upper=False)
            for p in np.ndindex(*n.shape)
        ),
        (
            explainer.list_numbers(int(high_by[p]) - 1, p, upper=True)
            for p in np.ndindex(*n.shape)
        ),
        marks,
        (
            explainer.explain_sampling(int(low_by[p]) - 1, int(high_by[p]) - 1, p)
            if confidence is not None
            else None
            for p in np.ndindex(*n.shape)
        ),
        (
            s / k if k else None
            for s, k in zip(sums.ravel().tolist(), n.ravel().tolist(), strict=True)
        ),
        strict=True,
    )
    return dict(zip(keys, starmap(Bound, columns), strict=True))


def _list_marks(
    rows: _Rows,
    estimates: _Rows,
    explainer: Explainer,
    n: Floats,
    *,
    sampled: bool,
) -> list[tuple[str, ...]]:
    """What a reader must know of each row alone; most rows have no mark."""
    said = [] if sampled else [(estimates.crossed, CROSSED)]
    said.append((n == 0, NEVER_LOGGED))
    unseen = explainer.find_unseen(estimates.lower_by) | explainer.find_unseen(
        estimates.upper_by
    )
    wide = estimates.upper - estimates.lower > ROUNDING
    said.append((unseen & wide & (n > 0), EMPTY))
    said.append((rows.endpoints.empty, NO_FIT))
    marks: list[tuple[str, ...]] = [()] * n.size
    for there, mark in said:
        for i in np.flatnonzero(there).tolist():
            marks[i] = (*marks[i], mark)
    return marks
