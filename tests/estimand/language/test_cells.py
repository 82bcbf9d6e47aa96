"""Cells are counted by hand, and against the largest table that a sum must pass."""

from itertools import pairwise

from boundit.estimand.language.cells import MOST_CELLS, MOST_VARIABLES, count_cells, is_large
from boundit.estimand.language.expression import ONE, P, Product, Ratio, Sum
from tests.nodes import make_nodes


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
