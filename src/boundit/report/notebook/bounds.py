"""A table of bounds in a notebook: an interval a row, drawn and in numbers."""

from collections.abc import Iterator
from itertools import islice

from boundit.report.notebook.bars import choose_scale, draw_interval_bar
from boundit.report.notebook.snippet import (
    MOST_ROWS,
    Cell,
    Drawn,
    describe_cut,
    write_notes,
    write_snippet,
    write_table,
    write_words,
)
from boundit.report.pages.bound_view import format_ends
from boundit.report.text.lettering import format_level, format_n, label_values
from boundit.results.bound import Bound, Key
from boundit.results.bound_table import BoundTable


def show_bounds(table: BoundTable) -> str:
    """Write a table of bounds as HTML for a notebook.

    Rows stand context by context, so that arms can be compared; a large table shows some, and
    says how many.
    """
    keys = list(islice(_list_keys(table), MOST_ROWS))
    if not keys:
        return write_snippet(_write_title(table), write_words("It has no rows."))
    shown = [table.bounds[key] for key in keys]
    ends = [end for bound in shown for end in (bound.lower, bound.upper)]
    scale = choose_scale(ends, table.outcome_range)
    axis = "".join(f"<span>{end}</span>" for end in format_ends(table, *scale))
    names = [*map(format_level, table.context), *map(format_level, table.treatments)]
    logged = any(bound.n for bound in shown)
    head: list[Cell] = [*names, Drawn(f'<span class="ends">{axis}</span>'), "lower", "upper"]
    head += ["logged rows"] if logged else []
    right = range(len(names) + 1, len(head))
    said = _write_remarks(table, keys)
    head += ["remark"] if any(said) else []
    rows: list[list[Cell]] = [
        [
            *map(format_level, (*where, *arm)),
            draw_interval_bar(bound, scale),
            *format_ends(table, bound.lower, bound.upper),
            *([format_n(bound.n)] if logged else []),
            *([remark] if any(said) else []),
        ]
        for (arm, where), bound, remark in zip(keys, shown, said, strict=True)
    ]
    return write_snippet(
        _write_title(table),
        write_table(
            head,
            rows,
            caption=_write_caption(table),
            right=right,
            first=_find_first_rows(keys),
        ),
        write_words(describe_cut(len(keys), len(table.bounds), "bounds.frame()")),
        write_notes("Caveats", table.caveats),
    )


def _write_remarks(table: BoundTable, keys: list[Key]) -> list[str]:
    """Say of each row that its arm is out, or that its bound says nothing."""
    losers = {where: table.find_dominations(where) for where in {key[1] for key in keys}}
    found = []
    for arm, where in keys:
        lost = losers[where].get(arm)
        found.append(
            f"surely less than {label_values(table.treatments, lost.arm)}"
            if lost
            else _describe_silence(table.bounds[arm, where], table)
        )
    return found


def _list_keys(table: BoundTable) -> Iterator[Key]:
    """List the rows context by context, in the order of arms."""
    for where in table.contexts:
        for arm in table.arms:
            if (arm, where) in table.bounds:
                yield arm, where


def _find_first_rows(keys: list[Key]) -> set[int]:
    """Find the rows at which a context begins."""
    return {i for i, key in enumerate(keys) if i == 0 or keys[i - 1][1] != key[1]}


def _write_title(table: BoundTable) -> str:
    """Write what a table bounds."""
    known = "".join(f", {name}" for name in table.context)
    return f"Bounds on E[{table.outcome} | do({', '.join(table.treatments)}){known}]"


def _write_caption(table: BoundTable) -> str:
    """Say how many intervals there are, and how surely they hold."""
    arms, contexts = len(table.arms), len(table.contexts)
    size = f"{arms:,} arm{'s' * (arms != 1)}"
    if table.context:
        size += f" in {contexts:,} context{'s' * (contexts != 1)}"
    if table.confidence is None:
        return f"{size}; ends without allowance for sampling error"
    return f"{size}; {table.inference} at confidence {table.confidence:g}, all rows at once"


def _describe_silence(bound: Bound, table: BoundTable) -> str:
    """Say where a bound says nothing at all."""
    if (bound.lower, bound.upper) == tuple(table.outcome_range):
        return "nothing is known"
    return "; ".join(bound.marks)
