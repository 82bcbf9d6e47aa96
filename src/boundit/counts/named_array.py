"""Numbers with named axes: a distribution, a conditional table, or what a formula comes to.

An axis is a variable and a place on it one of its levels, coded 0, 1, 2 and so on. Arrays with
different axes are aligned by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from boundit.core.errors import DataError
from boundit.core.names import Names, Nodes, join_names, read_nodes, sort_names
from boundit.counts.levels import Codes

Floats = NDArray[np.float64]
MOST_AXES = 32
"""NumPy allows no more axes, in all its versions."""
_PACKED_LIMIT = 2**62


def require_axes(names: Nodes, axes: Sequence[str]) -> Nodes:
    """Return names of variables that a table must have, or refuse the first it lacks."""
    if missing := names.difference(axes):
        has = join_names(axes) or "none"
        raise DataError(f"the table has no variable {sort_names(missing)[0]!r}; it has {has}")
    return names


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


@dataclass(frozen=True, eq=False)
class NamedArray:
    """One number for every combination of levels of ``axes``.

    >>> p = NamedArray(("X", "Y"), np.array([[0.1, 0.3], [0.2, 0.4]]))
    >>> p.marginalize("Y").values.round(3)
    array([0.3, 0.7])
    >>> float(p.condition_on("Y").at({"X": 0, "Y": 1}).values.round(3))
    0.429
    """

    axes: tuple[str, ...]
    values: Floats

    def __post_init__(self) -> None:
        """Refuse axes that do not fit the numbers, and keep the numbers from changing."""
        n_axes = np.ndim(self.values)
        if len(set(self.axes)) != len(self.axes) or len(self.axes) != n_axes:
            msg = f"{n_axes} axes cannot be named {self.axes}"
            raise ValueError(msg)
        fixed = np.array(self.values, dtype=np.float64)
        fixed.flags.writeable = False
        object.__setattr__(self, "values", fixed)

    @property
    def names(self) -> Nodes:
        """The variables of the axes, as a set."""
        return frozenset(self.axes)

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels (values) each variable has."""
        return dict(zip(self.axes, self.values.shape, strict=True))

    def marginalize(self, names: Names) -> Self:
        """Sum over every variable but ``names``; they keep their order."""
        kept = require_axes(read_nodes(names), self.axes)
        gone = tuple(i for i, axis in enumerate(self.axes) if axis not in kept)
        return type(self)(tuple(a for a in self.axes if a in kept), self.values.sum(axis=gone))

    def list_seen(self, names: Names) -> SeenCells:
        """List the cells of some variables with any probability, in the array's order."""
        summed = self.marginalize(names)
        codes = np.argwhere(summed.values > 0).reshape(-1, len(summed.axes))
        return SeenCells(summed.axes, codes, summed.values[tuple(codes.T)].reshape(-1))

    def condition_on(self, names: Names) -> Self:
        """Divide by the marginal of ``names``; nan where that is zero.

        Of a distribution, this is the conditional one of the other variables given these.
        """
        below = self.marginalize(names).align(self.axes)
        return type(self)(self.axes, divide(self.values, below))

    def at(self, values: Mapping[str, int]) -> Self:
        """Fix some variables at the code (0, 1, ...) of a level each; their axes go."""
        require_axes(read_nodes(values), self.axes)
        levels = self.n_levels
        index = tuple(
            read_level(axis, values[axis], levels[axis]) if axis in values else slice(None)
            for axis in self.axes
        )
        left = tuple(axis for axis in self.axes if axis not in values)
        return type(self)(left, self.values[index])

    def align(self, axes: Sequence[str]) -> Floats:
        """Show the numbers with these axes in this order; length 1 where the array lacks one."""
        if self.axes == axes:
            return self.values
        require_axes(frozenset(self.axes), axes)
        place = {axis: i for i, axis in enumerate(self.axes)}
        moved = self.values.transpose([place[axis] for axis in axes if axis in place])
        shape = self.values.shape
        return moved.reshape([shape[place[axis]] if axis in place else 1 for axis in axes])

    def measure_gap(self, other: Self) -> float:
        """Find the largest difference from another array, both stretched over axes they lack.

        It is nan when either side is nan somewhere.
        """
        agree_on_levels(self, other)
        axes = tuple(dict.fromkeys(self.axes + other.axes))
        return float(np.abs(self.align(axes) - other.align(axes)).max())

    def __float__(self) -> float:
        if self.axes:
            free = join_names(self.axes)
            raise TypeError(f"one number is asked for, but {free} is free; fix it with at()")
        return float(self.values)


class HasLevels(Protocol):
    """Anything that knows how many levels its variables have."""

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each variable of a table has."""


def agree_on_levels(*tables: HasLevels) -> dict[str, int]:
    """Gather every variable's number of levels, and refuse tables that disagree."""
    levels: dict[str, int] = {}
    for table in tables:
        for name, n in table.n_levels.items():
            if levels.setdefault(name, n) != n:
                raise DataError(
                    f"{name!r} has {levels[name]} levels in one table and {n} in another; tables "
                    "must share each variable's levels, in one order"
                )
    return levels


def read_level(name: str, value: object, n_levels: int) -> int:
    """Return the code of a variable's level as an int."""
    if isinstance(value, int | np.integer) and 0 <= value < n_levels:
        return int(value)
    last = n_levels - 1
    raise DataError(f"{name!r} has no level {value!r}; it has the whole numbers 0 to {last}")


def divide(top: Floats, bottom: Floats) -> Floats:
    """Divide two arrays; whatever is divided by zero is nan.

    >>> divide(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 2.0]))
    array([nan, nan, 0.5])
    """
    safe = np.where(bottom == 0, np.nan, bottom)
    return np.asarray(top / safe)
