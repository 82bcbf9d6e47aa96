"""Formulas as data."""

from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    P,
    Product,
    Ratio,
    Sum,
    find_free_variables,
    find_variables,
)
from tests.nodes import make_nodes


def test_a_summed_variable_is_free_outside_its_sum_only() -> None:
    inner = Sum(make_nodes("X"), P(make_nodes("Y"), make_nodes("X")))

    assert find_free_variables(inner) == make_nodes("Y")
    assert find_free_variables(Product((inner, P(make_nodes("X"))))) == make_nodes("X", "Y")


def test_every_kind_of_node_tells_its_variables() -> None:
    assert find_free_variables(ONE) == make_nodes()
    assert find_free_variables(CFactor(make_nodes("A"))) == make_nodes("A")
    assert find_free_variables(Ratio(P(make_nodes("A")), P(make_nodes("B")))) == make_nodes(
        "A", "B"
    )


def test_all_variables_are_the_summed_ones_too() -> None:
    shared = Sum(make_nodes("X"), Product((P(make_nodes("X")), CFactor(make_nodes("Y")))))

    assert find_variables(Ratio(shared, Product((shared, ONE)))) == make_nodes("X", "Y")
