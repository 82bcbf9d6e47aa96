"""Orders of elimination, and cells of formulas."""

from itertools import pairwise, permutations
from math import prod

from boundit.estimand.expression import (
    MOST_CELLS,
    MOST_VARIABLES,
    ONE,
    P,
    Product,
    Ratio,
    Sum,
    count_cells,
    is_large,
    order_elimination,
)
from tests.nodes import make_nodes


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


def test_a_term_has_a_cell_for_each_combination_and_counts_once() -> None:
    term = P(make_nodes("Y"), make_nodes("X", "Z"))

    assert count_cells(term) == 8
    assert count_cells(Product((term, P(make_nodes("Y"), make_nodes("X", "Z"))))) == 8 + 8
    assert count_cells(Ratio(term, P(make_nodes("Z")))) == 8 + 2 + 8
    assert count_cells(ONE) == 1


def test_a_long_chain_is_summed_with_small_tables() -> None:
    """Summed out one after another, neighbours alone are joined."""
    names = [f"V{i}" for i in range(40)]
    links = tuple(P(make_nodes(b), make_nodes(a)) for a, b in pairwise(names))
    chain = Sum(make_nodes(*names[1:-1]), Product(links))

    assert count_cells(chain) == 39 * 4 + 38 * 8 + 4
    assert is_large(chain)


def test_what_hangs_on_one_variable_is_joined_when_it_goes() -> None:
    leaves = [f"V{i}" for i in range(10)]
    star = Sum(
        make_nodes("Z"), Product(tuple(P(make_nodes(v), make_nodes("Z")) for v in leaves))
    )

    assert count_cells(star) == 10 * 4 + 2**11 + 2**10


def test_a_formula_is_large_by_its_cells_or_by_its_variables() -> None:
    many = P(make_nodes(*(f"V{i}" for i in range(MOST_VARIABLES))))

    assert count_cells(many) == MOST_CELLS
    assert not is_large(many)
    assert is_large(Ratio(many, P(make_nodes("V0"))))
    assert is_large(Product((P(make_nodes(*"ABCDE")), P(make_nodes(*"FGHI")))))


def test_shared_parts_are_walked_once() -> None:
    formula: P | Product = P(make_nodes("A"))
    for _ in range(60):
        formula = Product((formula, Sum(make_nodes("B"), Ratio(formula, P(make_nodes("B"))))))

    assert count_cells(formula) < 1_000
