"""From a request with models to the rule that they give: find, read, fit, score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from boundit.bounds.models.adjustment import find_model_adjustment
from boundit.bounds.models.estimators import ARM, EXTERNAL, REWARD, Learner
from boundit.bounds.models.modelled_rule import NAME, ModelledAdjustment
from boundit.bounds.models.options import Models
from boundit.bounds.models.predict import Learners, predict_rows
from boundit.bounds.models.rows import (
    FeatureCoding,
    ModelRows,
    count_rows,
    find_numbers,
    make_rows,
)
from boundit.bounds.models.scores import score_arms
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.refusals import LIMITS
from boundit.bounds.reward import settle_outcome_range
from boundit.counts.errors import TooManyCells
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.log import Log
from boundit.counts.table import CountTable
from boundit.estimand.criteria.context_adjustment import (
    ContextAdjustment,
    adjusts_in_context,
)
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import StepRecord
from boundit.terms.errors import OutOfTime
from boundit.terms.long_work import Progress
from boundit.terms.message import ANY, Message, Note, Option
from boundit.terms.names import Nodes, join_names, sort_names

MANY_VALUES = 24
"""Beside models, a column of numbers with more values is no category for other rules."""


@dataclass(frozen=True, eq=False)
class FittedModels:
    """The rule that models gave, or None, what they were, and caveats for the table."""

    planned: PlannedRule | None
    fitted: str = ""
    notes: tuple[Note, ...] = ()


NO_MODELS = FittedModels(None)
"""What comes of a request without models."""


def find_many_values(graph: CausalGraph, query: EffectQuery, log: Log) -> Nodes:
    """Find the columns of many numbers, which beside models are no categories.

    Arms and contexts are categories all the same.
    """
    own = {*query.treatments, *query.context, *query.outcomes}
    levels = log.count_levels(find_numbers(log, graph.observed - own))
    return frozenset(name for name, n in levels.items() if n > MANY_VALUES)


def leave_numbers(plan: BoundPlan, numbers: Nodes) -> BoundPlan:
    """Leave out the rules that would read columns of many ``numbers`` as categories.

    Models read them as they are.
    """
    kept = tuple(planned for planned in plan.rules if not planned.rule.needs & numbers)
    few = len(numbers) == 1
    note = Message(
        f"{join_names(numbers)} {'is a number' if few else 'are numbers'} that models alone "
        f"read; other rules could read {'it' if few else 'them'} with ",
        Option("bins", ANY),
    )
    return replace(plan, rules=kept, notes=(*plan.notes, note))


def fit_models(
    models: Models,
    plan: BoundPlan,
    counts: PlanCounts,
    log: Log,
    external: Sequence[Log],
    declared: tuple[float, float] | None,
    cluster: str | None,
    workspace: Workspace,
    progress: Progress,
) -> FittedModels:
    """Fit models of an adjustment for the query and graph of a plan, and make a rule of them.

    There is none where no covariates adjust, and where memory or time does not suffice; the
    caveats say so.
    """
    # An exact law has no rows.
    external = [other for other in external if not other.exact]
    tables = [frozenset(other.columns) & plan.graph.observed for other in external]
    found = find_model_adjustment(plan.graph, plan.query, log.columns, tables)
    if found is None or not found.covariates:
        why = "no covariates in the log adjust for this effect"
        if found is not None:
            why = "this effect needs no covariates"
        return FittedModels(None, notes=(Message(why, "; ", Option("models"), " had no say"),))
    query = plan.query
    if plan.hidden.intersection(
        {*found.covariates, *query.outcomes, *query.treatments, *query.context}
    ):
        return NO_MODELS  # a caveat of the plan says why
    source = next(
        (of for of, held in zip(external, tables, strict=True) if held == found.table), None
    )
    try:
        progress("read rows for models", 0, 1)
        sources = (log,) if source is None else (log, source)
        rows = _read_tables(sources, plan, found.covariates, cluster, workspace)
        return _fit_tables(models, plan, counts, found, rows, declared, workspace, progress)
    except (*LIMITS, TooManyCells) as error:
        short = "time_limit" if isinstance(error, OutOfTime) else "memory_limit"
        note = Message(f"{NAME!r} was left out; raise ", Option(short))
        return FittedModels(None, notes=(note,))


def _fit_tables(
    models: Models,
    plan: BoundPlan,
    counts: PlanCounts,
    found: ContextAdjustment,
    tables: Sequence[CountTable],
    declared: tuple[float, float] | None,
    workspace: Workspace,
    progress: Progress,
) -> FittedModels:
    """Fit models on the rows of the log and of an external table, and score every arm."""
    query, levels = plan.query, counts.log.levels
    coding = FeatureCoding.of(tables, [*query.context, *sort_names(found.covariates)])
    sizes = {name: len(levels[name]) for name in query.treatments + query.context}
    n_arms = prod(sizes[name] for name in query.treatments)
    for table in tables:
        cells = int(table.rows) * (coding.n_features + 4 * n_arms)
        workspace.require_cells(cells, table.variables)
    ends = settle_outcome_range([of for of in counts.tables if of.reward], declared)
    log = make_rows(tables[0], coding, query, levels, ends)
    external = make_rows(tables[1], coding, query, levels) if len(tables) > 1 else None
    learners = _make_learners(models, log, external)
    predicted, predicted_base = predict_rows(
        log, external, n_arms, learners, models.folds, models.seed, workspace, progress
    )
    scores = score_arms(
        log,
        log if external is None else external,
        predicted,
        predicted_base,
        prod(sizes[name] for name in query.context),
        1 / models.least_propensity,
    )
    fitted = learners.describe(len(log), models.folds, models.least_propensity)
    why, selected = _list_steps(plan, found), plan.graph.selection is not None
    rule = ModelledAdjustment(query, found, scores, sizes, fitted, why, selected)
    notes = _collect_notes(models, counts, tables, coding)
    return FittedModels(PlannedRule(rule.write_record(), rule), fitted, notes)


def _collect_notes(
    models: Models, counts: PlanCounts, tables: Sequence[CountTable], coding: FeatureCoding
) -> tuple[Note, ...]:
    """Collect what the rows of models show and their counts have not said already."""
    said = {str(note) for of in counts.tables for note in of.notes}
    found = [*(note for of in tables for note in of.notes), *coding.notes]
    if models.external is not None and len(tables) == 1:
        found.append(
            Message(
                f"no external table supplies shares; the model of {EXTERNAL} in ",
                Option("models"),
                " had no say",
            )
        )
    return tuple(note for note in dict.fromkeys(found) if str(note) not in said)


def _read_tables(
    sources: Sequence[Log],
    plan: BoundPlan,
    covariates: Nodes,
    cluster: str | None,
    workspace: Workspace,
) -> list[CountTable]:
    """Read the distinct rows of the log, and of an external table, which may lack clusters."""
    return [
        count_rows(
            source,
            plan.query,
            covariates,
            cluster if cluster in source.columns else None,
            workspace.memory_limit,
            external=place > 0,
        )
        for place, source in enumerate(sources)
    ]


def _make_learners(models: Models, log: ModelRows, external: ModelRows | None) -> Learners:
    """Make what predicts rewards, arms and tables, of the kind or the estimators asked for."""
    binary = bool(np.isin(log.reward, (0.0, 1.0)).all())
    other = None
    if external is not None:
        other = Learner(EXTERNAL, models.external, models.kind, chances=True)
    return Learners(
        Learner(REWARD, models.reward, models.kind, chances=binary),
        Learner(ARM, models.arm, models.kind, chances=True),
        other,
    )


def _list_steps(plan: BoundPlan, found: ContextAdjustment) -> tuple[StepRecord, ...]:
    """List why the formula that models estimate holds by the graph."""
    verdict = adjusts_in_context(
        plan.graph,
        covariates=found.covariates,
        treatments=plan.query.treatments,
        outcomes=plan.query.outcomes,
        context=plan.query.context,
        table=found.table,
    )
    shares = "an external table" if found.table else "the log"
    whose = f"adjusted for {join_names(found.covariates)}, with shares of {shares}"
    return StepRecord(f"{verdict.clause}: {verdict.reason}"), StepRecord(whose)
