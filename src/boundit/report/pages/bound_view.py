"""A table of bounds as a page shows it: contexts as groups, arms as rows, reasons at hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import median

from boundit.core.formula import Line, StepRecord
from boundit.core.rounding import choose_decimals
from boundit.graph.causal_graph import CausalGraph
from boundit.report.graph.highlights import find_highlight
from boundit.report.records import PageLine, PathHighlight
from boundit.report.text.contexts import name_contexts
from boundit.report.text.explanation import ExplanationBlock, render_blocks, render_line
from boundit.report.text.lettering import format_n, label_values
from boundit.report.text.mathml import draw_line
from boundit.results.bound import Bound, Context, Key
from boundit.results.bound_table import BoundTable

_LONG = 34
"""From how many letters on a name may stand on several lines."""


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
    long: bool
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


def group_rows(
    table: BoundTable,
    keys: Sequence[Key],
    draw: Callable[[Line], str],
    highlight: Callable[[StepRecord], PathHighlight | None],
) -> tuple[ContextGroup, ...]:
    """Make some rows of a page's bound table, each with its explanation, grouped by context.

    ``keys`` come in the page's order, from its first row on. ``draw`` writes a line as HTML,
    ``highlight`` finds what a step lights up in the graph of the page.
    """
    contexts = list(dict.fromkeys(context for _, context in keys))
    names = dict(zip(contexts, name_contexts(table, contexts), strict=True))
    dominated = {context: table.find_dominations(context) for context in contexts}
    rows: dict[Context, list[BoundRow]] = {context: [] for context in contexts}
    for i, (arm, context) in enumerate(keys, start=1):
        bound, name = table.bounds[arm, context], label_values(table.treatments, arm)
        by = " / ".join(dict.fromkeys((bound.lower_rule, bound.upper_rule)))
        rows[context].append(
            BoundRow(
                f"row-{i}",
                name,
                *format_ends(table, bound.lower, bound.upper),
                format_n(bound.n),
                by,
                place_bar(bound, table.outcome_range),
                dominated=arm in dominated[context],
                marked=bool(bound.marks),
                long=len(name) > _LONG,
                searchable=f"{name} {names[context]} {by}".lower(),
                explanation=render_blocks(table.explain(arm, context), draw, highlight),
            )
        )
    return tuple(ContextGroup(names[context], tuple(some)) for context, some in rows.items())


def make_finder(
    graph: CausalGraph | None,
) -> Callable[[StepRecord], PathHighlight | None]:
    """Make the function that finds what a step of an explanation lights up in the drawn graph.

    It looks each step up once; without a graph it finds nothing.
    """
    if graph is None:
        return lambda _: None
    return cache(partial(find_highlight, graph))


def place_bar(bound: Bound, outcome_range: tuple[float, float]) -> Bar:
    """Compute where an interval's bar stands on the reward's range, in percent.

    >>> place_bar(Bound(0.25, 0.75, 0.5, 0.5, 9, "a", "a"), (0, 1))
    Bar(start=25.0, width=50.0, inner_start=50.0, inner_width=0.0)
    """
    low, high = outcome_range
    inner = sorted((bound.lower_estimate, bound.upper_estimate))
    ends = (bound.lower, bound.upper, max(inner[0], bound.lower), min(inner[1], bound.upper))
    a, b, c, d = (round(100 * (end - low) / ((high - low) or 1.0), 2) for end in ends)
    return Bar(a, round(b - a, 2), c, round(max(d - c, 0.0), 2))


def list_rules(table: BoundTable, graph: CausalGraph | None) -> tuple[RuleView, ...]:
    """List the rules that gave an end of a bound, with claim and steps, the most used first.

    Their steps light up paths in the ``graph`` of the page.
    """
    lower, upper = dict.fromkeys(table.rules, 0), dict.fromkeys(table.rules, 0)
    for bound in table.bounds.values():
        for tally, name in ((lower, bound.lower_rule), (upper, bound.upper_rule)):
            if name in tally:
                tally[name] += 1
    highlight = make_finder(graph)
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


def count_facts(table: BoundTable, dominated: int) -> Mapping[str, str]:
    """Sum up a bound table in four numbers for the page's top, each with its words.

    ``dominated`` is how many rows have an arm that another surely beats. Gives a mapping of
    words to number, as text.
    """
    bounds = table.bounds.values()
    low, high = table.outcome_range
    useful = sum(b.lower > low or b.upper < high for b in bounds)
    width = median(b.upper - b.lower for b in bounds)
    return {
        "intervals": f"{len(table.bounds):,}",
        "say more than the reward's range": f"{useful:,}",
        "median width": f"{width:.{choose_decimals(low, high)}f}",
        "arms dominated in their context": f"{dominated:,}",
    }


def explain_row(table: BoundTable) -> str:
    """Say how a row of the page's bound table is read, and which rule gave which number."""
    if not table.rules:
        return ""
    named = (
        "Beside it stands the rule that gave its ends, and the numbers under “why” are "
        "those of that rule."
    )
    if table.confidence is None:
        return f"The bar runs from the lower to the upper end. {named}"
    leaves = "the graph leaves open however many rows are logged"
    if not table.complete:
        leaves = "the rules tried leave open, with limits that the caveats name"
    return (
        "The thin line runs from the lower to the upper end, which allow for chance. "
        f"{named} The thick part is what {leaves}: "
        "the tightest ends of all rules if the logged shares were exact, so that it may come "
        "from another rule than the one beside it."
    )


def format_ends(table: BoundTable, lower: float, upper: float) -> tuple[str, str]:
    """Write both ends of a bound with as many decimals as suit the reward's range."""
    places = choose_decimals(*table.outcome_range)
    return f"{lower:.{places}f}", f"{upper:.{places}f}"
