"""Sections of pages and notebooks: each a finished value with a title, written by a template."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined

from boundit.core.formula import Line, StepRecord
from boundit.graph.causal_graph import CausalGraph
from boundit.report.chart import NARROW, IntervalChart, LineChart
from boundit.report.drawing import draw_graph
from boundit.report.formulas import draw_line
from boundit.report.highlights import PathHighlight

Chart: TypeAlias = IntervalChart | LineChart
_LONG = 24
"""Cells of more letters are stacked on a narrow page, below the heads of their columns."""
_PANEL = 300.0


class Html(NamedTuple):
    """A cell that is HTML already."""

    html: str


Cell: TypeAlias = str | float | Html


class Place(NamedTuple):
    """Where sections are shown: how many rows a table has there, and what has all of them."""

    rows: int
    all_rows: str
    heading: str


PAGE = Place(2_000, "--json, or a table saved with --out, has all", "h2")
NOTEBOOK = Place(30, ".frame()", "")


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs; formulas in them are drawn."""

    kind: ClassVar[str] = "prose"
    title: str
    paragraphs: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """Remarks, such as caveats; a notebook shows them closed."""

    kind: ClassVar[str] = "notes"
    title: str
    remarks: tuple[Line, ...]

    @property
    def counted(self) -> str:
        """The title with the number of remarks."""
        n = len(self.remarks)
        return self.title if self.title.startswith(f"{n} ") else f"{self.title} ({n})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``all_rows`` names the method that has more rows than are shown."""

    kind: ClassVar[str] = "table"
    title: str
    head: tuple[str | Html, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Line = ""
    n_rows: int = 0

    @property
    def right(self) -> tuple[bool, ...]:
        """Whether a column has numbers, which stand right."""
        return tuple(
            bool(self.rows) and all(map(_is_number, (row[i] for row in self.rows)))
            for i in range(len(self.head))
        )

    @property
    def style(self) -> str:
        """How it is laid out: with drawings, or with sentences that are stacked."""
        cells = [cell for row in self.rows[:200] for cell in row]
        if any(isinstance(cell, Html) for cell in cells):
            return "drawn"
        return "stack" if any(len(str(cell)) > _LONG for cell in cells) else ""

    def count_more(self, shown: int) -> int:
        """How many rows are not shown."""
        return max(self.n_rows, len(self.rows)) - min(shown, len(self.rows))


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts: one drawn for wide and for narrow pages, or several side by side."""

    kind: ClassVar[str] = "figure"
    title: str
    charts: tuple[Chart, ...]
    caption: Line = ""
    lead: str = ""

    def draw(self) -> Iterator[tuple[str, str, str]]:
        """Write each chart as its class, its name and its SVG."""
        if len(self.charts) == 1:
            yield "wide", "", self.charts[0].svg()
            yield "narrow", "", self.charts[0].svg(NARROW)
        else:
            for chart in self.charts:
                yield "panel", chart.title, chart.svg(_PANEL)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A causal graph; one too large to help the eye is written."""

    kind: ClassVar[str] = "drawing"
    title: str
    graph: CausalGraph
    treatments: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    caption: str = ""
    most_nodes: ClassVar[int] = 60

    @property
    def is_drawn(self) -> bool:
        """Whether the graph is small enough."""
        return len(self.graph.nodes) <= self.most_nodes or bool(self.graph.groups)

    @property
    def svg(self) -> str:
        """The graph as SVG."""
        return draw_graph(
            self.graph,
            treatments=self.treatments,
            context=self.context,
            outcomes=self.outcomes,
        )


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of an explanation: of one kind, with what each is about in the graph."""

    name: str
    style: str
    lines: tuple[tuple[str, PathHighlight | None], ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one interval is what it is, one click away."""

    name: str
    interval: str
    rule: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why intervals are what they are."""

    kind: ClassVar[str] = "reasons"
    title: str
    reasons: tuple[Reason, ...]
    n_reasons: int

    @property
    def has_highlights(self) -> bool:
        """Whether a step is about paths of the graph, so that the page needs the script."""
        blocks = (block for reason in self.reasons for block in reason.blocks)
        return any(lit is not None for block in blocks for _, lit in block.lines)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in large letters."""

    kind: ClassVar[str] = "formula"
    title: str
    line: Line


Section: TypeAlias = Prose | Notes | Table | Figure | Drawing | Reasons | Formula


def write_section(section: Section, place: Place) -> str:
    """Write a section as HTML, for a page or for a notebook."""
    macro = getattr(load_templates().get_template("parts.html").module, section.kind)
    return str(macro(section, place))


@cache
def load_templates() -> Environment:
    """Load the HTML templates of pages."""
    found = Environment(
        loader=PackageLoader("boundit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["line"] = draw_line
    found.tests["html"] = lambda cell: isinstance(cell, Html)
    return found


def make_table(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str | float]],
    *,
    caption: Line = "",
) -> Table:
    """Make a table without the columns in which no row has anything.

    >>> make_table("Edges", ["edge", "data"], [["X -> Y", ""]]).rows
    (('X -> Y',),)
    """
    kept = [i for i in range(len(head)) if any(row[i] != "" for row in rows)]
    return Table(
        title,
        tuple(head[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in rows),
        caption,
    )


def write_step(line: Line | StepRecord) -> Line:
    """The words of a line of an explanation."""
    return line.line if isinstance(line, StepRecord) else line


def _is_number(cell: Cell) -> bool:
    """Tell whether a cell stands right: a number, or text that begins like one."""
    if isinstance(cell, Html):
        return False
    return not isinstance(cell, str) or bool(re.match(r"\[?[+\-±−]?[\d.]", cell)) or not cell
