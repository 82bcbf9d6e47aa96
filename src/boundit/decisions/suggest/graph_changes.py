"""What it would tell to measure a hidden cause, or to know that an edge is not there."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from boundit.checks.check import check
from boundit.counts.errors import InvalidLog
from boundit.decisions.suggest.evaluation import Evaluation, measure_width
from boundit.decisions.suggest.report import NARROWER, Suggestion
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.fitted.world_set import FittedWorld
from boundit.simulation.law_source import open_expected_log
from boundit.simulation.model import Model
from boundit.terms.long_work import Told
from boundit.terms.names import sort_names

CHECKING = 0.2
"""Which part of the time that is left one check of the log may take."""


def suggest_hidden_causes(
    evaluation: Evaluation, worlds: Sequence[FittedWorld], told: Told
) -> list[Suggestion]:
    """Ask what it would tell to measure the hidden cause behind each ``<->``.

    It then is a variable of the log, with the levels that it has in worlds that fit the log.
    Called by ``suggest_in_turn``.
    """
    request, found = evaluation.request, list[Suggestion]()
    edges = [
        sort_names(edge)
        for edge in sorted(request.graph.bidirected, key=sort_names)
        if request.graph.relatives.keys().isdisjoint(edge)
    ]
    if request.external:
        return []  # worlds are not fitted to tables of everyone
    for i, (one, other) in enumerate(edges):
        if evaluation.budget.is_over():
            break
        told("try hidden causes", i, len(edges))
        hidden = _find_hidden(worlds, one, other)
        if hidden is None:
            continue
        graph = show_hidden(request.graph, one, other, hidden)
        widths = [
            width
            for world in worlds
            if (width := _measure_shown(evaluation, world, graph)) is not None
        ]
        if not widths:
            continue
        formula = evaluation.find_formula(graph)
        count = worlds[0].model.n_levels[hidden]
        said = "an exact law" if evaluation.rows is None else f"{evaluation.rows:,} rows"
        found.append(
            Suggestion(
                "hidden cause",
                f"measuring what is behind {one} <-> {other}",
                sum(widths) / len(widths),
                min(widths),
                max(widths),
                f"a new log with the common cause of {one} and {other} in it",
                f"mean over {len(widths)} worlds that fit the log, the cause having {count} "
                f"levels, with {said}",
                exact=formula is not None,
                formula=formula or "",
                variables=(one, other),
            )
        )
    return found


def show_hidden(graph: CausalGraph, one: str, other: str, hidden: str) -> CausalGraph:
    """Draw the graph in which the hidden cause of two variables is one that is measured.

    Called by ``suggest_hidden_causes``.

    >>> from boundit.graph.read import parse_graph
    >>> print(show_hidden(parse_graph("X -> Y; X <-> Y"), "X", "Y", "U"))
    U -> X; U -> Y; X -> Y
    """
    ends = {one, other}
    return CausalGraph.of(
        [*graph.nodes, hidden],
        directed=[*graph.directed, (hidden, one), (hidden, other)],
        bidirected=[edge for edge in graph.bidirected if set(edge) != ends],
        selection=graph.selection,
    )


def suggest_edges(evaluation: Evaluation, told: Told) -> tuple[list[Suggestion], list[str]]:
    """Ask what it would tell to know that one edge of the graph is not there.

    Edges from an arm to the reward are not asked about, nor those without which no arm would
    move it. Edges whose absence the log contradicts come by name, after the suggestions. Called
    by ``suggest_in_turn``.
    """
    graph, found, there = evaluation.request.graph, list[Suggestion](), list[str]()
    edges = list(_list_edges(evaluation))
    refuted = _find_contradictions(evaluation, graph)
    for i, (shown, smaller) in enumerate(edges):
        if evaluation.budget.is_over():
            break
        told("try edges", i, len(edges))
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
    """List each edge that may be asked about, with the graph that lacks it.

    Called by ``suggest_edges``.
    """
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
    Called by ``suggest_edges`` for the graph and for those that lack an edge and would help.
    """
    log = evaluation.request.log
    if log.adaptive:
        return frozenset()
    try:
        report = check(graph, log, time_limit=evaluation.budget.share(CHECKING).count_seconds())
    except InvalidLog:
        return frozenset()
    return frozenset(str(finding.statement) for finding in report.contradictions)


def _find_hidden(worlds: Sequence[FittedWorld], one: str, other: str) -> str | None:
    """Find the name that worlds have for the hidden cause of two variables.

    Called by ``suggest_hidden_causes``.
    """
    names = {f"{one}<->{other}", f"{other}<->{one}"}
    return (
        next((name for name in worlds[0].model.hidden if name in names), None)
        if worlds
        else None
    )


def _measure_shown(
    evaluation: Evaluation, world: FittedWorld, graph: CausalGraph
) -> float | None:
    """Measure the width in a world whose log has one hidden cause among its columns.

    Called by ``suggest_hidden_causes``.
    """
    model = Model(graph, {n: (t.axes[:-1], t.values) for n, t in world.model.tables.items()})
    log = open_expected_log(model, evaluation.rows, levels=world.levels)
    changed = replace(evaluation.request, graph=graph, log=log)
    table = evaluation.derive(changed, other_logs=True)
    return None if table is None else measure_width(table)
