"""Adjustment by models as one more rule, and the inference that takes it beside all others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from boundit.bounds.caveats import (
    LIMITS,
    note_models_against,
    note_models_doubted,
    note_no_adjustment,
    note_numbers,
    note_rare_arms,
    note_unfitted,
    note_unused_model,
)
from boundit.bounds.chain import Axes, Run
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference.approximate import Approximate, find_critical
from boundit.bounds.inference.base import Endpoints, Mask, Place, Rule
from boundit.bounds.models.aipw import Learners, Scores, predict_rows, score_arms
from boundit.bounds.models.estimators import ARM, EXTERNAL, REWARD, Learner
from boundit.bounds.models.features import count_rows, find_numbers, make_rows
from boundit.bounds.models.options import Models
from boundit.bounds.population import Reweighting
from boundit.core.errors import OutOfTime
from boundit.core.formula import Sentence, StepRecord
from boundit.core.long_work import Progress, say_nothing
from boundit.core.message import Caveat, Note
from boundit.core.names import Nodes, join_names, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.errors import TooManyCells
from boundit.counts.formula import Formula, Pair
from boundit.counts.log import Log
from boundit.counts.table import CountTable
from boundit.estimand.adjustment import ContextAdjustment, adjusts_in_context
from boundit.estimand.expression import P, Product, Sum
from boundit.estimand.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_connected_nodes, open_walk
from boundit.graph.separators import find_separator
from boundit.results.bound import RuleRecord
from boundit.results.sampling import EndSampling

NAME = "adjustment by models"
OTHERS_SHARE = 1 / 10  # of the error, for all other rules beside the models
MANY_VALUES = 24  # beside models, a column of numbers with more values is not a category


@dataclass(frozen=True, eq=False)
class ModelRule:
    """A sum over covariates whose terms models predict, already measured on the rows."""

    query: EffectQuery
    scores: Scores
    reason: RuleRecord
    confidence: float

    formulas: ClassVar[tuple[Formula, ...]] = ()  # it reads rows, not counts
    terms: ClassVar[frozenset[P]] = frozenset()
    needs: ClassVar[Nodes] = frozenset()
    reweightings: ClassVar[tuple[Reweighting, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = ()
    extremes: ClassVar[Nodes] = frozenset()
    n_unknown: ClassVar[int] = 0
    is_identified: ClassVar[bool] = True
    name: ClassVar[str] = NAME

    @property
    def outcome(self) -> str:
        """The one outcome of the query."""
        return self.query.outcomes[0]

    @property
    def axes(self) -> Axes:
        """The axes of the endpoints."""
        return self.query.treatments + self.query.context

    def rank(self, levels: Mapping[str, int]) -> tuple[int, int]:
        """Come first: nothing is unknown, and no cell is read."""
        del levels
        return 0, 0

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of its largest array."""
        return prod(levels[name] for name in self.axes)

    @property
    def error(self) -> float:
        """The share of the error that the models get."""
        return (1 - OTHERS_SHARE) * (1 - self.confidence)

    @cached_property
    def trusted(self) -> Mask:
        """At which arms and contexts the models have enough rows."""
        lower, upper = self.scores.lower, self.scores.upper
        level = self.error / (2 * lower.value.size)
        trusted = lower.is_trusted(level) & upper.is_trusted(level)
        return np.asarray(trusted & (lower.support.rows > 0))

    def bound(self, run: Run) -> Pair:
        """The estimates of every arm and context; counts play no part."""
        del run
        low, high = self.scores.lower.value.clip(0, 1), 1 - self.scores.upper.value.clip(0, 1)
        return np.where(self.trusted, low, 0.0), np.where(self.trusted, high, 1.0)

    def bound_near(self) -> Pair:
        """Endpoints that all hold with one another at the models' share of the error (max-t)."""
        scores = self.scores
        n = 2 * int(self.trusted.sum())
        critical = float(-ndtri(self.error / max(n, 1)))
        if scores.covariance is not None:
            taken = np.tile(self.trusted.ravel(), 2)
            critical = find_critical(self.error, scores.covariance[np.ix_(taken, taken)])
        low, high = scores.lower.find_ends(critical), 1 - scores.upper.find_ends(critical)
        return np.where(self.trusted, low, 0.0), np.where(self.trusted, high, 1.0)

    def explain(
        self, place: Place, outcome_range: tuple[float, float], *, upper: bool
    ) -> tuple[str, ...]:
        """The numbers behind an endpoint: predictions, correction, and where the arm is rare."""
        (low, high), scores = outcome_range, self.scores
        unlikely, mean = float(scores.unlikely[place]), float(scores.predicted[place])
        predicted = low * (1 - unlikely) + (high - low) * mean
        correction = (high - low) * (float(scores.lower.value[place]) - mean)
        lines = [
            f"mean of what models predict: {predicted:.4g}",
            f"mean of the rows' weighted errors: {correction:+.4g}",
        ]
        if unlikely > 0:
            taken, share = high if upper else low, f"{unlikely:.2g} of the rows"
            lines.append(f"where the arm is too rare, {share}: {taken:g}, as it may be")
        return tuple(lines)

    def explain_sampling(self, place: Place, upper: bool) -> EndSampling:  # noqa: FBT001
        """The effective sample size behind an endpoint."""
        del upper
        return EndSampling(float(self.scores.lower.support.rows[place]), 0.0)

    def describe_gaps(self) -> list[Caveat]:
        """Say where models had too few outcomes, and where an arm is hardly ever chosen."""
        doubted, size = int((~self.trusted).sum()), self.trusted.size
        worst = float(np.where(self.trusted, self.scores.unlikely, 0.0).max(initial=0.0))
        return [*note_models_doubted(doubted, size, NAME), *note_rare_arms(worst)]


@dataclass(frozen=True)
class WithModels:
    """Inference by models, which get most of the error, and by all other rules."""

    rule: ModelRule

    def bound(self, rules: Sequence[Rule], evidence: Evidence) -> Endpoints:
        """Endpoints of all rules, the models' first.

        Where the interval of the models does not meet that of the other rules, the models are
        wrong, and are left out.
        """
        rule, others_error = self.rule, OTHERS_SHARE * (1 - self.rule.confidence)
        others = Approximate(1 - others_error).bound(
            [other for other in rules if other is not rule], evidence
        )
        # Which of the other rules' endpoints are exact matters little beside the models.
        notes = [note for note in others.notes if note.code != "exact-rows"]
        low, high = rule.bound_near()
        against = (low > others.upper + ROUNDING) | (high < others.lower - ROUNDING)
        against &= (
            others.lower <= others.upper
        )  # rules that contradict each other prove nothing
        if against.any():
            low, high = np.where(against, 0.0, low), np.where(against, 1.0, high)
            notes.append(note_models_against(int(against.sum()), against.size, NAME))
        return replace(
            others,
            rules=(rule, *others.rules),
            lowers=np.insert(others.lowers, 1, low, axis=0),
            uppers=np.insert(others.uppers, 1, high, axis=0),
            notes=(*notes, *rule.describe_gaps()),
            samplers={**others.samplers, rule: rule.explain_sampling},
        )


@dataclass(frozen=True, eq=False)
class FittedModels:
    """The rule that models gave, or None, what they were, and caveats for the table."""

    rule: ModelRule | None
    fitted: str = ""
    notes: tuple[Note, ...] = ()


def find_many_values(graph: CausalGraph, query: EffectQuery, log: Log) -> Nodes:
    """Find the columns of many numbers, which beside models are not categories.

    Arms and contexts are categories all the same.
    """
    own = {*query.treatments, *query.context, *query.outcomes}
    levels = log.count_levels(find_numbers(log, graph.observed - own))
    return frozenset(name for name, n in levels.items() if n > MANY_VALUES)


def leave_numbers(rules: Iterable[Rule], numbers: Nodes) -> tuple[list[Rule], Caveat]:
    """Leave out the rules that would read columns of many ``numbers`` as categories.

    Models read them as they are; the caveat says so.
    """
    return [rule for rule in rules if not rule.needs & numbers], note_numbers(numbers)


def fit_models(
    models: Models,
    graph: CausalGraph,
    evidence: Evidence,
    log: Log,
    external: Sequence[Log] = (),
    *,
    confidence: float,
    hidden: Nodes = frozenset(),
    cluster: str | None = None,
    progress: Progress = say_nothing,
) -> FittedModels:
    """Fit models of an adjustment, and make a rule of them.

    Parameters
    ----------
    models : Models
        Which estimators, folds and least propensity.
    graph : CausalGraph
        The graph with all covariates, also those that other rules do not read.
    evidence : Evidence
        What the log was counted to: query, levels, range of the outcome, limits.
    log, external
        The opened logs.
    confidence : float
        Of the table; other rules share its error.
    hidden : set of str
        Variables of which selection may have left one value.
    cluster : str, optional
        The column of clusters.
    progress : Progress
        Is called after every fold.

    Returns
    -------
    FittedModels
        Without a rule where no covariates adjust, or where memory or time does not suffice;
        the caveats say so.
    """
    query = evidence.query
    external = [other for other in external if not other.exact]  # no rows
    tables = [frozenset(other.columns) & graph.observed for other in external]
    found = find_model_adjustment(graph, query, log.columns, tables)
    if found is None or not found.covariates:
        return FittedModels(None, notes=(note_no_adjustment(needed=found is None),))
    read = {*found.covariates, *query.outcomes, *query.treatments, *query.context}
    if hidden & read:
        return FittedModels(None)  # another caveat says why
    sources = [
        log,
        *(of for of, held in zip(external, tables, strict=True) if held == found.table),
    ]
    try:
        progress("read rows for models", 0, 1)
        counted = [
            count_rows(
                source,
                query,
                found.covariates,
                cluster if cluster in source.columns else None,
                evidence.workspace.memory_limit,
                external=source is not log,
            )
            for source in sources[:2]
        ]
        return _fit_tables(models, graph, evidence, found, counted, confidence, progress)
    except (*LIMITS, TooManyCells) as error:
        short = "time_limit" if isinstance(error, OutOfTime) else "memory_limit"
        return FittedModels(None, notes=(note_unfitted(NAME, short),))


def _fit_tables(
    models: Models,
    graph: CausalGraph,
    evidence: Evidence,
    found: ContextAdjustment,
    tables: Sequence[CountTable],
    confidence: float,
    progress: Progress,
) -> FittedModels:
    """Fit models on the rows of the log and of an external table, and score every arm."""
    query, workspace, counts = evidence.query, evidence.workspace, evidence.log
    n_arms = prod(evidence.levels[name] for name in query.treatments)
    rows, notes = make_rows(
        tables,
        query,
        found.covariates,
        counts.table.levels,
        (counts.low, counts.high),
        workspace,
    )
    binary = bool(np.isin(rows[0].outcome, (0.0, 1.0)).all())
    learners = Learners(
        Learner(REWARD, models.reward, models.kind, probabilities=binary),
        Learner(ARM, models.arm, models.kind, probabilities=True),
        Learner(EXTERNAL, models.external, models.kind, probabilities=True)
        if len(rows) > 1
        else None,
    )
    predicted = predict_rows(
        rows, n_arms, learners, models.folds, models.seed, workspace, progress
    )
    axes, shape = query.treatments + query.context, tuple(evidence.shape)
    scores = score_arms(rows, predicted, axes, shape, 1 / models.least_propensity)
    fitted = learners.describe(len(rows[0]), models.folds, models.least_propensity)
    rule = ModelRule(query, scores, _write_reason(graph, query, found, fitted), confidence)
    said = {str(note) for of in evidence.tables for note in of.table.notes}
    all_notes = [*(note for of in tables for note in of.notes), *notes]
    if models.external is not None and len(tables) == 1:
        all_notes.append(note_unused_model(EXTERNAL))
    fresh = tuple(note for note in dict.fromkeys(all_notes) if str(note) not in said)
    return FittedModels(rule, fitted, fresh)


def _write_reason(
    graph: CausalGraph, query: EffectQuery, found: ContextAdjustment, fitted: str
) -> RuleRecord:
    """The formula whose terms are predicted, why it holds by the graph, and the models."""
    x, y, c = (frozenset(names) for names in (query.treatments, query.outcomes, query.context))
    z, logged = found.covariates, graph.selection is not None
    weights = P(z, c, logged and not found.table)
    claim = make_sentence(Sum(z, Product((P(y, x | c | z, logged), weights))))
    verdict = adjusts_in_context(
        graph, covariates=z, treatments=x, outcomes=y, context=c, table=found.table
    )
    shares = "an external table" if found.table else "the log"
    steps = (
        StepRecord(f"{verdict.clause}: {verdict.reason}"),
        StepRecord(f"adjusted for {join_names(z)}, with shares of {shares}"),
        StepRecord(fitted),
    )
    return RuleRecord(NAME, Sentence.of(query.formula, " is ", claim), steps)


def find_model_adjustment(
    graph: CausalGraph, query: EffectQuery, columns: Iterable[str], tables: Iterable[Nodes]
) -> ContextAdjustment | None:
    """Find the covariates for models among the ``columns`` of the log; None if none adjust.

    Of all sets that adjust in context the widest is taken first, and from it every covariate is
    dropped of which the outcome is independent given the others: it would predict the arm alone,
    and make propensities small. Weights come from the log where they can, else from the first of
    the unselected ``tables`` that holds them and the contexts.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> graph = parse("I -> X; Z -> X -> Y; Z -> Y; R -> Y")
    >>> found = find_model_adjustment(graph, parse_query("Y | do(X)"), "IRZ", [])
    >>> sorted(found.covariates)
    ['R', 'Z']
    """
    x, y, c = (frozenset(names) for names in (query.treatments, query.outcomes, query.context))
    if c & graph.descendants(x):
        return None
    s = frozenset((graph.selection,)) if graph.selection else frozenset[str]()
    free = graph.observed.intersection(columns) - graph.descendants(x) - y - c - s
    behind = graph.without_edges_out_of(x)
    for usable, table in _list_sources(graph, s, free, c, tables):
        found = find_separator(behind, y, x | s, include=c, within=usable)
        if found is not None:
            widest = ContextAdjustment(found - c, table)
            return _drop_irrelevant(graph, query, widest)
    return None


def _list_sources(
    graph: CausalGraph, s: Nodes, free: Nodes, c: Nodes, tables: Iterable[Nodes]
) -> Iterator[tuple[Nodes, Nodes]]:
    """List what may be adjusted for with weights of the log, then with those of each table."""
    yield free - find_connected_nodes(graph, s, given=c), frozenset()
    for table in tables:
        if s and c <= table:
            yield free & table, table


def _drop_irrelevant(
    graph: CausalGraph, query: EffectQuery, widest: ContextAdjustment
) -> ContextAdjustment:
    """Drop one by one the covariates that tell nothing of rewards given all the others."""
    kept, known = widest.covariates, {*query.treatments, *query.context}
    for name in sort_names(kept):
        fewer = kept - {name}
        if open_walk(graph, name, query.outcomes, given=known | fewer):
            continue
        if adjusts_in_context(
            graph,
            covariates=fewer,
            treatments=query.treatments,
            outcomes=query.outcomes,
            context=query.context,
            table=widest.table,
        ):
            kept = fewer
    return ContextAdjustment(kept, widest.table)
