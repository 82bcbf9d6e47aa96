"""How many cells of tables a formula touches, and the order in which sums are worked out.

The terms of a formula are read off tables of counts, one cell for each combination of values.
Its sums are worked out one variable after another: the factors that depend on the variable are
joined into a table, the smallest such table first, and the variable is summed out of it.
Without data every variable counts as if it had two levels.
"""

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import NamedTuple

from boundit.estimand.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_variables,
)

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


MOST_CELLS = 256
MOST_VARIABLES = 8
"""A formula with more cells, or more variables, is large: others are looked for."""


def is_large(expression: Expression) -> bool:
    """Return whether a formula is so large that it pays to look for an equal one.

    >>> is_large(P(frozenset("Y"), frozenset("XZ"))), is_large(P(frozenset("ABCDEFGHI")))
    (False, True)
    """
    variables = len(find_variables(expression))
    return variables > MOST_VARIABLES or count_cells(expression) > MOST_CELLS


def count_cells(expression: Expression) -> int:
    """Count the cells that a formula touches: those of its terms, and of its sums on the way.

    Terms that are equal and parts that are shared count once.

    >>> weights, mean = P(frozenset("Z")), P(frozenset("Y"), frozenset("XZ"))
    >>> count_cells(mean), count_cells(Sum(frozenset("Z"), Product((mean, weights))))
    (8, 22)
    """
    terms, seen, cells, waiting = set[P | CFactor](), set[int](), 0, [expression]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # parts may be shared, and a walk of every path be endless
            continue
        seen.add(id(node))
        match node:
            case P() | CFactor():
                terms.add(node)
            case Sum(over, body):
                factors = _list_parts(body)
                scopes = [tuple(part.free) for part in factors]
                levels = dict.fromkeys(body.free, 2)
                cells += order_elimination(scopes, over, levels).total + (1 << len(node.free))
                waiting += factors
            case Product() | Ratio():
                cells += 1 << len(node.free)
                waiting += _list_parts(node)
    return cells + sum(1 << len(term.free) for term in terms)


def _list_parts(expression: Expression) -> list[Expression]:
    """List what a formula multiplies and divides by: terms and sums."""
    parts, waiting = list[Expression](), [expression]
    while waiting:
        match node := waiting.pop():
            case Product(factors):
                waiting += factors
            case Ratio(top, bottom):
                waiting += (top, bottom)
            case _:
                parts.append(node)
    return parts
