"""What it would tell to know that an edge is not there."""

from collections.abc import Iterator
from dataclasses import replace

from boundit.checks.check import check
from boundit.core.errors import DataError
from boundit.core.long_work import Progress
from boundit.decisions.suggest.evaluation import Evaluation, measure_width
from boundit.decisions.suggest.report import NARROWER, Suggestion
from boundit.graph.causal_graph import CausalGraph

CHECKING = 0.2
"""Which part of the time that is left one check of the log may take."""


def suggest_edges(
    evaluation: Evaluation, progress: Progress
) -> tuple[list[Suggestion], list[str]]:
    """Ask what it would tell to know that one edge of the graph is not there.

    Edges from an arm to the reward are not asked about, nor those without which no arm would
    move it. Edges whose absence the log contradicts come by name, after the suggestions.
    """
    graph, found, there = evaluation.request.graph, list[Suggestion](), list[str]()
    edges = list(_list_edges(evaluation))
    refuted = _find_contradictions(evaluation, graph)
    for i, (shown, smaller) in enumerate(edges):
        if evaluation.budget.is_over():
            break
        progress("try edges", i, len(edges))
        table = evaluation.derive(replace(evaluation.request, graph=smaller))
        if table is None:
            there += [] if evaluation.budget.is_over() else [shown]
            continue
        width = measure_width(table)
        helps = width < evaluation.width * (1 - NARROWER)
        if helps and _find_contradictions(evaluation, smaller) - refuted:
            there.append(shown)
            continue
        formula = None
        if evaluation.formula is None:
            formula = evaluation.find_formula(smaller)
        found.append(
            Suggestion(
                "edge",
                f"knowing that {shown} is not there",
                width,
                width,
                width,
                "knowledge: an expert, a design or another study that rules the edge out",
                "the same log, bounded by the graph without the edge",
                exact=formula is not None,
                formula=formula or "",
            )
        )
    return found, there


def _list_edges(evaluation: Evaluation) -> Iterator[tuple[str, CausalGraph]]:
    """List each edge that may be asked about, with the graph that lacks it."""
    graph, query = evaluation.request.graph, evaluation.request.query
    (outcome,) = query.outcomes
    marks = {graph.selection: f"[{graph.selection}]"}
    for kind, edges in (("<->", graph.bidirected), ("->", graph.directed)):
        for a, b in sorted(edges):
            if b in graph.relatives or (kind == "<->" and a in graph.relatives):
                continue  # members of a group share such edges, and no one of them can go
            smaller = CausalGraph.of(
                graph.nodes,
                directed=graph.directed - ({(a, b)} if kind == "->" else set()),
                bidirected=graph.bidirected - ({(a, b)} if kind == "<->" else set()),
                selection=graph.selection,
                groups=graph.groups,
            )
            direct = a in query.treatments and b == outcome and kind == "->"
            if not direct and outcome in smaller.descendants(query.treatments):
                yield f"{marks.get(a, a)} {kind} {marks.get(b, b)}", smaller


def _find_contradictions(evaluation: Evaluation, graph: CausalGraph) -> frozenset[str]:
    """Find the statements of a graph that the log contradicts, as ``check`` tests them.

    A log that a learning policy wrote cannot be tested, nor a reward that is a number.
    """
    log = evaluation.request.log
    if log.adaptive:
        return frozenset()
    try:
        report = check(graph, log, time_limit=evaluation.budget.share(CHECKING).count_seconds())
    except DataError:
        return frozenset()
    return frozenset(str(finding.statement) for finding in report.contradictions)
