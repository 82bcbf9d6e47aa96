"""The rows of a large bound table, kept as data from which a page shows some at a time.

What rows have in common is written once, with blanks: the row itself, and each explanation that
differs from others in more than its numbers (a *shape*). What differs is a column of texts for
each blank.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from operator import attrgetter

import numpy as np

from boundit.report.pages.bound_view import Bar, BoundRow, format_ends, is_long, name_rules
from boundit.report.pages.columns import TextColumn, pack_codes, write_codes
from boundit.report.pages.row_values import Codes, Floats, RowValues
from boundit.report.records import PathHighlight
from boundit.report.text.blanks import BlankLevel, BlankNumber, Blanks
from boundit.report.text.contexts import name_contexts
from boundit.report.text.explanation import ExplanationBlock, render_blocks
from boundit.report.text.lettering import format_n, label_values
from boundit.terms.bound import Bound, StepRecord
from boundit.terms.bound_table import BoundTable
from boundit.terms.explanation import Explanation, explain_bound
from boundit.terms.formula import Line, Sentence

_BARS = ("bar start", "bar width", "inner start", "inner width")
_SOUGHT = ("arm", "context", "rule")
_CELLS = ("lower cells", "upper cells")
_SAMPLING = "sampling"


@dataclass(frozen=True, eq=False, slots=True)
class KeptRows:
    """All rows of a table, and how rows and explanations are written with blanks.

    ``rows`` has a row for each look that rows have, ``shapes`` an explanation for each group of
    rows that are explained alike; ``groups`` says which group each row is in.
    """

    given: RowValues
    blanks: Blanks
    rows: tuple[BoundRow, ...]
    shapes: tuple[tuple[ExplanationBlock, ...], ...]
    groups: Codes

    def write_json(
        self,
        write_row: Callable[[BoundRow, str], str],
        write_block: Callable[[ExplanationBlock], str],
        write_heading: Callable[[str], str] | None,
    ) -> str:
        """Write the rows as JSON for the page's script, with the templates of their HTML.

        ``write_row`` and the others write the HTML of a row in a context, of a part of an
        explanation, and of the heading over a context if there is one. Called by
        ``_write_data``.
        """
        context = self.blanks.leave("context")
        different = dict.fromkeys(block for shape in self.shapes for block in shape)
        blocks = {block: i for i, block in enumerate(different)}
        templates = {
            "heading": write_heading(context) if write_heading else "",
            "rows": [write_row(row, context) for row in self.rows],
            "blocks": [write_block(block) for block in blocks],
            "shapes": [[blocks[block] for block in shape] for shape in self.shapes],
        }
        codes = {
            "arms": self.given.arms,
            "contexts": self.given.contexts,
            "looks": _choose_looks(self.given),
            "groups": self.groups,
        }
        # Last, for a blank is known once it is written.
        columns = _make_columns(self.given, self.blanks)
        record = {
            **templates,
            **{name: write_codes(pack_codes(found)) for name, found in codes.items()},
            "sought": [self.blanks.places[name, ""] for name in _SOUGHT],
            "columns": [column.write_record() for column in columns],
        }
        # Nothing within may end the element it stands in.
        return json.dumps(record, ensure_ascii=False).replace("<", "\\u003c")


def keep_rows(
    given: RowValues,
    draw: Callable[[Line], str],
    highlight: Callable[[StepRecord], PathHighlight | None],
) -> KeptRows:
    """Keep all rows of a bound table as data, from which a page shows some at a time.

    ``draw`` writes a line as HTML, ``highlight`` finds what a step lights up in the graph.
    Called by ``make_bounds_section`` for tables too large to be written row by row.
    """
    blanks = Blanks()
    firsts, groups = given.group_alike()
    question = _blank_question(given.table, blanks)
    shapes = (_blank_explanation(given, i, question, blanks) for i in firsts)
    looks = product((False, True), repeat=3)
    return KeptRows(
        given,
        blanks,
        tuple(
            _blank_row(given.table, blanks, dominated=dominated, marked=marked, long=long)
            for long, marked, dominated in looks
        ),
        tuple(render_blocks(shape, draw, highlight) for shape in shapes),
        groups,
    )


def _blank_question(table: BoundTable, blanks: Blanks) -> Sentence:
    """Write the mean of an arm in a context with blanks for all levels.

    A blank is as long as the longest level, so that lines break where they must. Called by
    ``keep_rows``.
    """

    def leave(name: str, i: int, values: list[object]) -> BlankLevel:
        longest = max(len(repr(value)) for value in values)
        return BlankLevel(blanks.leave(f"{name} {i}", length=longest))

    arm = (leave("treatment", i, [*v]) for i, v in enumerate(zip(*table.arms, strict=True)))
    context = (
        leave("variable", i, [*v]) for i, v in enumerate(zip(*table.contexts, strict=True))
    )
    return table.write_mean((tuple(arm), tuple(context)))


def _blank_explanation(
    given: RowValues, row: int, question: Sentence, blanks: Blanks
) -> Explanation:
    """Explain one row with blanks for its numbers, so that it explains all rows like it.

    Called by ``keep_rows`` for the first row of each group.
    """
    bound, numbers, table = given.bounds[row], given.numbers, given.table
    lower, upper = (cells[row] for cells in given.cells)
    low_cells, high_cells = (blanks.leave(name) for name in _CELLS)

    def leave(name: str) -> BlankNumber:
        return blanks.leave_number(numbers[name][row], name)

    blank = Bound(
        lower=leave("lower"),
        upper=leave("upper"),
        lower_estimate=leave("low"),
        upper_estimate=leave("high"),
        n=leave("n"),
        lower_rule=bound.lower_rule,
        upper_rule=bound.upper_rule,
        lower_cells=(low_cells,) if lower else (),
        upper_cells=(low_cells if lower == upper else high_cells,) if upper else (),
        marks=bound.marks,
    )
    beaten = given.find_domination(row)
    found = explain_bound(
        question,
        blank,
        table.rules,
        confidence=table.confidence,
        inference=table.inference,
        promise=table.promise,
        caveats=table.caveats,
        dominated=beaten and replace(beaten, lead=blanks.leave_number(beaten.lead, "lead")),
    )
    if found.split is None:
        return found
    split = replace(
        found.split, whole=leave("whole"), lasting=leave("lasting"), chance=leave("chance")
    )
    said = (blanks.leave(_SAMPLING),) if given.sampling[row] else ()
    return replace(found, split=split, sampling=said)


def _blank_row(
    table: BoundTable, blanks: Blanks, *, dominated: bool, marked: bool, long: bool
) -> BoundRow:
    """Make a row of the page's table with blanks for everything that it shows.

    Called by ``keep_rows`` for every look of a row.
    """
    lower, upper = format_ends(
        table, blanks.leave_number(0.0, "lower"), blanks.leave_number(0.0, "upper")
    )
    return BoundRow(
        id="",
        arm=blanks.leave("arm"),
        lower=lower,
        upper=upper,
        n=blanks.leave("logged"),
        by=blanks.leave("rule"),
        bar=Bar(*(blanks.leave_number(0.0, name) for name in _BARS)),
        dominated=dominated,
        marked=marked,
        long=long,
        searchable="",
        explanation=(),
    )


def _choose_looks(given: RowValues) -> Codes:
    """Choose for each row which of the blank rows it is: dominated, marked, of a long name.

    Called by ``KeptRows.write_json``; ``keep_rows`` makes the blank rows in this order.
    """
    arms = given.table.arms
    long = np.array([is_long(label_values(given.table.treatments, arm)) for arm in arms])
    marked = np.array([bool(bound.marks) for bound in given.bounds])
    found: Codes = (given.rivals > 0) + 2 * marked + 4 * long[given.arms]
    return found


def _make_columns(given: RowValues, blanks: Blanks) -> tuple[TextColumn, ...]:
    """Make the column of texts that fills each blank, in the order of their numbers.

    Called by ``KeptRows.write_json`` once all blanks are left.
    """
    table = given.table
    lowers, uppers = (
        map(attrgetter(name), given.bounds) for name in ("lower_rule", "upper_rule")
    )
    lower, _ = given.cells
    # Numbers behind both ends are said once.
    other = [above if above != below else "" for below, above in zip(*given.cells, strict=True)]
    texts = {
        "arm": TextColumn.of("arm", (label_values(table.treatments, a) for a in table.arms)),
        "context": TextColumn.of("context", name_contexts(table, table.contexts)),
        "rule": TextColumn.of("row", map(cache(name_rules), lowers, uppers)),
        "logged": TextColumn.of("row", map(cache(format_n), given.numbers["n"].tolist())),
        **{
            name: TextColumn.of("row", cells)
            for name, cells in zip(_CELLS, (lower, other), strict=True)
        },
        _SAMPLING: TextColumn.of("row", given.sampling),
        **{
            name: TextColumn.spell(places, "g")
            for name, places in zip(_BARS, _place_bars(given), strict=True)
        },
        **{
            f"treatment {i}": TextColumn.of("arm", map(repr, values))
            for i, values in enumerate(zip(*table.arms, strict=True))
        },
        **{
            f"variable {i}": TextColumn.of("context", map(repr, values))
            for i, values in enumerate(zip(*table.contexts, strict=True))
        },
    }
    return tuple(
        texts[name] if name in texts else TextColumn.spell(given.numbers[name], spec)
        for name, spec in blanks.places
    )


def _place_bars(given: RowValues) -> tuple[Floats, Floats, Floats, Floats]:
    """Compute where the bars of all rows stand, in percent of the reward's range.

    As ``place_bar`` does for one row. Called by ``_make_columns``.
    """
    low, high = given.table.reward_range
    lower, upper, *inner = (given.numbers[name] for name in ("lower", "upper", "low", "high"))
    ends: tuple[Floats, ...] = (
        lower,
        upper,
        np.maximum(np.minimum(*inner), lower),
        np.minimum(np.maximum(*inner), upper),
    )
    with np.errstate(invalid="ignore"):  # a range without an end has no bars
        a, b, c, d = (np.round(100 * (end - low) / ((high - low) or 1.0), 2) for end in ends)
    return a, np.round(b - a, 2), c, np.round((d - c).clip(min=0.0), 2)
