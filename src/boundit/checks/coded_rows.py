"""The cells of a count table in as few bytes as their codes need, to be counted many times.

A graph of a hundred nodes makes thousands of statements about a log, and each is a small table
counted anew. Narrow columns make that quick, and statements about the same groups share the
work of numbering them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.core.names import Nodes, sort_names
from boundit.counts.levels import Codes, Levels
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable

Whole: TypeAlias = NDArray[np.integer[Any]]
DENSE = 2**20
"""Up to so many cells, adding up in place beats sorting."""


@dataclass(frozen=True, slots=True)
class NumberedGroups:
    """Which of ``size`` groups each row is in; groups are in the order of their values."""

    of: Whole
    size: int


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes in ``levels``; ``n`` is how often each was logged, None where once each."""

    levels: Mapping[str, Levels]
    columns: Mapping[str, Whole]
    n: Floats | None
    length: int
    _numbered: dict[Nodes, NumberedGroups] = field(default_factory=dict, init=False)

    @classmethod
    def from_table(cls, table: CountTable) -> Self:
        """Make narrow columns of a count table's codes."""
        columns = {
            name: table.codes[:, i].astype(_choose_type(len(table.levels[name])))
            for i, name in enumerate(table.variables)
        }
        once = bool((table.n == 1).all()) and not table.exact
        return cls(table.levels, columns, None if once else table.n, len(table.n))

    def number_groups(self, given: Nodes) -> NumberedGroups:
        """Number the groups of rows that are alike in the variables given.

        The last answer is kept, for statements about the same groups that come one after
        another.
        """
        if given not in self._numbered:
            self._numbered.clear()
            self._numbered[given] = self._pack(sort_names(given))
        return self._numbered[given]

    def count_pairs(
        self, given: Nodes, one: str, other: str, *, drop_nulls: bool
    ) -> tuple[Codes, Floats]:
        """Count the pairs of values of two variables in each group, those that were seen.

        Returns the number of each pair, which is its group's times the number of pairs plus the
        pair's own, in increasing order, and how often it was seen. With ``drop_nulls``, rows
        with a null in any of the variables are left out.
        """
        groups, n_others = self.number_groups(given), len(self.levels[other])
        n_pairs = len(self.levels[one]) * n_others
        size = groups.size * n_pairs
        packed = groups.of.astype(_choose_type(size))
        packed *= n_pairs
        pair = self.columns[one].astype(_choose_type(n_pairs))
        pair *= n_others
        pair += self.columns[other]
        packed += pair
        n = self.n
        if drop_nulls and (holed := self._null_codes.keys() & {*given, one, other}):
            complete = np.ones(self.length, dtype=np.bool_)
            for name in holed:
                complete &= self.columns[name] != self._null_codes[name]
            packed, n = packed[complete], n if n is None else n[complete]
        return _add_up_equal(packed, n, size)

    def find_values(self, given: Nodes, group: int) -> tuple[object, ...]:
        """Find the values that the rows of one group have in common, in the order of names."""
        row = int((self.number_groups(given).of == group).argmax())
        return tuple(self.levels[name][self.columns[name][row]] for name in sort_names(given))

    @cached_property
    def _null_codes(self) -> dict[str, int]:
        """The code of null, for each variable that has nulls."""
        return {
            name: levels.index(None) for name, levels in self.levels.items() if None in levels
        }

    def _pack(self, names: Sequence[str]) -> NumberedGroups:
        """Number the combinations of values of some variables, close together if need be."""
        packed: Whole = np.zeros(self.length, dtype=np.uint8)
        size = 1
        for name in names:
            if size > DENSE:
                seen, packed = np.unique(packed, return_inverse=True)
                size = len(seen)
            size *= len(self.levels[name])
            packed = packed.astype(_choose_type(size))
            packed *= len(self.levels[name])
            packed += self.columns[name]
        if size > DENSE // 4:
            seen, packed = np.unique(packed, return_inverse=True)
            size = len(seen)
        return NumberedGroups(packed, size)


def _choose_type(size: int) -> type[np.integer[Any]]:
    """Choose the narrowest type of whole numbers that holds ``size`` and all below."""
    if size < 2**8:
        return np.uint8
    if size < 2**16:
        return np.uint16
    return np.int32 if size < 2**31 else np.int64


def _add_up_equal(packed: Whole, n: Floats | None, size: int) -> tuple[Codes, Floats]:
    """Add up the rows that have the same number: the numbers that occur, and how often."""
    if size <= DENSE:
        counts = np.bincount(packed, n, size)
        at = np.flatnonzero(counts)
        return at, counts[at].astype(np.float64, copy=False)
    if n is None:
        at, times = np.unique(packed, return_counts=True)
        return at.astype(np.int64, copy=False), times.astype(np.float64)
    at, line = np.unique(packed, return_inverse=True)
    added = np.bincount(line, n, len(at)).astype(np.float64, copy=False)
    return at.astype(np.int64, copy=False), added
