"""Variables are plain strings, sets of them are frozensets, and what people read is sorted."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeGuard

Nodes: TypeAlias = frozenset[str]
Names: TypeAlias = str | Iterable[str]
"""What functions accept for a set of variables: one name, or any iterable of names."""

_PLAIN = re.compile(r"[\w.]+")
# Digit runs count as numbers when sorting, so that X2 comes before X10.
_RUNS = re.compile(r"(\d+)")
KEYWORDS = frozenset({"hidden", "do"})
ADAPTIVE_COLUMN = "boundit_adaptive"
"""The column by which a log says that a policy learned while it was written."""


def read_nodes(names: Names) -> Nodes:
    """Read a set of variables as a user gives it; a lone string is one name, not its letters.

    >>> read_nodes("X1") == read_nodes(["X1"]) == frozenset({"X1"})
    True
    """
    return frozenset((names,)) if isinstance(names, str) else frozenset(names)


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names of variables so that X2 comes before X10.

    Called wherever a set of variables gets an order, ``join_names`` for one.

    >>> sort_names({"X10", "X2", "U"})
    ['U', 'X2', 'X10']
    """
    return sorted(names, key=_make_sort_key)


def join_names(names: Iterable[str]) -> str:
    """Write a set of variables in order, with commas.

    Called wherever variables stand in words: messages, claims, steps.

    >>> join_names({"Y", "I1"})
    'I1, Y'
    """
    return ", ".join(sort_names(names))


def write_name(name: str) -> str:
    r"""Write a name as graph and query text read it back, quoted only where it must be.

    >>> print(*map(write_name, ("X1", "time of day", "hidden", '6" pipe')))
    X1 "time of day" "hidden" "6\" pipe"
    """
    if _PLAIN.fullmatch(name) and name not in KEYWORDS:
        return name
    return quote(name)


def quote(name: str) -> str:
    r"""Put a name between double quotes, with ``"`` and ``\`` escaped."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_name(name: object) -> TypeGuard[str]:
    """Tell whether something can name a variable: printable text without outer blanks."""
    return isinstance(name, str) and name != "" and name.isprintable() and name == name.strip()


@lru_cache(maxsize=2**14)
def _make_sort_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Split a name into words and numbers, so that numbers sort by size."""
    runs = _RUNS.split(name)
    key = [(0, int(r), "") if r.isdecimal() and r.isascii() else (1, 0, r) for r in runs if r]
    return key, name


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
