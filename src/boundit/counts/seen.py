"""Cells that were seen, a line of codes each: never more than there are rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.counts.levels import Codes

_PACKED_LIMIT = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class SeenCells:
    """Cells of some variables, a line of codes each, and what each weighs."""

    variables: tuple[str, ...]
    codes: Codes
    weights: NDArray[np.float64]

    def drop_empty(self) -> "SeenCells":
        """Drop the lines that weigh nothing, such as a reward that a cell never had.

        Nothing can be divided by them.
        """
        kept = self.weights > 0
        return SeenCells(self.variables, self.codes[kept], self.weights[kept])

    def select(self, names: Sequence[str]) -> Codes:
        """Select the columns of some variables, in the order given."""
        places = [self.variables.index(name) for name in names]
        return self.codes[:, places]


def find_distinct(
    codes: Codes, shape: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the distinct lines of codes: the first place of each, and which one each line is."""
    packed, size = np.zeros(len(codes), dtype=np.int64), 1
    for column, n_levels in zip(codes.T, shape, strict=True):
        if size * n_levels >= _PACKED_LIMIT:
            seen, packed = np.unique(packed, return_inverse=True)
            size = len(seen)
        packed = packed * n_levels + column
        size *= n_levels
    _, first, group = np.unique(packed, return_index=True, return_inverse=True)
    return first, group
