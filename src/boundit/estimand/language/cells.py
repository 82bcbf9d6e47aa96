"""How many cells of tables a formula touches, if every variable has two levels.

A formula's terms are read off tables of counts, one cell for each combination of values. Its
sums are worked out one variable after another: whatever shares a factor with the variable is
joined into a table, the smallest such table first, and the variable is summed out of it.
The true numbers of levels are not known before a row is read.
"""

from boundit.estimand.language.elimination_order import order_elimination
from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_variables,
)

MOST_CELLS = 256
MOST_VARIABLES = 8
"""A formula with more cells, or more variables, is large: others are looked for."""


def is_large(expression: Expression) -> bool:
    """Tell whether a formula is so large that it pays to look for an equal one.

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
