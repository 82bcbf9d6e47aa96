"""Counts of few rows that a table of bounds shows, which may point to a person."""

import re
from collections.abc import Iterator

from boundit.results.bound import Bound
from boundit.results.bound_table import BoundTable

FEW_ROWS = 10
"""Below how many rows a count is worth a word before it is handed on."""
_ROWS_OF_LINE = re.compile(r"\(([\d,]+) rows?\)")
"""How many rows a line of an explanation tells of. Cells are kept as lines alone."""


def describe_small_counts(table: BoundTable) -> str:
    """Say how few rows the smallest count of a table stands for, or nothing if none is small.

    What they write is handed on.
    """
    counts = (count for bound in table.bounds.values() for count in _list_counts(bound))
    small = [count for count in counts if 1 <= count < FEW_ROWS]
    if not small:
        return ""
    least = f"{min(small):,.0f} row{'s' * (min(small) != 1)}"
    return (
        f"Counts of fewer than {FEW_ROWS} rows are shown, the smallest of {least}: "
        "somebody may be recognised by them. Merge rare levels before you hand this on"
    )


def _list_counts(bound: Bound) -> Iterator[float]:
    """Yield every count of rows that is shown with an interval."""
    yield bound.n
    for line in (*bound.lower_cells, *bound.upper_cells):
        for found in _ROWS_OF_LINE.findall(str(line)):
            yield float(found.replace(",", ""))
    if bound.sampling is not None:
        for end in (bound.sampling.lower, bound.sampling.upper):
            yield from (cell.rows for cell in (end.heaviest if end else ()))
