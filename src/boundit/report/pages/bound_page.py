"""The page of one table of bounds: what was asked, what came out, why, and what to heed."""

from collections.abc import Mapping, Sequence

from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.report.figures.whiskers import Whiskers
from boundit.report.graph.folding import fold_groups
from boundit.report.pages.bound_answer import make_bound_answer
from boundit.report.pages.bound_view import count_facts
from boundit.report.pages.choice_view import make_choice_section
from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.sections import (
    Section,
    make_bounds_section,
    make_graph_section,
    make_intervals_section,
    make_notes,
    make_prose,
    make_rules_section,
    make_sensitivity_sections,
)
from boundit.report.records import Ladder, PointEstimates
from boundit.report.text.small_counts import describe_small_counts
from boundit.results.bound import Key
from boundit.results.bound_table import NO_LOG, BoundTable
from boundit.results.choice import Choice
from boundit.results.text import write_confidence

MOST_NODES = 60
"""Up to how many nodes a drawing helps; larger graphs are written down instead."""


def write_bound_page(
    table: BoundTable,
    *,
    graph: CausalGraph | None = None,
    query: EffectQuery | str | None = None,
    command: str = "",
    settings: Mapping[str, object] | None = None,
    truth: Mapping[Key, float] | None = None,
    points: Sequence[PointEstimates] = (),
    ladders: Sequence[Ladder] = (),
    choice: Choice | None = None,
    title: str = "",
) -> str:
    """Write a bound table as one HTML page, with its reasons, rules and caveats.

    ``query`` is what was asked, as text or as an EffectQuery; ``truth`` and ``points`` are
    shown beside the bounds, ``ladders`` are bounds at growing limits on selection or on hidden
    confounding; ``choice`` is what to use in each context: the answer, which comes first.
    """
    drawn = graph if graph is not None and _count_boxes(graph) <= MOST_NODES else None
    rows = make_bounds_section(table, graph=drawn)
    caption = _explain_lines(table, dominated=rows.dominated > 0)
    sections: list[Section] = [
        make_intervals_section(Whiskers(table, truth, points), caption=caption)
    ]
    if choice is not None and len(table.arms) > 1:
        sections.append(make_choice_section(choice))
    sections.append(rows)
    sections += make_sensitivity_sections(ladders)
    if table.rules:
        sections.append(make_rules_section(table, graph=drawn))
    if table.pooling != NO_LOG:
        counted = str(table.pooling).splitlines()
        sections.append(make_notes("What a policy can count of the log", counted))
    heed = [*table.caveats, *filter(None, [describe_small_counts(table)])]
    if heed:
        sections.append(make_notes("What to heed", heed))
    if graph is not None:
        sections.append(_show_graph(graph, table))
    return render_page(
        title or f"What each arm would earn: {table.outcome}",
        sections,
        answer=make_bound_answer(
            table,
            _read_query(query, table),
            choice,
            dominated=rows.dominated,
            drawn=graph is not None,
        ),
        facts=count_facts(table, rows.dominated),
        origin=describe_origin(command, _list_settings(table) | dict(settings or {})),
    )


def _read_query(query: EffectQuery | str | None, table: BoundTable) -> EffectQuery:
    """Read the question as it was asked, or take the one that the bound table answers."""
    if query is None:
        return EffectQuery((table.outcome,), table.treatments, table.context)
    return parse_query(query) if isinstance(query, str) else query


def _explain_lines(table: BoundTable, *, dominated: bool) -> str:
    """Say what the lines of the figure are, what they promise, and which arms are out."""
    said = []
    if table.confidence:
        remains = "would remain however many rows were logged"
        if not table.complete:
            remains = "is what the rules tried leave open, with limits that the caveats name"
        said.append(
            f"The thin line is the interval. The thick part {remains}; the rest of the line "
            "allows for chance, and more rows make it shorter. "
            f"{write_confidence(table, len(table.bounds), 'true mean')}"
        )
    if dominated:
        said.append("Out are arms whose mean is surely lower than another one.")
    return " ".join(said)


def _list_settings(table: BoundTable) -> dict[str, object]:
    """Give the profile, confidence, inference and models that the bound table was made with."""
    confidence = "plug-in" if table.confidence is None else table.confidence
    inference = {"inference": table.inference} if table.inference else {}
    models = {"models": table.models} if table.models else {}
    return {"profile": table.profile, "confidence": confidence, **inference, **models}


def _count_boxes(graph: CausalGraph) -> int:
    """Count the boxes that a drawing of the graph has; a group is one box."""
    return len(fold_groups(graph).graph.nodes)


def _show_graph(graph: CausalGraph, table: BoundTable) -> Section:
    """Make the section that draws the graph, or writes it down where it is too large."""
    if _count_boxes(graph) > MOST_NODES:
        return make_prose(
            "What is assumed",
            f"A graph of {len(graph.nodes)} nodes, too many to draw:",
            str(graph),
        )
    known = graph.nodes
    return make_graph_section(
        graph,
        treatments=known & set(table.treatments),
        context=known & set(table.context),
        outcomes=known & {table.outcome},
        caption="Every bound rests on this graph: on each arrow that is missing.",
    )
