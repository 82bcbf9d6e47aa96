"""The parts a page is composed of: each a finished value with a title, shown by a template."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from typing import ClassVar, TypeAlias

from boundit.core.formula import Line
from boundit.core.names import Names
from boundit.graph.causal_graph import CausalGraph
from boundit.report.figures.curves import write_curve_svgs
from boundit.report.figures.interval_panels import draw_interval_panels
from boundit.report.figures.marks import Mark
from boundit.report.figures.sensitivity import (
    describe_omission,
    draw_sensitivity_panels,
    explain_limit,
)
from boundit.report.figures.whiskers import Whiskers
from boundit.report.graph.svg import draw_graph
from boundit.report.pages.bound_view import (
    ContextGroup,
    RuleView,
    explain_row,
    group_rows,
    list_rules,
    make_finder,
)
from boundit.report.pages.choice_view import ChoiceSection
from boundit.report.pages.comparison_view import (
    ComparisonRow,
    describe_misses,
    list_comparison_rows,
)
from boundit.report.records import (
    Curve,
    Grid,
    JudgedClaim,
    Ladder,
    Panel,
    PathHighlight,
    TruthComparison,
)
from boundit.report.text.contexts import describe_common
from boundit.report.text.lettering import format_level
from boundit.report.text.mathml import draw_line
from boundit.results.bound_table import BoundTable

FILTERED = 20
"""From how many rows on a table can be searched."""
MOST_DRAWN = 200
"""Up to how many rows the formulas of explanations are drawn; in a larger table they are text."""
MOST_ROWS = 2000
"""How many rows a page shows; of a larger table the narrowest."""


@dataclass(frozen=True, slots=True)
class ProseSection:
    """Paragraphs; formulas in them are drawn."""

    kind: ClassVar[str] = "prose"
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotesSection:
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
class PanelsSection:
    """Small figures side by side, with one legend."""

    kind: ClassVar[str] = "panels"
    title: str
    panels: tuple[Panel, ...]
    marks: tuple[Mark, ...]
    caption: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class CurvesSection:
    """One figure, drawn for wide pages and for narrow ones."""

    kind: ClassVar[str] = "plot"
    title: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class BoundsSection:
    """The intervals of a table, each explanation one click away; ``size`` is how many it has."""

    kind: ClassVar[str] = "bounds"
    title: str
    arm_name: str
    groups: tuple[ContextGroup, ...]
    common: str
    size: int
    dominated: int
    searched: bool
    reading: str

    @property
    def has_headings(self) -> bool:
        """Whether contexts have a heading; one alone that needs no name has none."""
        return len(self.groups) > 1 or self.groups[0].name != "everyone"

    @property
    def highlights(self) -> Iterator[PathHighlight]:
        """The parts of the drawn graph that steps of its explanations light up.

        With any, the page needs the script for it.
        """
        rows = (row for group in self.groups for row in group.rows)
        blocks = (block for row in rows for block in row.explanation)
        lines = (line for block in blocks for line in block.lines)
        return (line.highlight for line in lines if line.highlight)


@dataclass(frozen=True, slots=True)
class RulesSection:
    """The rules behind a table."""

    kind: ClassVar[str] = "rules"
    title: str
    rules: tuple[RuleView, ...]

    @property
    def highlights(self) -> Iterator[PathHighlight]:
        """The parts of the drawn graph that steps of its rules light up.

        With any, the page needs the script for it.
        """
        steps = (step for rule in self.rules for step in rule.steps)
        return (step.highlight for step in steps if step.highlight)


@dataclass(frozen=True, slots=True)
class ComparisonSection:
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
    """A plain table; a ``stacked`` one shows its rows one below the other on a narrow page."""

    kind: ClassVar[str] = "table"
    title: str
    grid: Grid
    right: tuple[bool, ...]
    caption: str
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class ClaimsSection:
    """Claims and whether they hold."""

    kind: ClassVar[str] = "claims"
    title: str
    claims: tuple[JudgedClaim, ...]
    tally: Mapping[str, int]


Section: TypeAlias = (
    ProseSection
    | NotesSection
    | GraphSection
    | PanelsSection
    | CurvesSection
    | BoundsSection
    | RulesSection
    | ChoiceSection
    | ComparisonSection
    | TableSection
    | ClaimsSection
)


def make_prose(title: str, *paragraphs: Line) -> ProseSection:
    """Make a page's section of paragraphs.

    >>> make_prose("Why", "a < b").paragraphs
    ('a &lt; b',)
    """
    return ProseSection(title, tuple(map(draw_line, paragraphs)))


def make_notes(title: str, remarks: Sequence[Line]) -> NotesSection:
    """Make a page's section of remarks, as a list."""
    return NotesSection(title, tuple(map(draw_line, remarks)))


def make_graph_section(
    graph: CausalGraph,
    *,
    treatments: Names = (),
    context: Names = (),
    outcomes: Names = (),
    title: str = "What is assumed",
    caption: str = "",
) -> GraphSection:
    """Make the section that draws the causal graph."""
    svg = draw_graph(graph, treatments=treatments, context=context, outcomes=outcomes)
    return GraphSection(title, svg, draw_line(caption), str(graph))


def make_intervals_section(
    shown: Whiskers, *, title: str = "Intervals per context", caption: str = ""
) -> PanelsSection:
    """Make the section that draws bounds, a panel for each context."""
    said = " ".join(filter(None, (caption, shown.omission)))
    return PanelsSection(title, draw_interval_panels(shown), shown.marks, draw_line(said))


def make_sensitivity_section(
    ladders: Sequence[Ladder],
    *,
    caption: str = "",
) -> PanelsSection:
    """Make the section that draws bounds against a limit, and says what that is.

    All ladders have limits on the same.
    """
    edge = next((ladder.edge for ladder in ladders), "")
    title = "If selection went no further than a limit G"
    if edge:
        title = f"If the unseen in {edge} goes no further than a limit"
    said = " ".join(filter(None, (caption, describe_omission(ladders))))
    return PanelsSection(
        title,
        draw_sensitivity_panels(ladders),
        (),
        draw_line(said),
        lead=explain_limit(ladders),
    )


def make_sensitivity_sections(ladders: Sequence[Ladder]) -> list[PanelsSection]:
    """Make a section for each kind of limit: on selection, and on the edges of ladders."""
    edges = dict.fromkeys(ladder.edge for ladder in ladders)
    return [
        make_sensitivity_section([ladder for ladder in ladders if ladder.edge == edge])
        for edge in edges
    ]


def make_curves_section(
    curves: Sequence[Curve], *, title: str, caption: str = ""
) -> CurvesSection:
    """Make the section that draws regret curves over rounds."""
    return CurvesSection(title, *write_curve_svgs(curves, title=title), draw_line(caption))


def make_bounds_section(
    table: BoundTable, *, title: str = "Every interval", graph: CausalGraph | None = None
) -> BoundsSection:
    """Make the section that lists the rows of a bound table with their explanations.

    ``graph`` is the one the page draws; steps light up their paths in it.
    """
    name = ", ".join(map(format_level, table.treatments)) or "arm"
    size, bounds = len(table.bounds), table.bounds
    narrow = sorted(bounds, key=lambda key: bounds[key].upper - bounds[key].lower)[:MOST_ROWS]
    kept, places = frozenset(narrow), {c: i for i, c in enumerate(table.contexts)}
    shown = sorted((key for key in bounds if key in kept), key=lambda key: places[key[1]])
    draw = cache(draw_line) if size <= MOST_DRAWN else lambda line: escape(str(line))
    return BoundsSection(
        title,
        name,
        group_rows(table, shown, draw, make_finder(graph)),
        describe_common(table),
        size,
        sum(len(table.find_dominations(context)) for context in table.contexts),
        searched=size > FILTERED,
        reading=explain_row(table),
    )


def make_rules_section(
    table: BoundTable, *, title: str = "Why the bounds hold", graph: CausalGraph | None = None
) -> RulesSection:
    """Make the section that lists the rules behind a bound table.

    Steps light up their paths in the page's ``graph``.
    """
    return RulesSection(title, list_rules(table, graph))


def make_comparison_section(
    comparison: TruthComparison, *, title: str = "Beside the truth", caption: str = ""
) -> ComparisonSection:
    """Make the section of a table of intervals and estimates beside the truth, misses marked."""
    return ComparisonSection(
        title,
        tuple(spans.name for spans in comparison.spans),
        tuple(points.name for points in comparison.points),
        bool(comparison.truth),
        list_comparison_rows(comparison),
        describe_misses(comparison),
        draw_line(caption),
    )


def make_table_section(
    grid: Grid, *, title: str, caption: str = "", stacked: bool = False
) -> TableSection:
    """Make the section of a plain table with a head and rows.

    ``stacked`` is for cells that hold sentences.
    """
    columns = range(len(grid.head))
    right = tuple(all(_is_number(row[i]) for row in grid.rows) for i in columns)
    return TableSection(title, grid, right, draw_line(caption), stacked)


def make_claims_section(
    claims: Sequence[JudgedClaim], *, title: str = "Claims"
) -> ClaimsSection:
    """Make the section that lists claims, whether they hold, and the number that shows it."""
    tally = dict.fromkeys(("holds", "holds under a condition", "does not hold"), 0)
    for claim in claims:
        tally[claim.judgement] += 1
    typed = (replace(c, said=draw_line(c.said), shown=draw_line(c.shown)) for c in claims)
    return ClaimsSection(title, tuple(typed), tally)


def _is_number(cell: str | float) -> bool:
    """Tell whether a table cell is aligned right: a number, or text that begins like one."""
    return not isinstance(cell, str) or bool(re.match(r"\[?[+\-±−]?[\d.]", cell)) or not cell
