"""Sums of products of tables, one variable summed out after another.

A sum over many variables of a product of small tables is never multiplied out. A variable is
summed out of the product of those tables alone that have it; what comes out is one table more,
over the variables these tables had besides (variable elimination: Zhang and Poole, 1994). How
large such products get depends on the order, which is chosen by their sizes beforehand.

Every table may hold several arrays side by side, such as lower and upper endpoints; a table of
one array means the same to all of them. A nan in a table makes nan of every sum that reads it,
whatever the order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.size import order_elimination

_BY_LEVEL = 2**16
"""From how many cells on a product is made level by level of the variable to sum out."""


@dataclass(frozen=True, slots=True, eq=False)
class ProductTable:
    """A table of a product: arrays of one shape, an axis for each of its variables."""

    axes: tuple[str, ...]
    arrays: tuple[Floats, ...]

    def align(self, axes: Sequence[str]) -> tuple[Floats, ...]:
        """Show the arrays with these axes in this order, length 1 where the table lacks one."""
        if self.axes == axes:
            return self.arrays
        place = {axis: i for i, axis in enumerate(self.axes)}
        own = [place[axis] for axis in axes if axis in place]
        shape = [self.arrays[0].shape[place[axis]] if axis in place else 1 for axis in axes]
        return tuple(array.transpose(own).reshape(shape) for array in self.arrays)

    def rename(self, names: Mapping[str, str]) -> "ProductTable":
        """Give some variables other names."""
        return ProductTable(tuple(names.get(axis, axis) for axis in self.axes), self.arrays)

    def drop_short_axes(self) -> "ProductTable":
        """Take the axes of variables with one level away: NumPy allows few axes."""
        shape = self.arrays[0].shape
        if 1 not in shape:
            return self
        kept = tuple(axis for axis, n in zip(self.axes, shape, strict=True) if n > 1)
        return ProductTable(kept, tuple(array.squeeze() for array in self.arrays))

    def select(self, axis: str, level: int) -> "ProductTable":
        """Fix one variable at a level; its axis goes. A table without it stays as it is."""
        if axis not in self.axes:
            return self
        at = self.axes.index(axis)
        left = self.axes[:at] + self.axes[at + 1 :]
        return ProductTable(left, tuple(np.take(array, level, at) for array in self.arrays))


def contract(
    tables: Iterable[ProductTable],
    keep: Sequence[str],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> Floats:
    """Multiply tables of one array and sum over every name that is not kept.

    The result has an axis for each name in ``keep``, of length 1 where no table has it.
    """
    left = list(tables)
    held = {axis for table in left for axis in table.axes}
    left = eliminate(left, held.difference(keep), sizes, workspace)
    return multiply_out(left, tuple(keep), sizes, workspace)[0]


def eliminate(
    factors: Sequence[ProductTable],
    summed: Collection[str],
    levels: Mapping[str, int],
    workspace: Workspace,
) -> list[ProductTable]:
    """Sum variables out of a product of tables; what is left is again a list of tables.

    Every variable must be in some table. Nothing is multiplied that would not fit into the
    workspace.
    """
    left = list(factors)
    order = order_elimination([factor.axes for factor in left], summed, levels)
    workspace.require_cells(order.largest, order.widest)
    for axis in order.variables:
        workspace.require_time()
        touched = [factor for factor in left if axis in factor.axes]
        left = [factor for factor in left if axis not in factor.axes]
        left.append(_sum_out(axis, touched, levels, workspace))
    return left


def multiply_out(
    factors: Sequence[ProductTable],
    axes: Sequence[str],
    levels: Mapping[str, int],
    workspace: Workspace,
) -> tuple[Floats, ...]:
    """Multiply tables into one over the variables ``axes``, length 1 where no table has one."""
    held = dict.fromkeys(name for factor in factors for name in factor.axes)
    workspace.require_cells(prod(levels[axis] for axis in held), held)
    return _multiply(factors, tuple(axes))


def merge_factors(factors: Sequence[ProductTable]) -> list[ProductTable]:
    """Multiply each table into one that has all its variables, if there is one.

    If it is multiplied by itself again and again, the list of its tables must not grow.
    """
    left = list[ProductTable]()
    for factor in sorted(factors, key=lambda factor: -len(factor.axes)):
        names = frozenset(factor.axes)
        home = next((i for i, other in enumerate(left) if names.issubset(other.axes)), None)
        if home is None:
            left.append(factor)
        else:
            axes = left[home].axes
            left[home] = ProductTable(axes, _multiply([factor, left[home]], axes))
    return left


def _sum_out(
    axis: str, factors: Sequence[ProductTable], levels: Mapping[str, int], workspace: Workspace
) -> ProductTable:
    """Multiply tables and sum over one variable that they have.

    A large product is made for one level of it after the other, and added up.
    """
    held = dict.fromkeys(name for factor in factors for name in factor.axes)
    kept = tuple(name for name in held if name != axis)
    if prod(levels[other] for other in held) <= _BY_LEVEL:
        products = _multiply(factors, (*kept, axis))
        return ProductTable(kept, tuple(array.sum(axis=-1) for array in products))
    sums = [array.copy() for array in _multiply([f.select(axis, 0) for f in factors], kept)]
    for level in range(1, levels[axis]):
        workspace.require_time()
        products = _multiply([f.select(axis, level) for f in factors], kept)
        for total, array in zip(sums, products, strict=True):
            np.add(total, array, out=total)
    return ProductTable(kept, tuple(sums))


def _multiply(factors: Sequence[ProductTable], axes: tuple[str, ...]) -> tuple[Floats, ...]:
    """Multiply tables over the variables ``axes``, the smallest first."""
    if not factors:
        return (np.ones([1] * len(axes)),)
    first, *others = sorted(factors, key=lambda factor: len(factor.axes))
    products = first.align(axes)
    for factor in others:
        arrays = factor.align(axes)
        n = max(len(products), len(arrays))
        products = tuple(
            products[i % len(products)] * arrays[i % len(arrays)] for i in range(n)
        )
    return products
