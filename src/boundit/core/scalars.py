"""Scalars as plain Python has them, and the names of the bins that numbers are cut into."""

from collections.abc import Sequence
from itertools import pairwise

# Beyond this a float no longer tells whole numbers apart.
_EXACT = 2.0**53


def unwrap_scalar(value: object) -> object:
    """Take a value as Python has it; NumPy's scalars know how to become that.

    Whatever else is handed in, an array of several numbers for one, comes back as it is.

    >>> import numpy as np
    >>> unwrap_scalar(np.int64(2)), unwrap_scalar("two"), unwrap_scalar(np.str_("two"))
    (2, 'two', 'two')
    >>> unwrap_scalar(np.array([2, 3]))
    array([2, 3])
    """
    if hasattr(value, "item") and not getattr(value, "ndim", 0):
        found: object = value.item()
        return found
    return value


def name_bins(edges: Sequence[float]) -> tuple[str, ...]:
    """Name the intervals that ``edges`` cut the numbers into.

    >>> name_bins([18, 30.0, 50.5])
    ('< 18', '[18, 30)', '[30, 50.5)', '>= 50.5')
    """
    shown = [_write_number(float(edge)) for edge in edges]
    inner = [f"[{a}, {b})" for a, b in pairwise(shown)]
    return f"< {shown[0]}", *inner, f">= {shown[-1]}"


def _write_number(edge: float) -> str:
    """Write a number as the level it would be: whole ones without a point."""
    return str(int(edge) if edge.is_integer() and abs(edge) < _EXACT else edge)
