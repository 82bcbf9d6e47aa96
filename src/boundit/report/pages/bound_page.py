"""The page of one table of bounds: what was asked, what came out, why, and what to heed."""

from collections.abc import Mapping, Sequence

from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.report.figures.whiskers import Whiskers
from boundit.report.pages.bound_view import facts
from boundit.report.pages.origin import origin
from boundit.report.pages.page import page
from boundit.report.pages.sections import (
    Section,
    bounds_section,
    graph_section,
    intervals_section,
    notes,
    prose,
    rules_section,
    sensitivity_section,
)
from boundit.report.records import Ladder, PointEstimates
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.formula import Line, Sentence

MOST_NODES = 60
"""Up to how many nodes a drawing helps; larger graphs are written down instead."""


def bound_page(
    table: BoundTable,
    *,
    graph: CausalGraph | None = None,
    query: EffectQuery | str | None = None,
    command: str = "",
    settings: Mapping[str, object] | None = None,
    truth: Mapping[Key, float] | None = None,
    points: Sequence[PointEstimates] = (),
    ladders: Sequence[Ladder] = (),
    title: str = "",
) -> str:
    """Write the page of a table.

    ``query`` is what was asked, as text or as an EffectQuery; ``truth`` and ``points`` are
    shown beside the bounds, ``ladders`` are bounds at growing limits of the sensitivity.
    """
    whiskers = Whiskers(table, truth, points)
    sections: list[Section] = [intervals_section(whiskers, caption=_reading(table))]
    sections.append(bounds_section(table))
    if ladders:
        sections.append(sensitivity_section(ladders))
    if table.rules:
        sections.append(rules_section(table))
    if table.caveats:
        sections.append(notes("What to heed", table.caveats))
    if graph is not None:
        sections.append(_graph(graph, table))
    return page(
        title or f"What each arm would earn: {table.outcome}",
        sections,
        lead=_lead(table, _read_query(query, table)),
        facts=facts(table),
        origin=origin(command, _settings(table) | dict(settings or {})),
    )


def _read_query(query: EffectQuery | str | None, table: BoundTable) -> EffectQuery:
    """Take the question as it was asked, or else the one the table answers.

    Called by ``bound_page``.
    """
    if query is None:
        return EffectQuery((table.outcome,), table.treatments, table.context)
    return parse_query(query) if isinstance(query, str) else query


def _lead(table: BoundTable, query: EffectQuery) -> tuple[Line, ...]:
    arms, contexts = len(table.arms), len(table.contexts)
    low, high = table.reward_range
    where = f"in each of {contexts:,} contexts" if table.context else "whatever the context"
    sure = (
        f"With confidence {table.confidence:g}, every interval of this page holds at once."
        if table.confidence
        else "Sampling error is not allowed for: these are plug-in ends."
        if table.rules
        else "The intervals are as they were given."
    )
    return (
        Sentence.of(
            "The question is ",
            query.formula,
            f": what {arms:,} arm{'' if arms == 1 else 's'} would earn "
            f"{where}, on a scale from {low:g} to {high:g}.",
        ),
        f"{sure} An arm is dominated where another surely earns more.",
    )


def _reading(table: BoundTable) -> str:
    if table.confidence:
        return (
            "The thin line is the interval. The thick part would remain however many rows were "
            "logged; the rest of the line allows for chance, and more rows make it shorter."
        )
    return ""


def _settings(table: BoundTable) -> dict[str, object]:
    confidence = "plug-in" if table.confidence is None else table.confidence
    return {"profile": table.profile, "confidence": confidence}


def _graph(graph: CausalGraph, table: BoundTable) -> Section:
    if len(graph.nodes) > MOST_NODES:
        return prose(
            "What is assumed",
            f"A graph of {len(graph.nodes)} nodes, too many to draw:",
            str(graph),
        )
    known = graph.nodes
    return graph_section(
        graph,
        treatments=known & set(table.treatments),
        context=known & set(table.context),
        outcomes=known & {table.outcome},
        caption="Every bound rests on this graph: on each arrow that is missing.",
    )
