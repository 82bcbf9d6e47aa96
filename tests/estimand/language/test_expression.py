"""Formulas as data."""

from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    P,
    Product,
    Ratio,
    Sum,
    all_variables,
    free_variables,
)
from boundit.terms.names import nodes


def test_a_summed_variable_is_free_outside_its_sum_only() -> None:
    inner = Sum(nodes("X"), P(nodes("Y"), nodes("X")))

    assert free_variables(inner) == nodes("Y")
    assert free_variables(Product((inner, P(nodes("X"))))) == nodes("X", "Y")


def test_every_kind_of_node_tells_its_variables() -> None:
    assert free_variables(ONE) == nodes()
    assert free_variables(CFactor(nodes("A"))) == nodes("A")
    assert free_variables(Ratio(P(nodes("A")), P(nodes("B")))) == nodes("A", "B")


def test_all_variables_are_the_summed_ones_too() -> None:
    shared = Sum(nodes("X"), Product((P(nodes("X")), CFactor(nodes("Y")))))

    assert all_variables(Ratio(shared, Product((shared, ONE)))) == nodes("X", "Y")
