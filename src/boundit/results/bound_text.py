"""A bound table as a person reads it in a terminal."""

from collections.abc import Mapping, Sequence
from operator import methodcaller

from boundit.results.bound import Bound, Key


def format_rows(names: Sequence[str], bounds: Mapping[Key, Bound]) -> str:
    """Write a bound table as text, one line a row: arm, context, interval, rows and rules."""
    head = [*names, "lower", "upper", "n", "by"]
    rows = bounds.values()
    levels = zip(*((*arm, *context) for arm, context in bounds), strict=True)
    columns = [
        *(list(map(str, column)) for column in levels),
        [f"{bound.lower:.4g}" for bound in rows],
        [f"{bound.upper:.4g}" for bound in rows],
        [f"{bound.n:,.6g}" for bound in rows],
        [" / ".join(dict.fromkeys((bound.lower_rule, bound.upper_rule))) for bound in rows],
    ]
    return align_columns(head, columns if bounds else [[] for _ in head])


def align_columns(head: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Write columns of text below their names, each as wide as its widest entry."""
    padded = []
    for name, column in zip(head, columns, strict=True):
        width = max(map(len, (name, *column)))
        padded.append(map(methodcaller("ljust", width), (name, *column)))
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))
