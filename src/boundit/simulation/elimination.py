"""Sums of products of tables, one variable summed out at a time.

Formulas are evaluated by code of their own (``boundit.counts.formula``): audits judge them by
the laws that are computed here, and a judge must not share the mistakes of the judged.
"""

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from boundit.counts.named_array import Floats, NamedArray, agree_on_levels
from boundit.simulation.errors import ModelTooLarge
from boundit.terms.names import Nodes, sort_names

LARGEST = 2**22
"""No table of more numbers is made: 22 binary variables, or 13 of three levels."""


def sum_product(tables: Sequence[NamedArray], kept: Sequence[str]) -> NamedArray:
    """Multiply all tables and sum over every variable but ``kept``, which order the answer.

    It is how a law is computed from the tables of a model's nodes. Each table is multiplied in
    as late as it can be: a variable is summed out of the product of the tables that have it,
    the one with the smallest such product first.

    >>> coin = NamedArray(("A",), np.array([0.5, 0.5]))
    >>> copy = NamedArray(("A", "B"), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> sum_product([coin, copy], ["B"]).values
    array([0.55, 0.45])

    Raises ModelTooLarge when some product on the way has more than 4,194,304 numbers.
    """
    levels = agree_on_levels(*tables)
    left = list(tables)
    waiting = set(levels).difference(kept)
    while waiting:
        reach = {name: _find_neighbours(left, name) for name in sort_names(waiting)}
        name = min(reach, key=lambda n: prod(levels[other] for other in reach[n]))
        waiting.remove(name)
        touched = [table for table in left if name in table.names]
        left = [table for table in left if name not in table.names]
        left.append(_contract_tables(touched, sort_names(reach[name] - {name}), levels))
    return _contract_tables(left, kept, levels)


def _find_neighbours(tables: Iterable[NamedArray], name: str) -> Nodes:
    """Find every variable that shares a probability table with ``name``."""
    return frozenset().union(*(table.names for table in tables if name in table.names))


def _contract_tables(
    tables: Sequence[NamedArray], kept: Sequence[str], levels: dict[str, int]
) -> NamedArray:
    """Multiply probability tables and sum over every variable but ``kept``, all at once."""
    names = frozenset(kept).union(*(table.names for table in tables))
    cells = prod(levels[name] for name in names)
    if cells > LARGEST:
        raise ModelTooLarge(names, cells, LARGEST)
    axes = [*kept, *sort_names(names.difference(kept))]
    product: Floats = np.ones([1] * len(axes))
    for table in sorted(tables, key=lambda t: t.values.size):
        product = product * table.align(axes)
    gone = tuple(range(len(kept), len(axes)))
    return NamedArray(tuple(kept), product.sum(axis=gone))
