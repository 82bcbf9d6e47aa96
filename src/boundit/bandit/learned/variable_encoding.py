"""How one treatment or context variable is written as numbers for a linear model."""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.bins import Edges, find_bin, find_middle
from boundit.bandit.errors import ForeignBounds
from boundit.terms.bound import Value

LARGEST = 1e6
"""The largest feature: beyond, what is learned drowns in rounding."""
TOO_LARGE = f"are larger than {LARGEST:,.0f}; bring them to a size of about 1"
TextLevels: TypeAlias = tuple[str, ...]
"""The sorted domain of a variable that is text; empty for a number."""
Rows: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True)
class VariableEncoding:
    """A number as it is; text one-hot over its sorted domain without the first.

    A variable in bins (``edges``) has both: its bin, and the number itself, or the middle of
    the bin where only that is told; the bin alone where edges are too large for a feature.
    ``reference`` stands for levels that nobody declared, where these are let through: the
    first of the sorted domain.

    >>> age = VariableEncoding(("< 30", ">= 50", "[30, 50)"), (30.0, 50.0))
    >>> age.encode(41.5), age.encode(">= 50"), VariableEncoding().encode(41.5)
    ([0.0, 1.0, 41.5], [1.0, 0.0, 50.0], [41.5])
    """

    levels: TextLevels = ()
    edges: Edges = ()
    reference: Value = None

    @classmethod
    def of(
        cls, levels: tuple[Value, ...], edges: Edges = (), *, lenient: bool = False
    ) -> "VariableEncoding":
        """Make the encoding of a variable from its levels and the edges of its bins.

        ``lenient`` lets other levels through.
        """
        text = tuple(sorted({level for level in levels if isinstance(level, str)}))
        numbers = [level for level in levels if isinstance(level, int | float)]
        first: Value = text[0] if text else min(numbers, default=None)
        return cls(text, edges, first if lenient else None)

    @property
    def shows_number(self) -> bool:
        """Whether the number itself is a feature beside its bin."""
        return bool(self.edges) and max(map(abs, self.edges)) <= LARGEST

    @property
    def size(self) -> int:
        """The number of features; read by ``FeatureEncoding.map_into`` and its like."""
        return (len(self.levels) - 1 if self.levels else 1) + self.shows_number

    def encode(self, value: Value) -> list[float]:
        """Write one value as features, or raise ``ValueError`` with what is wrong with it."""
        found = find_bin(self.edges, value)
        is_known = found in self.levels if self.levels else isinstance(found, int | float)
        if not is_known and self.reference is not None:
            found = value = self.reference
        elif not is_known:
            raise ValueError(
                f"has {value!r}, and its domain has {', '.join(self.levels)}"
                if self.levels
                else f"has {value!r}, which is no number and of no known domain"
            )
        if not self.levels:
            return [float(found)]  # type: ignore[arg-type]
        numbers = [float(found == level) for level in self.levels[1:]]
        if self.shows_number:
            is_bin = isinstance(value, str)
            numbers.append(find_middle(self.edges, value) if is_bin else float(value))  # type: ignore[arg-type]
        return numbers

    def map_into(self, wider: "VariableEncoding", constant: Rows, columns: Rows) -> list[Rows]:
        """Write the features over more levels as sums of those over the known ones, or raise.

        ``columns`` are unit vectors, one for each feature that the variable had, ``constant``
        that of the constant.
        """
        known, levels = self.levels, wider.levels
        shown = self.shows_number, wider.shows_number
        if bool(known) != bool(levels) or not set(known) <= set(levels) or len(set(shown)) > 1:
            raise ForeignBounds("levels", known, levels)
        if not known:
            return list(columns)
        numbers = columns[len(known) - 1 :]
        first = constant - columns[: len(known) - 1].sum(axis=0)
        found = {known[0]: first, **dict(zip(known[1:], columns, strict=False))}
        return [found.get(level, np.zeros_like(first)) for level in levels[1:]] + list(numbers)
