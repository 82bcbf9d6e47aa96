"""A table of bounds as a page shows it: contexts as groups, arms as rows, reasons at hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from statistics import median

from boundit.graph.causal_graph import CausalGraph
from boundit.report.graph.highlights import find_highlight
from boundit.report.records import PageLine, PathHighlight
from boundit.report.text.contexts import name_context
from boundit.report.text.explanation import ExplanationBlock, render_blocks, render_line
from boundit.report.text.lettering import choose_decimals, format_n, label_values
from boundit.report.text.mathml import draw_line
from boundit.terms.bound import Bound, Context, StepRecord
from boundit.terms.bound_table import BoundTable
from boundit.terms.formula import Line

MOST_DRAWN = 200
"""Up to how many rows formulas in explanations are drawn; larger pages would be slow."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval as shares of the reward's range, in percent: whole, and without chance."""

    start: float
    width: float
    inner_start: float
    inner_width: float


@dataclass(frozen=True, slots=True)
class BoundRow:
    """One arm in one context, as a row of the page's table of bounds."""

    id: str
    arm: str
    lower: str
    upper: str
    n: str
    by: str
    bar: Bar
    dominated: bool
    marked: bool
    searchable: str
    explanation: tuple[ExplanationBlock, ...]


@dataclass(frozen=True, slots=True)
class ContextGroup:
    """One context and the rows of its arms in the page's table of bounds."""

    name: str
    rows: tuple[BoundRow, ...]


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule behind the bounds: what it claims, why, and how many ends it gave."""

    name: str
    claim: str
    steps: tuple[PageLine, ...]
    given: str


def group_rows(table: BoundTable, graph: CausalGraph | None) -> tuple[ContextGroup, ...]:
    """Make the rows of a page's bound table, grouped by context, each with its explanation.

    Steps light up their paths in the ``graph`` of the page, except on large pages. Called by
    ``make_bounds_section``.
    """
    small = len(table.bounds) <= MOST_DRAWN
    draw = cache(draw_line) if small else _write_plain
    highlight = _make_finder(graph if small else None)
    dominated = {context: table.dominated(context) for context in table.contexts}
    rows: dict[Context, list[BoundRow]] = {context: [] for context in table.contexts}
    names = {context: name_context(table, context) for context in rows}
    for i, ((arm, context), bound) in enumerate(table.bounds.items(), start=1):
        name = label_values(table.treatments, arm)
        rows[context].append(
            BoundRow(
                f"row-{i}",
                name,
                *_format_row(table, bound),
                place_bar(bound, table.reward_range),
                dominated=arm in dominated[context],
                marked=bool(bound.marks),
                searchable=f"{name} {names[context]} {bound.lower_rule}".casefold(),
                explanation=render_blocks(table.explanation(arm, context), draw, highlight),
            )
        )
    return tuple(ContextGroup(names[context], tuple(some)) for context, some in rows.items())


def _make_finder(
    graph: CausalGraph | None,
) -> Callable[[StepRecord], PathHighlight | None]:
    """Make the function that finds what a step of an explanation lights up in the drawn graph.

    It looks each step up once; without a graph it finds nothing. Called by ``group_rows`` and
    ``list_rules``.
    """
    if graph is None:
        return lambda _: None
    return cache(partial(find_highlight, graph))


def _write_plain(line: Line) -> str:
    """Write a line of an explanation as HTML text, its formulas as plain letters.

    Used by ``group_rows`` for tables too large to draw all formulas.
    """
    return escape(str(line), quote=False)


def place_bar(bound: Bound, reward_range: tuple[float, float]) -> Bar:
    """Compute where an interval's bar stands on the reward's range, in percent.

    Called by ``group_rows`` for every row.

    >>> place_bar(Bound(0.25, 0.75, 0.5, 0.5, 9, "a", "a"), (0, 1))
    Bar(start=25.0, width=50.0, inner_start=50.0, inner_width=0.0)
    """
    low, high = reward_range
    inner = sorted((bound.lower_estimate, bound.upper_estimate))
    ends = (bound.lower, bound.upper, max(inner[0], bound.lower), min(inner[1], bound.upper))
    a, b, c, d = (round(100 * (end - low) / ((high - low) or 1.0), 2) for end in ends)
    return Bar(a, round(b - a, 2), c, round(max(d - c, 0.0), 2))


def list_rules(table: BoundTable, graph: CausalGraph | None) -> tuple[RuleView, ...]:
    """List the rules that gave an end of a bound, with claim and steps, the most used first.

    Their steps light up paths in the ``graph`` of the page. Called by ``make_rules_section``.
    """
    lower, upper = dict.fromkeys(table.rules, 0), dict.fromkeys(table.rules, 0)
    for bound in table.bounds.values():
        for tally, name in ((lower, bound.lower_rule), (upper, bound.upper_rule)):
            if name in tally:
                tally[name] += 1
    highlight = _make_finder(graph)
    used = sorted(table.rules, key=lambda name: -lower[name] - upper[name])
    return tuple(
        RuleView(
            name,
            draw_line(table.rules[name].claim),
            tuple(render_line(s, draw_line, highlight) for s in table.rules[name].steps),
            f"{lower[name]:,} lower and {upper[name]:,} upper ends",
        )
        for name in used
        if lower[name] + upper[name]
    )


def count_facts(table: BoundTable) -> Mapping[str, str]:
    """Sum up a bound table in four numbers for the page's top, each with its words.

    Gives a mapping of words to number, as text. Called by ``write_bound_page``.
    """
    bounds = table.bounds.values()
    low, high = table.reward_range
    useful = sum(b.lower > low or b.upper < high for b in bounds)
    dominated = sum(len(table.dominated(context)) for context in table.contexts)
    width = median(b.upper - b.lower for b in bounds)
    return {
        "intervals": f"{len(table.bounds):,}",
        "say more than the reward's range": f"{useful:,}",
        "median width": f"{width:.{choose_decimals(low, high)}f}",
        "arms dominated in their context": f"{dominated:,}",
    }


def explain_row(table: BoundTable) -> str:
    """Say how a row of the page's bound table is read, and which rule gave which number.

    Called by ``make_bounds_section``.
    """
    if not table.rules:
        return ""
    named = (
        "Beside it stands the rule that gave its ends, and the numbers under “why” are "
        "those of that rule."
    )
    if table.confidence is None:
        return f"The bar runs from the lower to the upper end. {named}"
    return (
        "The thin line runs from the lower to the upper end, which allow for chance. "
        f"{named} The thick part is what the graph leaves open however many rows are logged: "
        "the tightest ends of all rules if the logged shares were exact, so that it may come "
        "from another rule than the one beside it."
    )


def _format_row(table: BoundTable, bound: Bound) -> tuple[str, str, str, str]:
    """Write the ends, the logged rows and the rules of one bound as text.

    Called by ``group_rows``.
    """
    places = choose_decimals(*table.reward_range)
    by = " / ".join(dict.fromkeys((bound.lower_rule, bound.upper_rule)))
    return f"{bound.lower:.{places}f}", f"{bound.upper:.{places}f}", format_n(bound.n), by
