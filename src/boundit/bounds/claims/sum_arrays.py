"""The numbers of a sum of levels: rows, shares and weights of every cell, for all table rows.

Arrays have the table's axes first, so that whatever is done is done for all rows at once. The
weight of a cell is the sum of the products of the shares of earlier levels, over everything but
the cell.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.claims.sum_layout import SumLayout
from boundit.counts.formulas.elimination import ProductTable, eliminate, multiply_out
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray

Kind = TypeVar("Kind", np.float64, np.bool_)
_LEAST = 1e-12  # what every branch weighs at least when cells are shared out


@dataclass(frozen=True, slots=True)
class ArraySettings:
    """How many levels each name has, and how much memory and time there is."""

    sizes: Mapping[str, int]
    workspace: Workspace


@dataclass(frozen=True, eq=False)
class LevelNumbers:
    """The counts of one level that is not the last, by the names of the sum.

    ``rows`` are those of what it is given, ``joint`` those of what it draws too. An ``exact``
    level is a law: it pays nothing.
    """

    rows: NamedArray
    joint: NamedArray
    exact: bool = False

    def divide(self) -> ProductTable:
        """Divide counts by the rows of their cell; 0 where there are none."""
        rows, k = self.rows.align(self.joint.axes), self.joint.values
        share = np.divide(k, rows, out=np.zeros(k.shape), where=rows > 0)
        return ProductTable(self.joint.axes, (share,))


@dataclass(frozen=True, eq=False)
class SumArrays:
    """Rows, shares and weights of all levels, read off some rows.

    ``shares`` has a factor for every level but the last, 0 where nothing was seen of a cell;
    ``weights`` has those of all levels, over their cells.
    """

    layout: SumLayout
    numbers: tuple[LevelNumbers, ...]
    shares: tuple[ProductTable, ...]
    weights: tuple[Floats, ...]
    settings: ArraySettings

    @classmethod
    def from_numbers(
        cls, layout: SumLayout, numbers: Sequence[LevelNumbers], settings: ArraySettings
    ) -> "SumArrays":
        """Compute shares and weights from the counts of all levels but the last."""
        shares = tuple(each.divide() for each in numbers)
        weights = tuple(
            multiply_onto([shares[i] for i in where.before], where.axes, settings)
            for where in layout.cells
        )
        return cls(layout, tuple(numbers), shares, weights, settings)

    def add_axis(self, name: str, n_levels: int) -> "SumArrays":
        """Put an axis before those of the table, for what is tried of all rows at once."""
        settings = self.settings
        return SumArrays(
            self.layout.add_axis(name),
            self.numbers,
            self.shares,
            tuple(weights[None] for weights in self.weights),
            ArraySettings({**settings.sizes, name: n_levels}, settings.workspace),
        )

    def find_rows(self, place: int) -> Floats:
        """Show the rows of each cell of a level before the last, aligned with its weights.

        Called for the penalties of levels.
        """
        return self.numbers[place].rows.align(self.layout.cells[place].axes)

    def value_draws(self, place: int, last: Floats, *, upper: bool, most: bool) -> Floats:
        """Compute a level's weights times the value of what follows each of its draws.

        ``last`` is what the value's cells hold; the axes are the level's cells, then what it
        draws. Of unknown variables within, the least is taken, or for ``upper`` ends the
        greatest. What is chosen of those around the level that it does not read hangs on none
        of its draws, so that only the least and, if ``most``, the greatest may be said. So it
        is of those around a level that was revealed before: what is truly the least need not be
        so at its shares.
        """
        where, layout = self.layout.cells[place], self.layout
        kept = (*where.axes, *where.draws)
        before = (layout.cells[i].within for i in range(place) if not self.numbers[i].exact)
        known = max((where.within, *before))
        value = trim(layout.cells[-1].axes, last)
        for depth in range(len(layout.worst), 0, -1):
            factors = [value, *self._list_within(depth, place)]
            held = dict.fromkeys(name for factor in factors for name in factor.axes)
            drawn = {name for name, at in layout.drawn.items() if at >= depth}
            left = tuple(name for name in held if name in kept or name not in drawn)
            value = ProductTable(left, (multiply_onto(factors, left, self.settings),))
            greatest = upper if depth > known else most
            value = _take_least(value, layout.worst[depth - 1], kept, upper=greatest)
        return multiply_onto([value, *self._list_within(0, place)], kept, self.settings)

    def _list_within(self, depth: int, place: int) -> list[ProductTable]:
        """List the shares of the levels within so many minima, but for the one at a place."""
        within = [where.within for where in self.layout.cells]
        return [
            share for i, share in enumerate(self.shares) if i != place and within[i] == depth
        ]

    def share_branches(self, place: int) -> Floats:
        """Share each cell of a level out over the branches of the sum that read it.

        Shares add up to one over branches, whatever is chosen of the unknown variables; they
        are 1 where no two branches read the same rows. A branch that has no weight gets next to
        nothing. Called on the pilot's arrays.
        """
        where, weights = self.layout.cells[place], self.weights[place]
        if not where.shared:
            return np.ones(())
        chosen = tuple(i for i, axis in enumerate(where.axes) if axis in self.layout.worst)
        branches = tuple(i for i, axis in enumerate(where.axes) if axis in where.shared)
        typical = np.maximum(weights.mean(axis=chosen, keepdims=True), 0.0) + _LEAST
        found: Floats = typical / typical.sum(axis=branches, keepdims=True)
        return found


def _take_least(
    value: ProductTable, name: str, kept: Sequence[str], *, upper: bool
) -> ProductTable:
    """Take the least over a variable of unknown law, or the greatest, unless it is kept."""
    if name not in value.axes or name in kept:
        return value
    at, (array,) = value.axes.index(name), value.arrays
    least = array.max(axis=at) if upper else array.min(axis=at)
    return ProductTable(value.axes[:at] + value.axes[at + 1 :], (least,))


def trim(axes: Sequence[str], values: Floats) -> ProductTable:
    """Make a factor of an array, without axes along which it does not vary."""
    long = [i for i, n in enumerate(values.shape) if n > 1]
    kept = tuple(axes[i] for i in long)
    return ProductTable(kept, (values.reshape([values.shape[i] for i in long]),))


def multiply_onto(
    factors: Sequence[ProductTable], kept: Sequence[str], settings: ArraySettings
) -> Floats:
    """Multiply factors and sum over every variable that is not ``kept``.

    The result has an axis for each of ``kept``, of length 1 where no factor has it.
    """
    held = frozenset[str]().union(*(factor.axes for factor in factors))
    left = eliminate(factors, held.difference(kept), settings.sizes, settings.workspace)
    (found,) = multiply_out(left, tuple(kept), settings.sizes, settings.workspace)
    return found


def add_up(values: Floats, axes: Sequence[str], kept: Collection[str]) -> Floats:
    """Sum an array over the axes that are not ``kept``.

    Called wherever cells are added up to rows of the table.
    """
    gone = tuple(i for i, axis in enumerate(axes) if axis not in kept)
    return values.sum(axis=gone) if gone else values


def widen(values: NDArray[Kind], n_axes: int) -> NDArray[Kind]:
    """Show an array over the table's axes with axes of length 1 behind, for cells.

    Called wherever a number of a row meets the cells of that row.
    """
    return values.reshape(values.shape + (1,) * (n_axes - values.ndim))


def take_worst(
    layout: SumLayout, leaf: Floats, levels: Sequence[Floats], *, upper: bool
) -> Floats:
    """Add up weighted, penalised cells to rows of the table; of unknown laws take the worst.

    ``leaf`` has the cells of the last level, ``levels`` what is added at those of the others.
    Only sums and minima are taken, so that a minimum may be taken cell by cell.
    """
    axes, value = layout.cells[-1].axes, leaf
    for depth in range(len(layout.worst), -1, -1):
        if depth <= layout.cells[-1].depth:
            kept = layout.keep_outside(depth)
            value, axes = _reduce(value, axes, kept)
            for where, paid in zip(layout.cells, levels, strict=False):
                if where.depth == depth:
                    part, own = _reduce(paid, where.axes, kept)
                    value, axes = _add(value, axes, part, own)
        if depth and layout.worst[depth - 1] in axes:
            at = axes.index(layout.worst[depth - 1])
            value = value.max(axis=at) if upper else value.min(axis=at)
            axes = axes[:at] + axes[at + 1 :]
    return value


def _reduce(
    values: Floats, axes: Sequence[str], kept: Collection[str]
) -> tuple[Floats, tuple[str, ...]]:
    """Sum an array over axes that are not kept, and tell which are left."""
    return add_up(values, axes, kept), tuple(axis for axis in axes if axis in kept)


def _add(
    one: Floats, axes: tuple[str, ...], other: Floats, own: tuple[str, ...]
) -> tuple[Floats, tuple[str, ...]]:
    """Add two arrays by the names of their axes."""
    if axes == own:  # mostly: rows of the table, however often a scale is tried
        return one + other, axes
    joined = (*axes, *(axis for axis in own if axis not in axes))
    return NamedArray(axes, one).align(joined) + NamedArray(own, other).align(joined), joined
