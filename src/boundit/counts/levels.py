"""Levels: the values a variable takes, as plain Python scalars in one order.

A value means the same wherever it was stored, so that logs from different engines meet:

- whole numbers are ``int``, also when stored as floats (pandas turns integers with nulls into
  floats) or decimals; other numbers are ``float``;
- a day is a ``date``, also when stored as a time stamp at midnight without a zone (pandas has
  no dates); time stamps with a zone are in UTC;
- ``null``, ``NaN``, ``NaT`` and ``NA`` are all missing: ``None``;
- text stays text: ``"1"`` is not ``1``. Otherwise two values are one level when Python calls
  them equal, so ``True`` finds ``1``.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import inf
from typing import TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from boundit.core.errors import DataError
from boundit.counts.errors import NotACategory

Levels: TypeAlias = tuple[object, ...]
Codes: TypeAlias = NDArray[np.int64]
# Beyond this a float no longer tells whole numbers apart.
_EXACT = 2.0**53
_NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"
_BIN = re.compile(rf"(?:(<|>=) |\[)({_NUMBER})(?:, {_NUMBER}\))?")


def to_native(value: object) -> object:
    """Write a value of any library as the plain Python scalar it means; a missing one is None.

    >>> [to_native(value) for value in (np.float32(2), Decimal("0.10"), float("nan"), "2")]
    [2, 0.1, None, '2']
    >>> to_native(dt.datetime(2024, 2, 29)), to_native(np.datetime64("2024-02-29T12:00"))
    (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 0))
    """
    match value:
        case np.datetime64() | np.timedelta64():
            return to_native(value.astype(f"{value.dtype.kind}8[us]").item())
        case np.generic():
            return to_native(value.item())
        case None | bool():
            return value
        case int():
            return int(value)
        case float() | Decimal():
            number = float(value)
            if number != number:
                return None
            return int(number) if number.is_integer() and abs(number) < _EXACT else number
        case str():
            return str.__str__(value)
        case _:
            return _to_native_time(value)


def _to_native_time(value: object) -> object:
    # pandas' NaT passes for a datetime, and its NA compares to nothing.
    """Write a date, time, UUID or bytes as a plain Python value; anything else is a TypeError."""
    if type(value).__name__ in {"NaTType", "NAType"}:
        return None
    match value:
        case dt.datetime() if value.tzinfo is not None:
            value = value.astimezone(dt.UTC)
            return dt.datetime.combine(value.date(), value.time(), dt.UTC)
        case dt.datetime():
            plain = dt.datetime.combine(value.date(), value.time())
            return plain.date() if plain.time() == dt.time() else plain
        case dt.date() | dt.time() | dt.timedelta():
            return value
        case UUID():
            return str(value)
        case bytes():
            return value.decode()
        case _:
            raise TypeError(type(value).__name__)


def sort_levels(levels: Iterable[object]) -> Levels:
    """Sort distinct levels (values of a variable): numbers, text, dates, times, missing last.

    >>> sort_levels(["b", 10, 9.5, None, "a", True])
    (True, 9.5, 10, 'a', 'b', None)
    >>> sort_levels([">= 30", "[18, 30)", "< 18"])
    ('< 18', '[18, 30)', '>= 30')
    """
    return tuple(sorted(dict.fromkeys(levels), key=_rank_level))


def _rank_level(level: object) -> tuple[int, float, object]:
    """Make a sorting key of a level: its kind (numbers first), then its value."""
    match level:
        case bool() | int() | float():
            return 0, 0.0, level
        case str():
            if not (found := _BIN.fullmatch(level)):
                return 1, 0.0, level
            # Names of bins go by their lower edge.
            return 2, -inf if found[1] == "<" else float(found[2]), level
        case dt.datetime() if level.tzinfo is not None:
            return 4, 0.0, level
        case dt.datetime():
            return 3, 0.0, level
        case dt.date():
            return 3, 0.0, dt.datetime.combine(level, dt.time())
        case dt.time():
            return 5, 0.0, (level.tzinfo is not None, level.isoformat())
        case dt.timedelta():
            return 6, 0.0, level
        case _:
            return 7, 0.0, 0


def encode_column(
    name: str, column: NDArray[np.generic] | Sequence[object]
) -> tuple[Levels, Codes]:
    """Give every value of a column its place among the column's levels.

    Returns the sorted levels and the code of each row.

    >>> encode_column("X", np.array([1.0, np.nan, 0.0, 1.0]))
    ((0, 1, None), array([1, 2, 0, 1]))
    """
    places: dict[object, int] | list[object]
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufMm":
        if column.dtype.kind in "Mm":
            column = column.astype(f"{column.dtype.kind}8[us]")
        gone = np.ma.getmaskarray(column)
        seen, found = np.unique(np.ma.getdata(column)[~gone], return_inverse=True)
        codes = np.full(len(column), len(seen), dtype=np.int64)
        codes[~gone] = found
        places = [*seen.tolist(), *([None] if gone.any() else [])]
    else:
        values = column.tolist() if isinstance(column, np.ndarray) else column
        places = {}
        try:
            every = [places.setdefault(value, len(places)) for value in values]
        except TypeError as error:
            raise NotACategory(name, str(error).split("'")[1]) from None
        codes = np.array(every, dtype=np.int64)
    try:
        plain = [to_native(value) for value in places]
    except (TypeError, UnicodeDecodeError) as error:
        raise NotACategory(name, str(error).split(" ")[0]) from None
    levels = sort_levels(plain)
    at = {level: i for i, level in enumerate(levels)}
    return levels, np.array([at[v] for v in plain], dtype=np.int64)[codes]


def join_levels(name: str, *parts: Iterable[object]) -> Levels:
    """Join lists of levels of one variable, sorted; refuse "1" beside 1.

    >>> join_levels("X", (0, 1), (2, 1.0))
    (0, 1, 2)
    """
    try:
        levels = sort_levels(to_native(level) for part in parts for level in part)
    except (TypeError, UnicodeDecodeError) as error:
        raise NotACategory(name, str(error).split(" ")[0]) from None
    spelled: dict[str, object] = {}
    for level in levels:
        if level is not None and spelled.setdefault(str(level), level) != level:
            raise DataError(
                f"{name!r} has both {spelled[str(level)]!r} and {level!r} as levels; give its "
                "values one type in the log, the external tables and the domain"
            )
    return levels
