"""Tables of bounds, effects and choices as text: rows, what follows from them, how surely.

Lower bounds are rounded down and upper bounds up, to a thousandth of the outcome's range.
"""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from operator import methodcaller
from typing import TYPE_CHECKING

from boundit.core.rounding import ROUNDING, choose_decimals, write_lower, write_upper
from boundit.results.bound import Arm, Context, Value
from boundit.results.explanation import is_proved
from boundit.results.sampling import ROWS

if TYPE_CHECKING:
    from boundit.results.bound_table import BoundTable
    from boundit.results.effect import Effect

MOST_ROWS = 30
"""Of more rows a text shows so many, unless all are asked for."""
_MOST_NAMED = 4
"""How many arms or contexts a sentence names; of more it says how many."""
_MOST_SENTENCES = 6
WHY = ("critical", "skipped")
"""The kinds of caveats that say why nothing is known where that is so."""


def write_bounds(table: "BoundTable", *, all_rows: bool = False, caveats: bool = True) -> str:
    """Write a table of bounds: rows in order, conclusions, widths, confidence and caveats."""
    title = f"Bounds on {name_mean(table)}"
    if not table.bounds:
        return f"{title}\n\nNo rows."
    first, notes = _split_caveats(table) if caveats else ([], [])
    if says_nothing(table):
        what, *said = write_silence(table)
        return "\n".join([f"{title}: {what}", "", *said, *_list_notes(table, caveats=caveats)])
    keys = sorted(table.bounds, key=lambda key: rank_row(table, key))
    shown = keys if all_rows else keys[:MOST_ROWS]
    rows = [table.bounds[key] for key in shown]
    decimals = choose_decimals(*table.outcome_range)
    head = [*table.treatments, *table.context, "lower", "upper"]
    columns = [
        *_list_levels(shown, len(table.treatments) + len(table.context)),
        [write_lower(row.lower, decimals) for row in rows],
        [write_upper(row.upper, decimals) for row in rows],
    ]
    if any(row.unadjusted is not None for row in table.bounds.values()):
        head.append("unadjusted")
        columns.append([write_point(row.unadjusted, decimals) for row in rows])
    if any(row.n for row in table.bounds.values()):
        head.append("share" if is_exact(table) else "rows")
        columns.append([write_rows(row.n) for row in rows])
    lines = [title, "", *first, *([""] if first else []), align_columns(head, columns)]
    if len(shown) < len(keys):
        lines.append(
            f"and {len(keys) - len(shown):,} more rows (--all-rows, or .frame(), has all)"
        )
    return "\n".join([*lines, "", *summarize_bounds(table), *notes])


def write_effects(
    effects: Sequence["Effect"], *, all_rows: bool = False, caveats: bool = True
) -> str:
    """Write the effects of several arms against one baseline as one text.

    Parameters
    ----------
    effects : sequence of Effect
        Effects from one table of bounds with one baseline.
    all_rows : bool
        Whether more than 30 rows are written.
    caveats : bool
        Whether the caveats of the table follow.
    """
    if not effects:
        return "No effects: there is one arm."
    first = effects[0]
    table = first.bounds
    title = title_effects(effects)
    keys = [(effect, where) for effect in effects for where in effect.intervals]
    first_notes, notes = _split_caveats(table) if caveats else ([], [])
    if are_silent(effects):
        what, *said = write_silence(table, effects)
        return "\n".join([f"{title}: {what}", "", *said, *_list_notes(table, caveats=caveats)])
    keys.sort(key=lambda key: rank_row(table, (key[0].arm, key[1])))
    shown = keys if all_rows else keys[:MOST_ROWS]
    decimals = choose_decimals(*table.outcome_range)
    found = [effect.intervals[where] for effect, where in shown]
    head = [*table.treatments, *table.context, "lower", "upper"]
    levels = [(effect.arm, where) for effect, where in shown]
    columns = [
        *_list_levels(levels, len(table.treatments) + len(table.context)),
        [write_lower(interval.lower, decimals, signed=True) for interval in found],
        [write_upper(interval.upper, decimals, signed=True) for interval in found],
    ]
    unadjusted = [effect.unadjusted(where) for effect, where in shown]
    if any(number is not None for number in unadjusted):
        head.append("unadjusted")
        columns.append([write_point(number, decimals, signed=True) for number in unadjusted])
    head.append("direction")
    columns.append([effect.find_direction(where) for effect, where in shown])
    lines = [title, "", *first_notes, *([""] if first_notes else [])]
    lines.append(align_columns(head, columns))
    if len(shown) < len(keys):
        lines.append(
            f"and {len(keys) - len(shown):,} more rows (--all-rows, or .frame(), has all)"
        )
    return "\n".join([*lines, "", *summarize_effects(effects), *notes])


def title_effects(effects: Sequence["Effect"]) -> str:
    """Name what effects of several arms against one baseline are."""
    table = effects[0].bounds
    what = " and ".join(table.treatments)
    return f"Effect of {what} on mean {table.outcome}, compared with {effects[0].baseline_name}"


def summarize_effects(effects: Sequence["Effect"]) -> Iterator[str]:
    """Say which arms change the mean outcome, by how much, and how surely."""
    if not effects:
        return
    sure = [effect for effect in effects if effect.lower > 0 or effect.upper < 0]
    said = [write_effect(effect) for effect in (effects if len(effects) == 1 else sure)]
    yield from said[:_MOST_SENTENCES]
    if len(said) > _MOST_SENTENCES:
        yield f"and {len(said) - _MOST_SENTENCES:,} more arms."
    if effects[0].bounds.goal == "min":
        yield "Lower is better."
    n = sum(len(effect.intervals) for effect in effects)
    yield write_confidence(effects[0].bounds, n, "true effect")


def write_effect(effect: "Effect") -> str:
    """Say in a sentence how much an arm changes the mean outcome on average."""
    table, low, high = effect.bounds, effect.lower, effect.upper
    decimals = choose_decimals(*table.outcome_range)
    mix = ""
    if table.context:
        mix = f", for any mix of {join_words(table.context)}"
        mix = mix if effect.shares == "any" else ", for the stated shares"
    one = write_arm(table.treatments, effect.arm)
    start = f"Compared with {effect.baseline_name}, {one}"
    if low > 0:
        by = f"{write_lower(low, decimals)} to {write_upper(high, decimals)}"
        return f"{start} increases mean {table.outcome} by {by}{mix}."
    if high < 0:
        by = f"{write_lower(-high, decimals)} to {write_upper(-low, decimals)}"
        return f"{start} decreases mean {table.outcome} by {by}{mix}."
    ends = (
        f"{write_lower(low, decimals, signed=True)} to "
        f"{write_upper(high, decimals, signed=True)}"
    )
    return f"{start} changes mean {table.outcome} by {ends}{mix}: inconclusive."


def summarize_bounds(table: "BoundTable") -> Iterator[str]:
    """Say which arms may be best, how wide the intervals are, and how surely they hold."""
    if len(table.arms) > 1:
        yield _describe_best(table)
    yield _describe_widths(table)
    yield write_confidence(table, len(table.bounds), "true mean")


def write_confidence(table: "BoundTable", n: int, what: str) -> str:
    """Say at what confidence ``n`` intervals contain what they are about, and on what terms."""
    if table.confidence is None:
        if is_exact(table):
            return "The data are an exact distribution without sampling error."
        if any(row.n for row in table.bounds.values()):
            return "The endpoints are estimates: sampling error is not included."
        return "The intervals are taken as given."
    holds = f"{'both' if n == 2 else f'all {n:,}'} intervals contain the {what}s"
    if n == 1:
        holds = f"the interval contains the {what}"
    terms = "if the graph is right"
    if table.models:
        terms += " and the fitted models come near the truth"
    rows = sum(row.n for row in table.bounds.values())
    basis = [f"{table.inference} inference", *([f"{rows:,.0f} rows"] if rows else [])]
    basis += [table.units] if table.units != ROWS else []
    sure = f"{100 * table.confidence:.10g}% confidence"
    return f"{sure} that {holds}, {terms} ({', '.join(basis)})."


def says_nothing(table: "BoundTable") -> bool:
    """Return True if every interval is the whole range of the outcome."""
    low, high = table.outcome_range
    slack = ROUNDING * (high - low)
    return all(
        row.lower <= low + slack and row.upper >= high - slack for row in table.bounds.values()
    )


def _split_caveats(table: "BoundTable") -> tuple[list[str], list[str]]:
    """Split caveats into critical ones, which come first, and others."""
    critical = list(map(str, table.critical))
    return critical, [str(caveat) for caveat in table.caveats if caveat.kind != "critical"]


def write_silence(table: "BoundTable", effects: Sequence["Effect"] = ()) -> list[str]:
    """Say that nothing is known, first in two words, and why; that it stays so where proved."""
    low, high = map(_write_plain, table.outcome_range)
    what, n = f"Every mean from {low} to {high}", len(table.bounds)
    if effects:
        most = _write_plain(table.outcome_range[1] - table.outcome_range[0])
        what = f"Every effect from -{most} to +{most}"
        n = sum(len(effect.intervals) for effect in effects)
    rows = f"all {n:,} rows" if n != 1 else "the only row"
    proved = table.complete and all(map(is_proved, table.bounds.values()))
    if not proved or _has_few_rows(table):
        no_rule = f"No rule narrows the range of the outcome, in {rows}."
        return ["no bound found", no_rule, *_write_why(table)]
    return [
        "no information",
        f"{what} is consistent with the data and the graph, in {rows}.",
        *_write_why(table),
        "     More rows of this kind would not help (proved).",
    ]


def _write_why(table: "BoundTable") -> list[str]:
    """Write why nothing is known: a limit, empty cells, hidden causes, or too few rows."""
    said = [
        f"{'Skipped: ' if caveat.kind == 'skipped' else ''}{caveat.text}"
        for caveat in table.caveats
        if caveat.kind in WHY
    ]
    rows = list(table.bounds.values())
    empty = sum(not is_proved(row) for row in rows)
    if empty:
        said.append(
            f"{empty:,} of {len(rows):,} rows depend on combinations of values that were never "
            "logged."
        )
    if _has_few_rows(table):
        said.append("There are too few rows: without sampling error some bounds are narrower.")
    if not said and not table.complete:
        said = ["The search for rules met a limit; others might give a bound."]
    return [f"{'     ' if i else 'Why: '}{line}" for i, line in enumerate(said)]


def _has_few_rows(table: "BoundTable") -> bool:
    """Return True if some bound is narrower without sampling error."""
    slack = ROUNDING * (table.outcome_range[1] - table.outcome_range[0])
    return any(
        row.upper_estimate - row.lower_estimate < row.upper - row.lower - slack
        for row in table.bounds.values()
    )


def _list_notes(table: "BoundTable", *, caveats: bool) -> list[str]:
    """The caveats that do not say why nothing is known."""
    return [str(caveat) for caveat in table.caveats if caveats and caveat.kind not in WHY]


def are_silent(effects: Sequence["Effect"]) -> bool:
    """Return True if every effect is the whole range of effects."""
    low, high = effects[0].bounds.outcome_range
    least = 2 * (high - low) * (1 - ROUNDING)
    return all(span.width >= least for effect in effects for span in effect.intervals.values())


def _describe_best(table: "BoundTable") -> str:
    """Say in each context which arms may be best and which are ruled out."""
    found = dict[tuple[Arm, ...], list[Context]]()
    for where in table.contexts:
        out = table.find_dominations(where)
        left = tuple(arm for arm in table.arms if arm not in out)
        found.setdefault(left if out else (), []).append(where)
    less = "Lower is better. " if table.goal == "min" else ""
    if set(found) == {()}:
        return (
            f"{less}No arm is ruled out{' in any context' if len(table.contexts) > 1 else ''}."
        )
    said = []
    for left, contexts in list(found.items())[:_MOST_SENTENCES]:
        names = [", ".join(map(str, where)) for where in contexts]
        place = f"{join_words(names, most=_MOST_NAMED)}: " if table.context else ""
        said.append(f"{place}{_describe_left(table, left)}")
    if len(found) > _MOST_SENTENCES:
        others = sum(map(len, list(found.values())[_MOST_SENTENCES:]))
        said.append(f"In {others:,} more contexts some arms are ruled out.")
    return less + " ".join(said)


def _describe_left(table: "BoundTable", left: tuple[Arm, ...]) -> str:
    """Say which arms may be best and which are ruled out; all of none are."""
    if not left:
        return "no arm is ruled out."
    out = [arm for arm in table.arms if arm not in left]
    best = join_words(
        [write_arm(table.treatments, arm) for arm in left], most=_MOST_NAMED, last="or"
    )
    if len(left) == 1:
        return f"{best} is best."
    gone = join_words([write_arm(table.treatments, arm) for arm in out], most=_MOST_NAMED)
    return f"{best} is best; {gone} {'is' if len(out) == 1 else 'are'} ruled out."


def _describe_widths(table: "BoundTable") -> str:
    """Say how wide the intervals are, and what of it more rows would take away."""
    bounds = list(table.bounds.values())
    decimals = choose_decimals(*table.outcome_range)
    mean = math.fsum(row.upper - row.lower for row in bounds) / len(bounds)
    stays = math.fsum(
        min(max(row.upper_estimate - row.lower_estimate, 0.0), row.upper - row.lower)
        for row in bounds
    ) / len(bounds)
    name = "Width" if len(bounds) == 1 else "Mean width"
    whole, lasting = (f"{number:,.{decimals}f}" for number in (mean, stays))
    if table.confidence is None:
        return f"{name} {whole}."
    if stays < ROUNDING * (table.outcome_range[1] - table.outcome_range[0]):
        return f"{name} {whole}, all of it sampling error."
    proved = table.complete and all(map(is_proved, bounds))
    left = "would remain with infinite data" if proved else "is left by the rules tried"
    if mean - stays < ROUNDING * mean:
        return f"{name} {whole}, all of which {left}."
    return f"{name} {whole}: {lasting} {left}, {mean - stays:,.{decimals}f} is sampling error."


def name_mean(table: "BoundTable") -> str:
    """Name what a table bounds, as ``E[Y | do(X), Z]``."""
    known = "".join(f", {name}" for name in table.context)
    return f"E[{table.outcome} | do({', '.join(table.treatments)}){known}]"


def is_exact(table: "BoundTable") -> bool:
    """Return True if the table has shares of an exact distribution in place of rows."""
    return any(row.n != int(row.n) for row in table.bounds.values())


def write_rows(n: float) -> str:
    """Write a number of rows, or a share of an exact distribution.

    >>> write_rows(12345), write_rows(0.03125), write_rows(0.00002)
    ('12,345', '0.031', '0.00002')
    """
    if n == int(n):
        return f"{n:,.0f}"
    return f"{n:.{max(3, -math.floor(math.log10(n)))}f}"


def write_point(number: float | None, decimals: int, *, signed: bool = False) -> str:
    """Write an estimate, rounded to the nearest; nothing where there is none."""
    if number is None:
        return ""
    return f"{number:{'+' if signed else ''},.{decimals}f}"


def join_words(words: Sequence[str], *, most: int = 100, last: str = "and") -> str:
    """Join words of a sentence; of more than ``most`` the first few and how many more.

    >>> join_words(["a", "b", "c"]), join_words(["a", "b", "c", "d"], most=2, last="or")
    ('a, b and c', 'a, b or 2 more')
    """
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most:,} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def write_arm(treatments: Sequence[str], arm: Arm) -> str:
    """Write an arm in a sentence: its name, where one treatment has names, else ``X=1, Z=0``.

    >>> write_arm(["Ad"], ("A",)), write_arm(["Dose"], (2,)), write_arm(["X", "Z"], ("a", 1))
    ('A', 'Dose=2', 'X=a, Z=1')
    """
    if len(arm) == 1 and isinstance(arm[0], str):
        return arm[0]
    return write_levels(treatments, arm)


def write_levels(names: Sequence[str], values: Sequence[Value]) -> str:
    """Write variables with their levels, as ``Age=old, Sex=f``."""
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def align_columns(head: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Write columns of text below their names, each as wide as its widest entry."""
    padded = []
    for name, column in zip(head, columns, strict=True):
        width = max(map(len, (name, *column)))
        padded.append(map(methodcaller("ljust", width), (name, *column)))
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))


def _list_levels(keys: Sequence[tuple[Arm, Context]], n: int) -> list[list[str]]:
    """List the levels of arms and contexts by column."""
    rows = [(*arm, *context) for arm, context in keys]
    return [[str(row[i]) for row in rows] for i in range(n)]


def rank_row(table: "BoundTable", key: tuple[Arm, Context]) -> tuple[int, ...]:
    """Where the levels of an arm and a context stand in the table's order."""
    names, values = (*table.treatments, *table.context), (*key[0], *key[1])
    return tuple(table.level_ranks[name][v] for name, v in zip(names, values, strict=True))


def _write_plain(number: float) -> str:
    """Write a number with all its digits, as ``1`` or ``-0.25``."""
    return f"{Decimal(repr(number)).normalize():,f}"
