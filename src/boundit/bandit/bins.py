"""Numbers where a table of bounds has bins: which bin one is in, and a number for a bin."""

from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from boundit.terms.bound import Value
from boundit.terms.scalars import name_bins

Edges: TypeAlias = tuple[float, ...]
"""Where a variable was cut, in increasing order; none if it was not."""


@lru_cache
def list_bins(edges: Edges) -> tuple[str, ...]:
    """List the names of the bins that edges cut the numbers into; none for no edges."""
    return name_bins(edges) if edges else ()


def find_bin(edges: Edges, value: Value) -> Value:
    """Find the name of the bin that a number is in; what is no number is given back.

    The first and the last bin are open, so that every number is in one; nan is none.

    >>> find_bin((30.0, 50.0), 41.5), find_bin((30.0, 50.0), 50), find_bin((), 41.5)
    ('[30, 50)', '>= 50', 41.5)
    """
    if not edges or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if value != value:
        return value
    return list_bins(edges)[bisect_right(edges, value)]


def find_middle(edges: Edges, name: Value) -> float:
    """Find the number that stands for a bin: its middle, or the edge of an open one.

    For a name of other edges, the middle of all.

    >>> [find_middle((30.0, 50.0), name) for name in ("< 30", "[30, 50)", ">= 50", "?")]
    [30.0, 40.0, 50.0, 40.0]
    """
    middles = (edges[0], *((low + high) / 2 for low, high in pairwise(edges)), edges[-1])
    found = dict(zip(list_bins(edges), middles, strict=True))
    return found.get(str(name), (edges[0] + edges[-1]) / 2)
