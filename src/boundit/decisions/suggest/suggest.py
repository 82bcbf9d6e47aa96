"""What would narrow the bounds of a log: obtainable things alone, ranked by expected width."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from boundit.bounds.derive import derive_table
from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.long_work import Progress, TimeBudget, follow_progress
from boundit.decisions.suggest.counted_log import hold_counts
from boundit.decisions.suggest.evaluation import Evaluation, measure_width
from boundit.decisions.suggest.external_tables import suggest_external_tables
from boundit.decisions.suggest.graph_changes import suggest_edges
from boundit.decisions.suggest.report import NARROWER, Suggestion, SuggestReport
from boundit.decisions.suggest.selection_and_rows import suggest_rows, suggest_selection_rate
from boundit.decisions.suggest.trial import suggest_trial
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike
from boundit.simulation.errors import ModelTooLarge, NoEnvironmentFits
from boundit.simulation.fit import count_relevant, find_relevant, fit_to_counts
from boundit.simulation.fitted import FittedEnvironment
from boundit.simulation.options import read_seed, read_whole

FITTING = 0.3
"""Part of the time that is left for the environments that tables are drawn from."""


@accept_options
def suggest(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    worlds: int = 3,
    trial: int = 1_000,
    seed: int = 0,
    **options: Unpack[Options],
) -> SuggestReport:
    """Say what would narrow the bounds of a log, and how wide they would be then.

    Tried are: the selection rate; tables of everyone, the smallest that make the effect
    recoverable first; knowing that an edge is not there; four times the rows; a randomised
    trial. The rows of the log are counted once.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    worlds
        From how many environments that fit the log the contents of tables are taken; widths are
        means over them.
    trial
        How many rounds of each arm in each context a randomised trial would have.
    seed
        Of the environments.
    **options
        As for ``derive_bounds``; notes say what no time was left for.

    Examples
    --------
    >>> from boundit.simulation.environments import flipped_environment
    >>> mine = flipped_environment()
    >>> report = suggest(mine.graph, mine.query, mine.log(4000, seed=1), worlds=1)
    >>> [each.variables for each in report.suggestions if each.kind == "external table"]
    [('Z',)]
    """
    n_worlds, n_rounds = (
        read_whole("worlds", worlds, least=1),
        read_whole("trial", trial, least=1),
    )
    number = read_seed(seed)
    asked = read_request(graph, query, log, **options)
    with follow_progress(options.get("progress")) as tell:
        *_, found = suggest_in_turn(
            asked, worlds=n_worlds, trial=n_rounds, seed=number, progress=tell
        )
    return found


def suggest_in_turn(
    asked: BoundRequest,
    *,
    worlds: int = 3,
    trial: int = 1_000,
    seed: int = 0,
    progress: Progress,
) -> Iterator[SuggestReport]:
    """Yield what would narrow the bounds as far as it is known, and last of all the whole.

    What takes a moment comes before what needs environments that fit the log, which take longest.
    """
    evaluation = _start_evaluation(asked, progress)
    found = [*suggest_rows(evaluation), *suggest_selection_rate(evaluation)]
    edges, there = suggest_edges(evaluation, progress)
    found += edges
    yield _rank(evaluation, found, ())
    drawn, notes = _fit_environments(evaluation, worlds, seed, progress)
    found += suggest_trial(evaluation, drawn, trial)
    yield _rank(evaluation, found, ())
    found += suggest_external_tables(evaluation, drawn, progress)
    yield _rank(evaluation, found, [*notes, *_list_notes(evaluation, there)])


def _list_notes(evaluation: Evaluation, there: Sequence[str]) -> Iterator[str]:
    """List what was left out and why; ``there`` are edges that the log itself shows."""
    if dropped := evaluation.counts.dropped:
        gone = ", ".join(f"{name} ({count:,})" for name, count in dropped.items())
        yield f"rows without a value were left out, whatever is asked: {gone}"
    if there:
        said = ", ".join(there)
        yield f"the log contradicts the graph without these edges: {said}"
    if evaluation.budget.is_over():
        yield "the time limit ended the search; other things may help as well"


def _start_evaluation(asked: BoundRequest, progress: Progress) -> Evaluation:
    """Count all that bears on the question, once, and bound it as the log stands today."""
    budget = TimeBudget(asked.time_limit)
    budget.count_seconds()
    progress("count the log", 0, 1)
    counts = count_relevant(asked)
    request = replace(
        asked, graph=find_relevant(asked.graph, asked.query), log=hold_counts(counts)
    )
    return Evaluation(request, counts, derive_table(request, {}, progress), budget)


def _fit_environments(
    evaluation: Evaluation, n: int, seed: int, progress: Progress
) -> tuple[Sequence[FittedEnvironment], list[str]]:
    """Draw environments that fit the log, or say in a note why there are none."""
    try:
        fitted = fit_to_counts(
            evaluation.request,
            evaluation.counts,
            evaluation.table,
            n=n,
            seed=seed,
            budget=evaluation.budget.share(FITTING),
            progress=progress,
        )
    except (ModelTooLarge, NoEnvironmentFits) as error:
        return (), [f"no tables of everyone were tried: {error}"]
    return fitted.environments, []


def _rank(
    evaluation: Evaluation, found: Sequence[Suggestion], notes: Sequence[str]
) -> SuggestReport:
    """Rank suggestions by expected width, and set apart those that are of no use."""
    today = evaluation.width
    helps = [each for each in found if each.width < today * (1 - NARROWER)]
    useless = [each.what for each in found if each not in helps]
    ranked = sorted(helps, key=lambda each: (each.width, len(each.variables), each.what))
    return SuggestReport(
        today,
        measure_width(evaluation.table, estimates=True),
        tuple(ranked),
        tuple(useless),
        tuple(notes),
        evaluation.request.confidence,
        evaluation.formula or "",
    )
