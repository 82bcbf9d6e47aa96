"""Formulas and their algebra: one spelling, and the same numbers before and after."""

from random import Random

import numpy as np
import pytest

from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.counts.named_array import NamedArray
from boundit.estimand.expression import (
    ONE,
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    build_product,
    divide,
    find_variables,
    may_chain,
    multiply,
    simplify,
    sum_out,
)
from tests.nodes import make_nodes


def test_a_summed_variable_is_free_outside_its_sum_only() -> None:
    inner = Sum(make_nodes("X"), P(make_nodes("Y"), make_nodes("X")))

    assert inner.free == make_nodes("Y")
    assert Product((inner, P(make_nodes("X")))).free == make_nodes("X", "Y")


def test_every_kind_of_node_tells_its_variables() -> None:
    assert ONE.free == make_nodes()
    assert CFactor(make_nodes("A")).free == make_nodes("A")
    assert Ratio(P(make_nodes("A")), P(make_nodes("B"))).free == make_nodes("A", "B")


def test_all_variables_are_the_summed_ones_too() -> None:
    shared = Sum(make_nodes("X"), Product((P(make_nodes("X")), CFactor(make_nodes("Y")))))

    assert find_variables(Ratio(shared, Product((shared, ONE)))) == make_nodes("X", "Y")


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
    assert simplify(P(make_nodes(), A)) == ONE
    assert build_product([]) == ONE
    assert build_product([P(B), P(A)]) == Product((P(A), P(B)))


def test_the_chain_rule_joins_terms_of_one_source() -> None:
    assert may_chain(P(A, B | C), P(B, C))
    assert not may_chain(P(A, B), P(B, C))
    assert not may_chain(P(A, B | C), P(B, C, logged=False))


A, B, C = make_nodes("A"), make_nodes("B"), make_nodes("C")
NAMES = "ABC"


def same(one: Expression, other: Expression) -> bool:
    return simplify(one) == simplify(other)


def random_formula(rng: Random, depth: int) -> Expression:
    """Draw a formula whose sums bind only what their bodies speak of."""
    kind = rng.choice(["p", "p", "sum", "product", "ratio"]) if depth else "p"
    if kind == "product":
        n = rng.randint(0, 3)
        return Product(tuple(random_formula(rng, depth - 1) for _ in range(n)))
    if kind == "ratio":
        return Ratio(random_formula(rng, depth - 1), random_formula(rng, depth - 1))
    if kind == "sum":
        body = random_formula(rng, depth - 1)
        free = sorted(body.free)
        return Sum(frozenset(rng.sample(free, min(len(free), rng.randint(1, 2)))), body)
    of = frozenset(rng.sample(NAMES, rng.randint(1, 2)))
    return P(of, frozenset(rng.sample(NAMES, rng.randint(0, 2))) - of, rng.random() < 0.7)


def random_law(rng: np.random.Generator) -> NamedArray:
    values = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    return NamedArray(tuple(NAMES), values)


@pytest.mark.parametrize("seed", range(4))
def test_simplifying_changes_no_number(seed: int) -> None:
    rng, numbers = Random(seed), np.random.default_rng(seed)
    log, everyone = random_law(numbers), random_law(numbers)
    for _ in range(150):
        formula = random_formula(rng, 4)

        before = evaluate(formula, log, external=[everyone])
        after = evaluate(simplify(formula), log, external=[everyone])

        assert after.names <= before.names
        difference = before.values / after.align(before.axes) - 1
        np.testing.assert_allclose(difference, 0, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_simplifying_twice_is_simplifying_once(seed: int) -> None:
    rng = Random(seed)
    for _ in range(150):
        simple = simplify(random_formula(rng, 4))

        assert simplify(simple) == simple


def test_terms_of_the_log_and_of_everyone_never_mix() -> None:
    mixed = Product((P(A, B, logged=True), P(B, logged=False)))

    assert simplify(mixed) == mixed
    assert not same(mixed, P(A | B))


def test_a_sum_over_what_is_not_there_stays() -> None:
    """It counts the levels; dropping it would change the number."""
    assert simplify(Sum(A, P(B))) == Product((P(B), Sum(A, ONE)))


def test_nested_sums_join_unless_one_hides_the_other() -> None:
    inner = Sum(B, Product((P(A, B), P(B, A))))

    assert sum_out(A, inner) == Sum(A | B, inner.body)
    assert same(Sum(B, Product((P(B), inner))), Product((inner,)))


def test_order_and_grouping_do_not_matter() -> None:
    def nested(*order: Nodes) -> Expression:
        one, two, three = (P(x, logged=False) for x in order)
        return Product((one, Product((two, three))))

    assert same(nested(A, B, C), nested(C, B, A))
    assert same(P(A | B), Product((P(A), P(B, A))))
    assert simplify(CFactor(make_nodes())) == ONE
    assert simplify(Product((CFactor(B), CFactor(A)))) == Product((CFactor(A), CFactor(B)))
