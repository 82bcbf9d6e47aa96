"""What results besides bounds show in a notebook, made of the sections of pages."""

from collections.abc import Sequence
from math import isfinite, isinf
from typing import Protocol

from boundit.bandit.decision import Decision
from boundit.checks.report import CheckReport, write_statement
from boundit.core.names import join_names
from boundit.estimand.derivation import Identification
from boundit.estimand.notation import make_sentence
from boundit.graph.causal_graph import CausalGraph
from boundit.report.chart import Curve, LineChart, draw_key
from boundit.report.lettering import format_level
from boundit.report.page import Page
from boundit.report.sections import (
    Cell,
    Drawing,
    Figure,
    Formula,
    Html,
    Notes,
    Prose,
    Section,
    Table,
    make_table,
)
from boundit.results.bound import Value
from boundit.results.bound_table import BoundTable

MOST_PANELS = 12
OF_SELECTION = (
    "G limits how unevenly rows were logged: every stratum G times as often as average at most, "
    "or G times as seldom. At G = 1 all strata were logged alike."
)
OF_CONFOUNDING = (
    "The limit is on the unmeasured common cause of {edge}: given what was observed, it changes "
    "the odds of a treatment by this factor at most. At 1 the two are not confounded."
)


class LimitCurve(Protocol):
    """Tables of bounds by a limit, smallest first."""

    @property
    def limits(self) -> Sequence[float]:
        """The limits."""
        ...

    @property
    def tables(self) -> Sequence[BoundTable]:
        """A table for each limit."""
        ...


def chart_limits(curve: LimitCurve) -> Figure:
    """Chart bounds against a limit, a panel for each arm and context, on one axis."""
    edge = _find_edge(curve)
    first = curve.tables[0]
    kept = [i for i, limit in enumerate(curve.limits) if isfinite(limit)]
    at = tuple(curve.limits[i] for i in kept)
    keys = list(first.bounds)[:MOST_PANELS]
    ends = [
        (tuple(curve.tables[i].bounds[key].lower for i in kept),
         tuple(curve.tables[i].bounds[key].upper for i in kept))
        for key in keys
    ]  # fmt: skip
    low, high = min(x for lower, _ in ends for x in lower), max(x for _, u in ends for x in u)
    pad = 0.05 * ((high - low) or 1.0)
    label = f"limit on {edge}" if edge else "limit G"
    charts = tuple(
        LineChart(name, (Curve(name, at, (), *both),), label, y_range=(low - pad, high + pad))
        for name, both in zip((_name_row(first, key) for key in keys), ends, strict=True)
    )
    left = len(first.bounds) - len(keys)
    return Figure(
        f"Bounds against the limit on {edge or 'selection'}",
        charts,
        f"The first {len(keys)} of {len(first.bounds):,} rows." if left else "",
        OF_CONFOUNDING.format(edge=edge) if edge else OF_SELECTION,
    )


def _find_edge(curve: LimitCurve) -> str:
    """Find the edge whose limit on confounding varies; empty where selection's does."""
    pairs = list(zip(curve.limits, curve.tables, strict=True))
    for edge in curve.tables[0].confounding_limit:
        if all(table.confounding_limit.get(edge) == limit for limit, table in pairs):
            return edge
    return ""


def _name_row(table: BoundTable, key: tuple[tuple[Value, ...], tuple[Value, ...]]) -> str:
    parts = [
        ", ".join(
            v if isinstance(v, str) else f"{n}={v}" for n, v in zip(names, of, strict=True)
        )
        for names, of in zip((table.treatments, table.context), key, strict=True)
    ]
    return ", ".join(filter(None, parts))


def show_check(report: CheckReport) -> str:
    """Write a check, contradictions first."""
    said = report.verdict()
    rows = [
        (
            write_statement(each.statement),
            each.status,
            "" if each.strength is None else f"{each.strength:.2g}",
            "" if each.corrected is None else f"{each.corrected:.2g}",
            each.explain(),
        )
        for each in report.findings
    ]
    head = ("implication", "in the data", "V", "p, corrected", "meaning")
    sections = [make_table("", head, rows)] if rows else []
    caveats = [Notes("Caveats", tuple(map(str, report.caveats)))] if report.caveats else []
    return Page(f"{said[:1].upper()}{said[1:]}", (), (*sections, *caveats)).write_snippet()


def show_decision(decision: Decision) -> str:
    """Write a decision, the chosen arm first."""
    truncated, given = frozenset(decision.truncated), decision.propensities
    ranked = sorted(
        decision.scores.items(), key=lambda scored: (scored[0] != decision.arm, -scored[1])
    )
    rows = [
        (
            _join(arm if isinstance(arm, tuple) else (arm,)),
            "not played yet" if isinf(score) else f"{score:.4g}",
            f"{given[arm]:.3g}" if arm in given else "",
            ", ".join(
                ["chosen"] * (arm == decision.arm)
                + ["truncated to the bounds"] * (arm in truncated)
            ),
        )
        for arm, score in ranked
    ]
    where = decision.context_values
    said = [f"Decision {decision.id}{f', by {decision.branch}' if decision.branch else ''}"]
    if (skipped := len(given) - len(ranked)) > 0:
        said.append(
            f"{skipped:,} arm{'s' * (skipped > 1)} not scored: the bounds rule them out."
        )
    table = make_table("", ("arm", "score", "propensity", "note"), rows)
    title = f"{_join(decision.arm_values)}{f', context {_join(where)}' if where else ''}"
    return Page(title, tuple(said), (table,) if rows else ()).write_snippet()


def _join(values: tuple[Value, ...]) -> str:
    return ", ".join(map(format_level, values)) or "everyone"


def show_graph(graph: CausalGraph) -> str:
    """Write a causal graph: drawn, with its text."""
    nodes, edges = len(graph.nodes), len(graph.directed) + len(graph.bidirected)
    size = f"{nodes:,} node{'s' * (nodes != 1)}, {edges:,} edge{'s' * (edges != 1)}"
    sections: tuple[Section, ...] = (Drawing("", graph),) if nodes else ()
    return Page(f"Causal graph: {size}", (), sections).write_snippet()


def show_recovery(found: Identification) -> str:
    """Write an identification: the formula, or why there is none, and the derivation."""
    steps = tuple(step.sentence for step in found.steps)
    sections: list[Section] = [Notes("Derivation", steps)] if steps else []
    if found.expression is None:
        said = str(found)
        return Page(f"{said[:1].upper()}{said[1:]}", (), tuple(sections)).write_snippet()
    free = f"For any value of {join_names(found.arbitrary)}." if found.arbitrary else ""
    formula = Formula("", make_sentence(found.expression))
    words = [Prose("", (free,))] if free else []
    return Page("Identified", (), (formula, *words, *sections)).write_snippet()


def show_curves(
    title: str,
    curves: Sequence[Curve],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
) -> str:
    """Write curves over rounds: drawn, and a row of numbers for each, in order."""
    keyed: tuple[tuple[Cell, ...], ...] = tuple(
        (Html(draw_key(i)), *row) for i, row in enumerate(rows)
    )
    chart = LineChart(title, tuple(curves), y_label="cumulative regret")
    sections = (Figure("", (chart,), caption), Table("", ("line", *head), keyed))
    return Page(title, (), sections).write_snippet()
