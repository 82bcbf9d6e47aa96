"""The rows of a bound table as arrays, in the order in which a page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import attrgetter, eq, itemgetter

import numpy as np
from numpy.typing import NDArray

from boundit.report.pages.columns import number_values
from boundit.terms.bound import Bound, Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.explanation import Domination, EndNumbers, WidthSplit
from boundit.terms.formula import Line
from boundit.terms.interval import Interval
from boundit.terms.sampling import Inference, describe_sampling

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_MEASURES = {
    "lower": "lower",
    "upper": "upper",
    "low": "lower_estimate",
    "high": "upper_estimate",
    "n": "n",
}
_SPLIT = ("whole", "lasting", "chance")


@dataclass(frozen=True, eq=False, slots=True)
class RowValues:
    """What each row of a table has, contexts one after another.

    ``numbers`` are arrays by name. ``rivals`` is the number of the arm that surely earns more,
    counted from 1, or 0. ``cells`` are the lines of numbers behind the lower and the upper end,
    ``sampling`` what widens a row by chance, as texts of several lines.
    """

    table: BoundTable
    keys: Sequence[Key]
    bounds: Sequence[Bound]
    arms: Codes
    contexts: Codes
    numbers: Mapping[str, Floats]
    split_kinds: Codes
    rivals: Codes
    cells: tuple[Sequence[str], Sequence[str]]
    sampling: Sequence[str]

    @classmethod
    def of(cls, table: BoundTable) -> "RowValues":
        """Read the rows of a bound table into arrays.

        Called by ``make_bounds_section`` once per table.
        """
        keys, bounds = list(table.bounds), list(table.bounds.values())
        _, arms = number_values(map(itemgetter(0), keys))
        _, contexts = number_values(map(itemgetter(1), keys))
        order = np.argsort(contexts, kind="stable")
        keys = [keys[i] for i in order.tolist()]
        bounds = [bounds[i] for i in order.tolist()]
        numbers = {
            name: np.fromiter(map(attrgetter(measure), bounds), float, len(bounds))
            for name, measure in _MEASURES.items()
        }
        kinds, widths = _split_widths(numbers) if table.confidence else _skip_widths(len(keys))
        rivals, leads = _find_rivals(table, keys)
        return cls(
            table,
            keys,
            bounds,
            arms[order],
            contexts[order],
            {**numbers, **widths, "lead": leads},
            kinds,
            rivals,
            (
                [_join_lines(cells) for cells in map(attrgetter("lower_cells"), bounds)],
                [_join_lines(cells) for cells in map(attrgetter("upper_cells"), bounds)],
            ),
            [
                _join_sampling(bound, table.inference, table.others.get(key))
                for key, bound in zip(keys, bounds, strict=True)
            ],
        )

    def find_domination(self, row: int) -> Domination | None:
        """Give the arm that surely earns more than that of a row, and by how much, or None.

        Called by ``_blank_explanation``.
        """
        if not self.rivals[row]:
            return None
        return Domination(self.table.arms[self.rivals[row] - 1], self.numbers["lead"][row])

    def group_alike(self) -> tuple[list[int], Codes]:
        """Group the rows whose explanations differ in numbers and names alone.

        Gives the first row of each group, and the group of each row. Called by ``keep_rows``.
        """
        n = self.numbers["n"]
        lower, upper = self.cells
        parts = (
            *(
                number_values(map(attrgetter(part), self.bounds))[1]
                for part in ("lower_rule", "upper_rule", "marks")
            ),
            self.split_kinds,
            # One row, several, or a share of them: said in other words.
            (n == 1) + 2 * (n % 1 != 0),
            *(np.fromiter(map(bool, cells), np.intp, len(cells)) for cells in self.cells),
            np.fromiter(map(eq, lower, upper), np.intp, len(lower)),
            np.fromiter(map(bool, self.sampling), np.intp, len(self.sampling)),
            self.rivals,
        )
        joined = reduce(lambda code, part: code * (int(part.max(initial=0)) + 1) + part, parts)
        _, first, groups = np.unique(joined, return_index=True, return_inverse=True)
        return first.tolist(), groups


def _split_widths(numbers: Mapping[str, Floats]) -> tuple[Codes, dict[str, Floats]]:
    """Split the widths of all rows into what rows would take away and what lasts.

    Gives the kind of each split as a number, and arrays of the parts. Called by
    ``RowValues.of`` where there is a confidence.
    """
    ends = (numbers[name].tolist() for name in ("lower", "upper", "low", "high"))
    kinds, parts = list[str](), dict[str, list[float]]((name, []) for name in _SPLIT)
    for row in zip(*ends, strict=True):
        split = WidthSplit.of(*row)
        kinds.append(split.kind)
        for name, values in parts.items():
            values.append(getattr(split, name))
    return number_values(kinds)[1], {name: np.array(found) for name, found in parts.items()}


def _skip_widths(n: int) -> tuple[Codes, dict[str, Floats]]:
    """Give what stands for the splits of rows without sampling error: one kind, no parts.

    Called by ``RowValues.of`` where there is no confidence.
    """
    return np.zeros(n, dtype=np.intp), {}


def _find_rivals(table: BoundTable, keys: Sequence[Key]) -> tuple[Codes, Floats]:
    """Find for each row the arm that surely earns more, by its number from 1, and its lead.

    Both are 0 where there is none. Called by ``RowValues.of``.
    """
    places = {arm: i for i, arm in enumerate(table.arms, start=1)}
    rivals, leads = np.zeros(len(keys), dtype=np.intp), np.zeros(len(keys))
    for context, rows in groupby(enumerate(keys), key=lambda numbered: numbered[1][1]):
        found = table.find_dominations(context)
        for i, (arm, _) in rows:
            if arm in found:
                rivals[i], leads[i] = places[found[arm].arm], found[arm].lead
    return rivals, leads


def _join_lines(cells: Sequence[Line]) -> str:
    """Write the numbers behind an end as one text of several lines, cut as explanations are.

    Called by ``RowValues.of`` for both ends of every row.
    """
    if not cells:
        return ""
    lines = EndNumbers.of("both", 0.0, cells).lines
    return "\n".join(" ".join(str(line).splitlines()) for line in lines)


def _join_sampling(bound: Bound, inference: Inference | None, other: Interval | None) -> str:
    """Write why chance widens a row as one text of several lines; empty where none is said.

    ``other`` is about what the other method would give. Called by ``RowValues.of`` for every
    row.
    """
    if inference is None:
        return ""
    return "\n".join(describe_sampling(bound.sampling, inference, other))
