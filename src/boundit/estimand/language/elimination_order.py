"""In which order variables are summed out of a product of tables, by their sizes alone."""

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import NamedTuple

LARGE = 2**16
"""From how many cells on a product is large enough to look for a better order."""


class EliminationOrder(NamedTuple):
    """In which order variables are summed out, and how many cells the largest product has.

    ``widest`` are the variables of that product, ``total`` the cells of all products.
    """

    variables: tuple[str, ...]
    largest: int = 1
    widest: frozenset[str] = frozenset()
    total: int = 0


def order_elimination(
    scopes: Sequence[Sequence[str]], summed: Collection[str], levels: Mapping[str, int]
) -> EliminationOrder:
    """Choose in which order to sum variables out of a product of tables; no number is read.

    ``scopes`` are the variables of each table. Next is always the variable whose product is
    smallest; where that leads to large products, the one that joins the fewest variables is
    tried as well, and the better order is taken.

    >>> chain = [("A", "B"), ("B", "C"), ("C", "D")]
    >>> found = order_elimination(chain, "BC", dict.fromkeys("ABCD", 10))
    >>> found.variables, found.largest, found.total
    (('B', 'C'), 1000, 2000)
    """
    found = _order_greedily(scopes, summed, levels, by_fill=False)
    if found.largest <= LARGE:
        return found
    other = _order_greedily(scopes, summed, levels, by_fill=True)
    return min(found, other, key=lambda order: (order.largest, order.total))


def _order_greedily(
    scopes: Sequence[Sequence[str]],
    summed: Collection[str],
    levels: Mapping[str, int],
    *,
    by_fill: bool,
) -> EliminationOrder:
    """Order variables by the size of the product each is in, or by how many pairs it joins."""
    near: dict[str, set[str]] = {}
    for scope in scopes:
        for axis in scope:
            near.setdefault(axis, set()).update(scope)

    def measure(axis: str) -> tuple[int, int]:
        cells = prod(levels[other] for other in near[axis])
        if not by_fill:
            return cells, 0
        return sum(len(near[axis] - near[other]) for other in near[axis]), cells

    waiting = {axis: measure(axis) for axis in sorted(near) if axis in summed}
    order, largest, total, widest = list[str](), 1, 0, frozenset[str]()
    while waiting:
        axis = min(waiting, key=waiting.__getitem__)
        del waiting[axis]
        joined = near.pop(axis)
        cells = prod(levels[other] for other in joined)
        total += cells
        if cells > largest:
            largest, widest = cells, frozenset(joined)
        order.append(axis)
        joined.discard(axis)
        for other in joined:
            near[other] |= joined
            near[other].discard(axis)
        # With the other measure a variable two steps away can change too; it is only a guess.
        waiting |= {other: measure(other) for other in joined if other in waiting}
    return EliminationOrder(tuple(order), largest, widest, total)
