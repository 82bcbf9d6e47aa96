"""Pages, charts and tables of bounds, effects and choices: what a table of bounds shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from html import escape

from boundit.core.formula import Line, StepRecord
from boundit.core.rounding import choose_decimals, write_lower, write_upper
from boundit.graph.causal_graph import CausalGraph
from boundit.report.chart import MOST_ROWS, Bar, IntervalChart, draw_bar, fold_rows
from boundit.report.formulas import draw_line
from boundit.report.highlights import PathHighlight, find_highlight
from boundit.report.lettering import format_level, label_values, name_contexts
from boundit.report.page import Page
from boundit.report.sections import (
    PAGE,
    Block,
    Cell,
    Drawing,
    Figure,
    Html,
    Notes,
    Reason,
    Reasons,
    Section,
    Table,
    make_table,
    write_step,
)
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import NO_LOG, BoundTable
from boundit.results.choice import Choice, write_promise
from boundit.results.effect import Effect
from boundit.results.text import (
    is_exact,
    name_mean,
    rank_row,
    says_nothing,
    summarize_bounds,
    summarize_effects,
    title_effects,
    write_arm,
    write_levels,
    write_point,
    write_rows,
    write_silence,
)

FEW_ROWS = 10
"""Below how many rows a count is worth a word before it is handed on."""
_MOST_EFFECTS = 20_000
_MOST_FORMULAS = 200
"""Up to how many reasons formulas are drawn; in a larger table they are text."""
_KINDS = {
    "assumes": ("assumption", "assumptions"),
    "skipped": ("limit met", "limits met"),
    "note": ("note", "notes"),
}
_STYLES = {"formula": "p", "data": "numbers", "derivation": "steps"}


def make_bounds_page(
    table: BoundTable,
    *,
    effects: Sequence[Effect] | None = None,
    graph: CausalGraph | None = None,
    choice: Choice | None = None,
    title: str = "",
) -> Page:
    """Make the page of a table: effects, what to choose, the picture, the reasons.

    ``effects`` are those of all arms with the baseline of the table unless others are given.
    """
    if not table.bounds:
        return Page(f"Bounds on {name_mean(table)}", ("No rows.",))
    if effects is None:
        several = len(table.arms) > 1 and len(table.bounds) <= _MOST_EFFECTS
        effects = list(table.effects().values()) if several else []
    said: tuple[str, ...]
    about_means = ""
    heading = title_effects(effects) if effects else f"Bounds on {name_mean(table)}"
    if says_nothing(table):
        what, *lines = write_silence(table, effects)
        said, heading = tuple(lines), f"{heading}: {what}"
    else:
        said = tuple(summarize_bounds(table))
        if effects:  # width and confidence of the means stand with their picture
            about_means = " ".join(said[1:])
            *effect_lines, sure = summarize_effects(effects)
            said = (*effect_lines, said[0].removeprefix("Lower is better. "), sure)
    sections = list[Section]()
    if effects:
        sections.append(
            Figure(
                "Effects",
                (chart_effects(effects),),
                "The thick bar is the effect without sampling error, the thin line the interval. "
                "Where it contains zero the effect is inconclusive.",
            )
        )
        sections.append(replace(tabulate_effects(effects), title="Effects in numbers"))
    if choice is not None and len(table.arms) > 1:
        sections.append(tabulate_choice(choice))
    sections.append(Figure("Means under each arm", (chart_bounds(table),), about_means))
    sections.append(replace(tabulate_bounds(table), title="Means in numbers"))
    sections.append(list_reasons(table, graph))
    if table.pooling != NO_LOG:
        counted = tuple(str(table.pooling).splitlines())
        sections.append(Notes("Logged rows that a policy can pool", counted))
    silent = says_nothing(table)
    critical = () if silent else table.critical
    caveats = [str(c) for c in table.caveats if c.kind != "critical"]
    caveats += filter(None, [describe_small_counts(table)])
    sections += [Notes("Assumptions and limits", tuple(caveats))] if caveats else []
    if graph is not None:
        sections.append(_draw_graph(graph, table))
    return Page(title or heading, said, tuple(sections), critical)


def write_bounds_page(
    table: BoundTable,
    *,
    effects: Sequence[Effect] | None = None,
    graph: CausalGraph | None = None,
    choice: Choice | None = None,
    title: str = "",
    command: str = "",
) -> str:
    """Write the page of a table as one HTML file, with the command that repeats it."""
    page = make_bounds_page(table, effects=effects, graph=graph, choice=choice, title=title)
    return page.write(
        command=command,
        settings={
            "profile": table.profile,
            "confidence": "none" if table.confidence is None else table.confidence,
            **({"inference": table.inference} if table.inference else {}),
            **({"models": table.models} if table.models else {}),
        },
    )


def show_bounds(table: BoundTable) -> str:
    """Write a table of bounds for a notebook."""
    title = f"Bounds on {name_mean(table)}"
    if not table.bounds:
        return Page(title, ("No rows.",)).write_snippet()
    said = tuple(summarize_bounds(table))
    if says_nothing(table):
        what, *lines = write_silence(table)
        title, said = f"{title}: {what}", tuple(lines)
    sections = (tabulate_bounds(table, drawn=True), *_list_caveats(table))
    critical = () if says_nothing(table) else table.critical
    return Page(title, said, sections, critical).write_snippet()


def show_effect(effect: Effect) -> str:
    """Write an effect for a notebook."""
    table, effects, said = effect.bounds, [effect], tuple(summarize_effects([effect]))
    title = title_effects(effects)
    if says_nothing(table):
        what, *lines = write_silence(table, effects)
        title, said = f"{title}: {what}", tuple(lines)
    sections = (tabulate_effects(effects, drawn=True), *_list_caveats(table))
    critical = () if says_nothing(table) else table.critical
    return Page(title, said, sections, critical).write_snippet()


def make_choice_page(choice: Choice, caveats: Sequence[str] = ()) -> Page:
    """Make the page of a choice, the contexts with the largest maximum regret first."""
    found = sorted(choice.values(), key=lambda one: -one.max_regret)
    said = tuple(map(choice.write_answer, found[:3]))
    critical = tuple(line for line in caveats if line.startswith("critical"))
    notes = tuple(line for line in caveats if line not in critical)
    return Page(
        f"Choice of {', '.join(choice.treatments)} to {choice.goal}imize {choice.outcome}",
        said if len(found) <= 3 else (_sum_up_choice(choice), *said),
        (tabulate_choice(choice), *([Notes("Caveats", notes)] if notes else [])),
        critical,
    )


def show_choice(choice: Choice) -> str:
    """Write a choice for a notebook."""
    return make_choice_page(choice).write_snippet()


def tabulate_choice(choice: Choice) -> Table:
    """Tabulate what is chosen in each context, the largest maximum regret first."""
    found = sorted(choice.values(), key=lambda one: -one.max_regret)
    rows = [
        (
            write_levels(choice.context, one.context) or "everyone",
            choice.write_draw(one.probabilities),
            write_promise(one.max_regret),
            f"{one.floor:.4g}",
            ", ".join(write_arm(choice.treatments, arm) for arm in one.ruled_out),
            " ".join(one.marks),
        )
        for one in found
    ]
    head = ["context", "arm", "max regret", "guaranteed mean", "ruled out", "note"]
    caption = (
        f"Maximum regret: how far the mean may be from that of the best arm. {choice.sure}."
    )
    return make_table("Choice", head, rows, caption=caption)


def _sum_up_choice(choice: Choice) -> str:
    found = list(choice.values())
    known = sum(one.against is None for one in found)
    worst = write_promise(max(one.max_regret for one in found))
    return (
        f"In {known:,} of {len(found):,} contexts the best arm is known; the maximum regret is "
        f"{worst}."
    )


def chart_bounds(
    table: BoundTable,
    *,
    truth: Mapping[Key, float] | None = None,
    points: Mapping[str, Mapping[Key, float]] | None = None,
    unadjusted: bool = True,
) -> IntervalChart:
    """Chart the intervals of a table: arms below their contexts, the best first.

    ``truth`` and ``points`` are drawn beside them; an interval that misses the truth is marked.
    """
    sign = 1 if table.goal == "max" else -1
    most = max(MOST_ROWS // min(len(table.contexts), 3), 6)
    best = dict[Arm, float]()
    for (arm, _), row in table.bounds.items():
        end = row.upper if sign > 0 else -row.lower
        best[arm] = max(best.get(arm, end), end)
    arms = sorted(best, key=lambda arm: -best[arm])[:most]
    logged = dict.fromkeys(table.contexts, 0.0)
    for (_, where), row in table.bounds.items():
        logged[where] += row.n
    common = sorted(table.contexts, key=lambda where: -logged[where])
    kept = {*common[: max(MOST_ROWS // len(arms), 1)]}
    contexts = [where for where in table.contexts if where in kept]
    bars = list[Bar]()
    for where, name in zip(contexts, name_contexts(table, contexts), strict=True):
        out = table.find_dominations(where)
        bounded = [arm for arm in arms if (arm, where) in table.bounds]
        for arm in sorted(bounded, key=lambda arm: -sign * _middle(table, arm, where)):
            bar = _make_bar(table, (arm, where))
            given = {
                k: of[arm, where] for k, of in (points or {}).items() if (arm, where) in of
            }
            shown = {**(bar.points if unadjusted else {}), **given}
            note, color = (
                "ruled out" if arm in out else "",
                "muted" if arm in out else bar.color,
            )
            true = (truth or {}).get((arm, where))
            if true is not None:
                shown["truth"] = true
                if not bar.lower - 1e-9 <= true <= bar.upper + 1e-9:
                    note, color = "misses", "miss"
            name_ = name if len(table.contexts) > 1 else ""
            bars.append(replace(bar, points=shown, note=note, color=color, group=name_))
    left = len(table.bounds) - len(bars)
    return IntervalChart(
        f"Bounds on {name_mean(table)}",
        fold_rows(bars),
        table.outcome_range,
        {"series-1": "", "muted": "ruled out", "miss": "misses the truth"},
        more=_describe_left(left),
        inner=_name_inner(table),
    )


def chart_effects(effects: Sequence[Effect]) -> IntervalChart:
    """Chart effects around a line of no effect; colors follow the goal, gray is inconclusive."""
    table = effects[0].bounds
    keys = [(effect, where) for effect in effects for where in effect.intervals]

    def rank(key: tuple[Effect, Context]) -> float:
        span = key[0].intervals[key[1]]
        return -max(span.lower, -span.upper)

    kept = sorted(keys, key=rank)[:MOST_ROWS]
    contexts = [where for where in effects[0].intervals if any(w == where for _, w in kept)]
    names = dict(zip(contexts, name_contexts(table, contexts), strict=True))
    grouped = len(effects) > 1 and len(contexts) > 1
    sign = 1 if table.goal == "max" else -1
    bars = list[Bar]()
    for where in contexts:
        found = [effect for effect, w in kept if w == where]
        for effect in sorted(found, key=lambda e: -sign * _sum_ends(e, where)):
            arm = label_values(table.treatments, effect.arm)
            name = arm if grouped or not table.context else f"{arm}, {names[where]}"
            name = names[where] if len(effects) == 1 and table.context else name
            group = names[where] if grouped else ""
            bars.append(replace(_make_effect_bar(effect, where), name=name, group=group))
    low, high = table.outcome_range
    other = effects[0].baseline_name
    return IntervalChart(
        title_effects(effects),
        fold_rows(bars),
        (low - high, high - low),
        {
            "good": f"better than {other}",
            "miss": f"worse than {other}",
            "muted": "inconclusive",
        },
        zero=True,
        signed=True,
        more=_describe_left(len(keys) - len(bars)),
        inner=_name_inner(table),
    )


def tabulate_bounds(table: BoundTable, *, drawn: bool = False) -> Table:
    """Tabulate a table of bounds, a row for each arm and context, with a bar if ``drawn``.

    A table with more rows than a page shows has its narrowest ones.
    """
    bounds = table.bounds
    keys = sorted(bounds, key=lambda key: bounds[key].upper - bounds[key].lower)[: PAGE.rows]
    keys.sort(key=partial(rank_row, table))
    decimals = choose_decimals(*table.outcome_range)
    counted = any(bounds[key].n for key in keys)
    pointed = any(bounds[key].unadjusted is not None for key in keys)
    bars = [_make_bar(table, key) for key in keys]
    scale = IntervalChart("", tuple(bars[:MOST_ROWS]), table.outcome_range).scale
    head: list[str | Html] = [*map(format_level, (*table.treatments, *table.context))]
    head += [_write_ends(scale, decimals)] if drawn else []
    head += ["lower", "upper"]
    head += ["unadjusted"] if pointed else []
    head += ["share" if is_exact(table) else "rows"] if counted else []
    rows = list[tuple[Cell, ...]]()
    for (arm, where), bar in zip(keys, bars, strict=True):
        row = bounds[arm, where]
        cells: list[Cell] = [*map(format_level, (*arm, *where))]
        cells += [Html(draw_bar(bar, scale))] if drawn else []
        cells += [write_lower(row.lower, decimals), write_upper(row.upper, decimals)]
        cells += [write_point(row.unadjusted, decimals)] if pointed else []
        cells += [write_rows(row.n)] if counted else []
        rows.append(tuple(cells))
    return Table("", tuple(head), tuple(rows), n_rows=len(bounds))


def tabulate_effects(effects: Sequence[Effect], *, drawn: bool = False) -> Table:
    """Tabulate effects, a row for each arm and context, with a bar if ``drawn``."""
    table = effects[0].bounds
    keys = [(effect, where) for effect in effects for where in effect.intervals]
    keys.sort(key=lambda key: rank_row(table, (key[0].arm, key[1])))
    shown = keys[: PAGE.rows]
    decimals = choose_decimals(*table.outcome_range)
    bars = [_make_effect_bar(effect, where) for effect, where in shown]
    low, high = table.outcome_range
    ends = (low - high, high - low)
    scale = IntervalChart("", tuple(bars[:MOST_ROWS]), ends, zero=True).scale
    pointed = any(bar.points for bar in bars)
    head: list[str | Html] = [*map(format_level, (*table.treatments, *table.context))]
    head += [_write_ends(scale, decimals, signed=True)] if drawn else []
    head += ["lower", "upper", *(["unadjusted"] if pointed else []), "direction"]
    rows = list[tuple[Cell, ...]]()
    for (effect, where), bar in zip(shown, bars, strict=True):
        cells: list[Cell] = [*map(format_level, (*effect.arm, *where))]
        cells += [Html(draw_bar(bar, scale, zero=True))] if drawn else []
        cells += [
            write_lower(bar.lower, decimals, signed=True),
            write_upper(bar.upper, decimals, signed=True),
        ]
        point = write_point(bar.points.get("unadjusted"), decimals, signed=True)
        cells += [point] if pointed else []
        rows.append((*cells, effect.find_direction(where)))
    return Table("", tuple(head), tuple(rows), n_rows=len(keys))


def describe_small_counts(table: BoundTable) -> str:
    """Say how few rows the smallest count of a table stands for, or nothing if none is small."""
    counts = (row.n for row in table.bounds.values())
    cells = (
        cell.rows
        for row in table.bounds.values()
        if row.sampling is not None
        for end in (row.sampling.lower, row.sampling.upper)
        if end is not None
        for cell in end.heaviest
    )
    small = [count for count in (*counts, *cells) if 1 <= count < FEW_ROWS]
    if not small:
        return ""
    least = f"{min(small):,.0f} row{'s' * (min(small) != 1)}"
    return (
        f"note: Counts of fewer than {FEW_ROWS} rows are shown, the smallest of {least}, which "
        "may identify a person. Merge rare values, or leave counts out with --no-counts."
    )


def _list_caveats(table: BoundTable) -> Iterator[Section]:
    """The caveats of a table for a notebook, closed, by kind."""
    for kind, (one, several) in _KINDS.items():
        found = tuple(caveat.text for caveat in table.caveats if caveat.kind == kind)
        if found:
            yield Notes(f"{len(found)} {one if len(found) == 1 else several}", found)


def list_reasons(table: BoundTable, graph: CausalGraph | None) -> Reasons:
    """List why intervals are what they are; steps highlight their paths in the graph."""
    bounds = table.bounds
    keys = sorted(bounds, key=lambda key: bounds[key].upper - bounds[key].lower)[: PAGE.rows]
    keys.sort(key=partial(rank_row, table))
    draw: Callable[[Line], str] = cache(draw_line)
    if len(bounds) > _MOST_FORMULAS:
        draw = lambda line: escape(str(line))  # noqa: E731
    find: Callable[[StepRecord], PathHighlight | None] = lambda _: None  # noqa: E731
    if graph is not None and len(graph.nodes) <= Drawing.most_nodes:
        find = cache(partial(find_highlight, graph))
    reasons = list[Reason]()
    for arm, where in keys:
        row, why = bounds[arm, where], table.explain(arm, where)
        blocks = [Block("", "p", ((draw(why.title), None),))]
        for name, lines in why.list_parts():
            if lines:
                style = _STYLES.get(name.split(",")[0], "p")
                drawn = tuple(
                    (draw(write_step(x)), find(x) if isinstance(x, StepRecord) else None)
                    for x in lines
                )
                blocks.append(Block(name.capitalize(), style, drawn))
        names = filter(None, [label_values(table.treatments, arm), _name(table, where)])
        rules = " / ".join(dict.fromkeys((row.lower_rule, row.upper_rule)))
        reasons.append(
            Reason(
                ", ".join(names), f"[{row.interval.write(why.decimals)}]", rules, tuple(blocks)
            )
        )
    return Reasons("Reasons", tuple(reasons), len(bounds))


def _draw_graph(graph: CausalGraph, table: BoundTable) -> Drawing:
    return Drawing(
        "Causal graph",
        graph,
        tuple(name for name in table.treatments if name in graph.nodes),
        tuple(name for name in table.context if name in graph.nodes),
        tuple(name for name in (table.outcome,) if name in graph.nodes),
        "Every bound depends on this graph: on each edge that is missing.",
    )


def _make_bar(table: BoundTable, key: Key) -> Bar:
    row = table.bounds[key]
    low, high = sorted((row.lower_estimate, row.upper_estimate))
    inner = min(max(low, row.lower), row.upper), max(min(high, row.upper), row.lower)
    points = {} if row.unadjusted is None else {"unadjusted": row.unadjusted}
    return Bar(label_values(table.treatments, key[0]), row.lower, row.upper, inner, points)


def _make_effect_bar(effect: Effect, where: Context) -> Bar:
    span, inner = effect.intervals[where], effect.estimate(where)
    direction, point = effect.find_direction(where), effect.unadjusted(where)
    better = "increase" if effect.bounds.goal == "max" else "decrease"
    color = (
        "muted" if direction == "inconclusive" else "good" if direction == better else "miss"
    )
    points = {} if point is None else {"unadjusted": point}
    name = label_values(effect.bounds.treatments, effect.arm)
    return Bar(name, span.lower, span.upper, (inner.lower, inner.upper), points, color)


def _write_ends(scale: tuple[float, float], decimals: int, *, signed: bool = False) -> Html:
    """The head of a column of bars: the ends of their axis."""
    sign = "+" if signed else ""
    places = max(decimals - 1, 0)
    ends = "".join(f"<span>{end:{sign},.{places}f}</span>" for end in scale)
    return Html(f'<span class="ends">{ends}</span>')


def _middle(table: BoundTable, arm: Arm, where: Context) -> float:
    row = table.bounds[arm, where]
    return row.lower + row.upper


def _sum_ends(effect: Effect, where: Context) -> float:
    return effect.intervals[where].lower + effect.intervals[where].upper


def _name(table: BoundTable, where: Context) -> str:
    return label_values(table.context, where) if table.context else ""


def _name_inner(table: BoundTable) -> str:
    return "identified set" if table.complete else "without sampling error"


def _describe_left(n: int) -> str:
    return f"and {n:,} more rows" if n > 0 else ""
