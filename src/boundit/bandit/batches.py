"""Requests and rewards of a batch, however they are passed, and errors that name a row."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import narwhals as nw
import numpy as np

from boundit.bandit.errors import BadContext, BadOption
from boundit.core.errors import BounditError
from boundit.core.message import Message

E = TypeVar("E", bound=BounditError)
T = TypeVar("T")
Observed: TypeAlias = Mapping[str, object] | None
"""What a round showed besides its reward, by the names of variables."""


def name_row(error: E, row: int) -> E:
    """Put the row that an error is about before its message; gives the error."""
    error.message = Message(f"row {row}: ", error.message)
    error.args = (str(error.message),)
    return error


def list_contexts(given: object, names: Sequence[str] | None) -> list[object]:
    """List the contexts of several requests, each as ``decide`` takes one.

    From a list of them, a 2-D array with a row for each, or columns by name: a mapping or a
    data frame. ``names`` are those of the context variables.

    >>> list_contexts({"U2": [0, 1], "U1": ["a", "b"]}, ["U1", "U2"])
    [('a', 0), ('b', 1)]
    >>> list_contexts(np.array([[0, 1], [1, 1]]), None)
    [(0, 1), (1, 1)]
    """
    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, np.ndarray):
        rows = given.tolist() if given.ndim else [given]
        return [tuple(row) for row in rows] if given.ndim > 1 else rows
    columns = _read_columns("contexts", given)
    if columns is not None:
        return _order_columns(columns, names)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("contexts", "a list, a 2-D array, or columns by name", given)
    return list(given)


def list_observed(given: object, n: int) -> list[Observed]:
    """List what the rounds of ``n`` rewards showed besides, a mapping or None for each.

    From a list of them, or from columns by name.

    >>> list_observed({"W": [0, 1]}, 2)
    [{'W': 0}, {'W': 1}]
    """
    if given is None:
        return [None] * n
    columns = None if isinstance(given, list | tuple) else _read_columns("observed", given)
    if columns is not None:
        rows = zip(*columns.values(), strict=True) if columns else [()] * n
        found: list[Observed] = [dict(zip(columns, row, strict=True)) for row in rows]
        return require_length("observed", found, n)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("observed", "a list of mappings, or columns by name", given)
    return require_length("observed", list(given), n)


def require_length(name: str, found: list[T], n: int) -> list[T]:
    """Refuse a list with more or fewer entries than there are requests or decisions."""
    if len(found) != n:
        raise BadOption(name, f"one for each of {n}", f"{len(found)} of them")
    return found


def read_ids(given: Iterable[str], n: int) -> list[str]:
    """Read the ids of ``n`` decisions: texts, one for each."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("ids", "a list of texts", given)
    found = require_length("ids", list(given), n)
    for name in found:
        if not isinstance(name, str):
            raise BadOption("ids", "texts", name)
    return found


def _read_columns(name: str, given: object) -> dict[str, list[object]] | None:
    """Read columns of one length, from a mapping or a data frame; None for what is neither."""
    if isinstance(given, Mapping):
        columns = {key: _list_column(name, column) for key, column in given.items()}
    else:
        frame = nw.from_native(given, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        columns = {key: frame[key].to_list() for key in frame.columns}
    if len(set(map(len, columns.values()))) > 1:
        raise BadOption(name, "columns of one length", {k: len(v) for k, v in columns.items()})
    return columns


def _list_column(name: str, column: object) -> list[object]:
    if isinstance(column, np.ndarray):
        return list(column.tolist())
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise BadOption(name, "columns with a value for each row", column)
    return list(column)


def _order_columns(
    columns: Mapping[str, list[object]], names: Sequence[str] | None
) -> list[object]:
    """Put columns in the order of the context variables, and read them row by row."""
    if names is None:
        reason = "its variables have no names; name them with context=[...] or pass rows"
        raise BadContext(tuple(columns), reason)
    for name in names:
        if name not in columns:
            raise BadContext(tuple(columns), f"it has no column {name!r}")
    if not names:
        return [()] * len(next(iter(columns.values()), []))
    return list(zip(*(columns[name] for name in names), strict=True))
