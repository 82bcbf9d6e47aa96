"""Orders of elimination: by sizes alone, the same whatever order tables come in."""

from itertools import permutations
from math import prod

from boundit.estimand.language.elimination_order import order_elimination


def test_the_order_that_joins_the_fewest_is_tried_where_sizes_mislead() -> None:
    """A grid: its smallest product first leads to larger ones than need be, now and then."""
    side = 7
    names = [f"{i},{j}" for i in range(side) for j in range(side)]
    levels = dict.fromkeys(names, 4)
    pairs = [(f"{i},{j}", f"{i + 1},{j}") for i in range(side - 1) for j in range(side)]
    pairs += [(f"{i},{j}", f"{i},{j + 1}") for i in range(side) for j in range(side - 1)]

    order = order_elimination(pairs, names, levels)

    assert sorted(order.variables) == sorted(names)
    assert order.largest <= 4 ** (side + 2)
    assert prod(levels[name] for name in order.widest) == order.largest


def test_the_order_of_tables_does_not_matter() -> None:
    scopes = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("A", "E")]
    levels = dict.fromkeys("ABCDE", 3)

    assert len({order_elimination(each, "ABCD", levels) for each in permutations(scopes)}) == 1
