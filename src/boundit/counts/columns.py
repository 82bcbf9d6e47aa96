"""Columns as plain Python sequences, for logs small enough to type."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from boundit.counts.cells import (
    NUMBER,
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
)
from boundit.counts.errors import InvalidOption, NotNumeric
from boundit.counts.levels import encode_column, to_native
from boundit.counts.named_array import Floats
from boundit.counts.seen import find_distinct

_PLAIN = frozenset((int, float, bool, type(None)))  # what NumPy reads as numbers by itself


@dataclass(frozen=True, eq=False)
class ColumnSource:
    """Sequences of one length, by name."""

    columns: Mapping[str, Sequence[object]]
    label: str = "the dict of columns"

    @cached_property
    def kinds(self) -> dict[str, ColumnKind]:
        """The columns of the dict, and what each holds: numbers, text, times."""
        return {name: _find_kind(values) for name, values in self.columns.items()}

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a dict of columns with NumPy, by the keys of a ``GroupBy`` plan.

        Its other columns (weight, reward) are added up.
        """
        pairs = [encode_column(name, self._read_key(name, plan)) for name in plan.keys]
        n_rows = len(next(iter(self.columns.values()), ()))
        codes = np.array([codes for _, codes in pairs], dtype=np.int64)
        first, group = find_distinct(
            codes.reshape(len(pairs), n_rows).T, [len(levels) for levels, _ in pairs]
        )
        numbers = self._derive_columns(plan)
        aggregates = {
            name: aggregate_by_group(numbers.get(of, np.ones(n_rows)), how, group, len(first))
            for name, (of, how) in choose_aggregates(plan).items()
        }
        keys = [[levels[c] for c in codes[first]] for levels, codes in pairs]
        return Cells(tuple(keys), aggregates)

    def _read_key(self, name: str, plan: GroupBy) -> Column:
        """Read a column to group by, as numbers of bins where the plan has cuts for it."""
        if name not in plan.cuts:
            return self.columns[name]
        numbers = self._read_numbers(name, "the binned column")
        bins: list[int] = np.searchsorted(plan.cuts[name], numbers, side="right").tolist()
        return [None if x != x else i for x, i in zip(numbers.tolist(), bins, strict=True)]

    def _read_numbers(self, name: str, role: str) -> Floats:
        """Read a column as floats, missing values as nan, or raise NotNumeric."""
        try:
            numbers = self.columns[name]
            if not _PLAIN.issuperset(map(type, numbers)):
                numbers = [to_native(value) for value in numbers]
            return np.array(numbers, dtype=np.float64)  # which makes nan of None
        except (TypeError, ValueError):
            raise NotNumeric(name, role, self.kinds[name].value) from None

    def _derive_columns(self, plan: GroupBy) -> dict[str, Floats]:
        """Compute the numbers to aggregate, row by row: weight, reward, their products, flags.

        Flags are columns that might be a selection node.
        """
        columns: dict[str, Floats] = {}
        weight: Floats = np.array(1.0)
        if plan.weight:
            weight = self._read_numbers(plan.weight, "weight")
            columns |= {"weight": weight, "part": np.where(np.isinf(weight), 0, weight) % 1}
        if plan.reward:
            reward = self._read_numbers(plan.reward, "reward")
            columns |= {
                "reward": reward,
                "given": np.where(np.isnan(reward), np.nan, weight),
                "once": weight * reward,
                "twice": weight * reward * reward,
                "counted": np.where(weight > 0, reward, np.nan),
            }
        for i, flag in enumerate(plan.flags):
            columns[f"flag_{i}"] = np.where(
                self._read_numbers(flag, "selection") == 1, 1.0, np.nan
            )
        return columns

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the values of each column of a dict."""
        return [len(encode_column(name, self.columns[name])[0]) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is no number, for an error message."""
        known = [(i, str(v)) for i, v in enumerate(self.columns[column], 1) if v is not None]
        return next((Oddity(t, i) for i, t in known if not re.match(NUMBER, t)), None)


def read_columns(columns: Mapping[str, object]) -> ColumnSource:
    """Make a source of rows of a dict of columns, which must be sequences of one length."""
    held = {}
    for name, found in columns.items():
        values = found.tolist() if isinstance(found, np.ndarray) else found
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            msg = f"column {name!r} is {type(values).__name__}; give a list of its values"
            raise InvalidOption(msg)
        held[name] = values
    lengths = {name: len(values) for name, values in held.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise InvalidOption(f"columns differ in length: {shown}; every row needs all of them")
    return ColumnSource(held)


def _find_kind(values: Sequence[object]) -> ColumnKind:
    """Tell what a column holds by the types of its values."""
    types = {type(v) for v in values if v is not None}
    if types and types <= {bool, np.bool_}:
        return ColumnKind.BOOLEANS
    if types and all(issubclass(t, int | float | Decimal | np.number) for t in types):
        return ColumnKind.NUMBERS
    if any(issubclass(t, list | dict | set | tuple) for t in types):
        return ColumnKind.NESTED
    return ColumnKind.TEXT if types == {str} else ColumnKind.OBJECTS


def aggregate_by_group(
    numbers: Floats, how: str, group: NDArray[np.intp], n_groups: int
) -> Floats:
    """Add up a column, count its numbers or take their extreme, group by group."""
    known = ~np.isnan(numbers)
    match how:
        case "sum":
            added = np.bincount(group, np.where(known, numbers, 0.0), n_groups)
            return np.asarray(added, dtype=np.float64)
        case "min":
            return -_find_largest(-numbers[known], group[known], n_groups)
        case "max":
            return _find_largest(numbers[known], group[known], n_groups)
        case _:
            return np.bincount(group[known], minlength=n_groups).astype(np.float64)


def _find_largest(numbers: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Find the largest number of each group, nan where there is none."""
    most = np.full(n_groups, np.nan)
    np.fmax.at(most, group, numbers)
    return most
