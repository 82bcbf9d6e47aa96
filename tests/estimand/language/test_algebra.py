"""What is built from simple formulas is simple."""

from boundit.estimand.language.algebra import (
    build_product,
    divide,
    make_probability,
    may_chain,
    multiply,
    sum_out,
)
from boundit.estimand.language.expression import ONE, P, Product, Sum
from tests.nodes import make_nodes

A, B, C = make_nodes("A"), make_nodes("B"), make_nodes("C")


def test_equal_factors_of_a_ratio_cancel() -> None:
    assert divide(multiply(P(A, B), P(C)), P(C)) == P(A, B)
    assert divide(P(A), P(A)) == ONE


def test_a_joint_over_its_margin_is_a_conditional() -> None:
    assert divide(P(A | B, C), P(B, C)) == P(A, B | C)


def test_a_joint_under_a_sum_over_its_margin_is_a_conditional_too() -> None:
    top = Sum(A, Product((P(A | B, logged=False), P(C, A | B))))

    assert divide(top, P(B, logged=False)) == Sum(
        A, Product((P(A, B, logged=False), P(C, A | B)))
    )


def test_what_sums_to_one_goes() -> None:
    assert sum_out(A, P(A, B)) == ONE
    assert sum_out(A | B, multiply(P(A, B), P(B))) == ONE
    assert sum_out(A, multiply(P(A, B), P(B))) == P(B)


def test_what_does_not_vary_is_pulled_out_of_the_sum() -> None:
    body = multiply(P(C), P(A, B), P(B, A))

    assert sum_out(A, body) == Product((P(C), Sum(A, Product((P(A, B), P(B, A))))))


def test_nothing_asked_is_certain() -> None:
    assert make_probability(make_nodes(), A, logged=True) == ONE
    assert build_product([]) == ONE
    assert build_product([P(B), P(A)]) == Product((P(A), P(B)))


def test_the_chain_rule_joins_terms_of_one_source() -> None:
    assert may_chain(P(A, B | C), P(B, C))
    assert not may_chain(P(A, B), P(B, C))
    assert not may_chain(P(A, B | C), P(B, C, logged=False))
