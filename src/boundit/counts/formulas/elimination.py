"""Sums of products of tables, one variable summed out after another.

A sum over many variables of a product of small tables is never multiplied out. A variable is
summed out of the product of those tables alone that have it; what comes out is one table more,
over the variables these tables had besides. How large such products get depends on the order,
which is chosen by their sizes beforehand, before any of them is made.

Every table may hold several arrays side by side, such as lower and upper ends. A nan in a table
makes nan of every sum that reads it, whatever the order.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.elimination_order import order_elimination

_BY_LEVEL = 2**16
"""From how many cells on a product is made level by level of the variable to sum out."""


@dataclass(frozen=True, slots=True, eq=False)
class ProductTable:
    """A table of a product: arrays of one shape, an axis for each of its variables."""

    axes: tuple[str, ...]
    arrays: tuple[Floats, ...]

    def count_cells(self) -> int:
        """Count the cells of all arrays."""
        return sum(array.size for array in self.arrays)

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
        if not names:
            return self
        return ProductTable(tuple(names.get(axis, axis) for axis in self.axes), self.arrays)

    def drop_short_axes(self) -> "ProductTable":
        """Take the axes of variables with one level away: NumPy has room for few axes."""
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
    return ProductTable(kept, _sum_levels(axis, factors, kept, levels[axis], workspace))


def _sum_levels(
    axis: str,
    factors: Sequence[ProductTable],
    kept: tuple[str, ...],
    n_levels: int,
    workspace: Workspace,
) -> tuple[Floats, ...]:
    """Add up the product of tables for one level of a variable after the other."""
    sums = [array.copy() for array in _multiply([f.select(axis, 0) for f in factors], kept)]
    for level in range(1, n_levels):
        workspace.require_time()
        products = _multiply([f.select(axis, level) for f in factors], kept)
        for total, array in zip(sums, products, strict=True):
            np.add(total, array, out=total)
    return tuple(sums)


def _multiply(factors: Sequence[ProductTable], axes: tuple[str, ...]) -> tuple[Floats, ...]:
    """Multiply tables over the variables ``axes``, the smallest first."""
    if not factors:
        return (np.ones([1] * len(axes)),)
    first, *others = sorted(factors, key=lambda factor: len(factor.axes))
    products = first.align(axes)
    with np.errstate(invalid="ignore"):  # infinity times nothing is unknown
        for factor in others:
            products = tuple(
                one * other for one, other in zip(products, factor.align(axes), strict=True)
            )
    return products
