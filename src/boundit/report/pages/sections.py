"""The parts a page is composed of: each a finished value with a title, shown by a template."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from boundit.graph.causal_graph import CausalGraph
from boundit.report.figures.curves import curve_svgs
from boundit.report.figures.intervals import interval_panels
from boundit.report.figures.marks import Mark
from boundit.report.figures.sensitivity import MEANING, left_out, sensitivity_panels
from boundit.report.figures.whiskers import Whiskers
from boundit.report.graph.svg import graph_svg
from boundit.report.pages.bound_view import Group, RuleView, groups, reading, rules
from boundit.report.pages.comparison_view import ComparisonRow, comparison_rows, verdicts
from boundit.report.records import Comparison, Curve, Grid, JudgedClaim, Ladder, Panel
from boundit.report.text.contexts import common
from boundit.report.text.lettering import shown
from boundit.report.text.mathml import draw_line
from boundit.terms.bound_table import BoundTable
from boundit.terms.formula import Line
from boundit.terms.names import Names

FILTERED = 20
"""From how many rows on a table can be searched."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs; formulas in them are drawn."""

    kind: ClassVar[str] = "prose"
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """A list of remarks, such as caveats."""

    kind: ClassVar[str] = "notes"
    title: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphSection:
    """A graph."""

    kind: ClassVar[str] = "drawing"
    title: str
    svg: str
    caption: str
    text: str


@dataclass(frozen=True, slots=True)
class Panels:
    """Small figures side by side, with one legend."""

    kind: ClassVar[str] = "panels"
    title: str
    panels: tuple[Panel, ...]
    marks: tuple[Mark, ...]
    caption: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """One figure, drawn for wide pages and for narrow ones."""

    kind: ClassVar[str] = "plot"
    title: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class BoundRows:
    """Every interval of a table, its explanation one click away."""

    kind: ClassVar[str] = "bounds"
    title: str
    arm_name: str
    groups: tuple[Group, ...]
    common: str
    size: int
    searched: bool
    reading: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules behind a table."""

    kind: ClassVar[str] = "rules"
    title: str
    rules: tuple[RuleView, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Intervals and estimates beside the truth."""

    kind: ClassVar[str] = "comparison"
    title: str
    spans: tuple[str, ...]
    points: tuple[str, ...]
    has_truth: bool
    rows: tuple[ComparisonRow, ...]
    verdicts: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class TableSection:
    """A plain table."""

    kind: ClassVar[str] = "table"
    title: str
    grid: Grid
    right: tuple[bool, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class ClaimsSection:
    """Claims and whether they hold."""

    kind: ClassVar[str] = "claims"
    title: str
    claims: tuple[JudgedClaim, ...]
    tally: Mapping[str, int]


Section: TypeAlias = (
    Prose
    | Notes
    | GraphSection
    | Panels
    | Plot
    | BoundRows
    | Rules
    | Compared
    | TableSection
    | ClaimsSection
)


def prose(title: str, *paragraphs: Line) -> Prose:
    """Say something in words.

    >>> prose("Why", "a < b").paragraphs
    ('a &lt; b',)
    """
    return Prose(title, tuple(map(draw_line, paragraphs)))


def notes(title: str, remarks: Sequence[Line]) -> Notes:
    """List remarks."""
    return Notes(title, tuple(map(draw_line, remarks)))


def graph_section(
    graph: CausalGraph,
    *,
    treatments: Names = (),
    context: Names = (),
    outcomes: Names = (),
    title: str = "What is assumed",
    caption: str = "",
) -> GraphSection:
    """Draw the graph."""
    svg = graph_svg(graph, treatments=treatments, context=context, outcomes=outcomes)
    return GraphSection(title, svg, draw_line(caption), str(graph))


def intervals_section(
    shown: Whiskers, *, title: str = "Intervals per context", caption: str = ""
) -> Panels:
    """Draw intervals, a panel for each context."""
    said = " ".join(filter(None, (caption, shown.left_out)))
    return Panels(title, interval_panels(shown), shown.marks, draw_line(said))


def sensitivity_section(
    ladders: Sequence[Ladder],
    *,
    title: str = "If selection went no further than a limit G",
    caption: str = "",
) -> Panels:
    """Draw bounds against the limit G, and say first what G is."""
    said = " ".join(filter(None, (caption, left_out(ladders))))
    return Panels(title, sensitivity_panels(ladders), (), draw_line(said), lead=MEANING)


def curves_section(curves: Sequence[Curve], *, title: str, caption: str = "") -> Plot:
    """Draw curves over rounds."""
    return Plot(title, *curve_svgs(curves, title=title), draw_line(caption))


def bounds_section(table: BoundTable, *, title: str = "Every interval") -> BoundRows:
    """Show every interval of a table with its explanation."""
    name = ", ".join(map(shown, table.treatments)) or "arm"
    return BoundRows(
        title,
        name,
        groups(table),
        common(table),
        len(table.bounds),
        searched=len(table.bounds) > FILTERED,
        reading=reading(table),
    )


def rules_section(table: BoundTable, *, title: str = "Why the bounds hold") -> Rules:
    """Show the rules behind a table."""
    return Rules(title, rules(table))


def comparison_section(
    comparison: Comparison, *, title: str = "Beside the truth", caption: str = ""
) -> Compared:
    """Show intervals and estimates beside the truth, misses marked."""
    return Compared(
        title,
        tuple(spans.name for spans in comparison.spans),
        tuple(points.name for points in comparison.points),
        bool(comparison.truth),
        comparison_rows(comparison),
        verdicts(comparison),
        draw_line(caption),
    )


def table_section(grid: Grid, *, title: str, caption: str = "") -> TableSection:
    """Show a plain table."""
    columns = range(len(grid.head))
    right = tuple(all(_is_number(row[i]) for row in grid.rows) for i in columns)
    return TableSection(title, grid, right, draw_line(caption))


def claims_section(claims: Sequence[JudgedClaim], *, title: str = "Claims") -> ClaimsSection:
    """Show claims, whether they hold, and the number that shows it."""
    tally = dict.fromkeys(("holds", "holds under a condition", "does not hold"), 0)
    for claim in claims:
        tally[claim.judgement] += 1
    typed = (replace(c, said=draw_line(c.said), shown=draw_line(c.shown)) for c in claims)
    return ClaimsSection(title, tuple(typed), tally)


def _is_number(cell: str | float) -> bool:
    """Tell whether a cell stands right: a number, or text that begins like one."""
    return not isinstance(cell, str) or bool(re.match(r"\[?[+\-±−]?[\d.]", cell)) or not cell
