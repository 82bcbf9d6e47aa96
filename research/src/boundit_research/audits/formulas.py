"""Is every recovered formula the effect? Random questions, exact laws in, gaps measured."""

from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator, SeedSequence, default_rng

from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.formula import evaluate
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.simulation.random_models import draw_graph, draw_model
from boundit_research.audits.report import Report, judge_each


@dataclass
class FormulaReport(Report):
    """How many questions were asked, answered, and answered wrongly."""

    unit = "questions"
    found: int = 0
    wrong: int = 0
    worst_gap: float = 0.0

    def __bool__(self) -> bool:
        """True when no formula was wrong."""
        return not self.wrong

    def __str__(self) -> str:
        """Say how many formulas were found, and how many are wrong."""
        return (
            f"{self.models:,} random questions, seed {self.seed}: {self.found:,} "
            f"formulas found, {self.wrong} wrong, largest gap {self.worst_gap:.1e}"
        )


def audit_formulas(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> FormulaReport:
    """Ask random questions and compare every formula found with its model's truth.

    Gives how many were asked, answered, and answered wrongly. Graphs have three to seven
    variables of two or three levels; two in three are selected, one in three has external
    tables. Questions have one or two outcomes, up to two treatments and two conditions.

    >>> report = audit_formulas(30)
    >>> report.models, report.wrong
    (30, 0)
    """
    report = FormulaReport(seed)
    streams = map(default_rng, SeedSequence(seed).spawn(models))
    judge_each(report, streams, lambda rng: _ask_question(rng, report), progress)
    return report


def _ask_question(rng: Generator, report: FormulaReport) -> None:
    """Draw a model and a question, recover a formula, and compare its value with the truth.

    Counts in ``report`` whether one was found and whether it was wrong.
    """
    graph = draw_graph(int(rng.integers(3, 8)), rng, selection=bool(rng.random() < 2 / 3))
    names = [str(name) for name in rng.permutation(sort_names(graph.observed))]
    n_out, n_do, n_given = (
        int(rng.integers(1, 3)),
        int(rng.integers(0, 3)),
        int(rng.integers(0, 3)),
    )
    query = EffectQuery(
        tuple(names[:n_out]),
        tuple(names[n_out : n_out + n_do]),
        tuple(names[n_out + n_do : n_out + n_do + n_given]),
    )
    tables: list[Nodes] = []
    if graph.selection and rng.random() < 0.5:
        size = int(rng.integers(1, 3))
        tables.append(frozenset(map(str, rng.choice(names, size, replace=False))))
    answer = identify(graph, query, external=tables)
    if answer.expression is None:
        return
    report.found += 1
    model = draw_model(graph, rng, levels=(2, 3))
    log = model.log()
    external = [model.distribution(table) for table in tables] if graph.selection else [log]
    truth = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    gap = evaluate(answer.expression, log, external=external).measure_gap(truth)
    report.worst_gap = max(report.worst_gap, gap)
    report.wrong += not gap < ROUNDING
