"""One formula, one spelling; and the same numbers before and after."""

from random import Random

import numpy as np
import pytest

from boundit.counts.evaluate import evaluate
from boundit.counts.named_array import NamedArray
from boundit.estimand.language.algebra import sum_out
from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_free_variables,
)
from boundit.estimand.language.simplify import simplify
from boundit.terms.names import Nodes
from tests.nodes import make_nodes

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
        free = sorted(find_free_variables(body))
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
