"""Formulas evaluated, against hand formulas and against a plain recursion."""

from functools import reduce
from itertools import product
from math import isnan, nan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.counts.formulas.errors import NeedsPopulation, NotLogged, NotRecovered
from boundit.counts.formulas.evaluate import evaluate
from boundit.counts.named_array import LevelsDiffer, NamedArray
from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.terms.names import Nodes
from tests.nodes import make_nodes
from tests.strategies import formulas

X, Y, Z, M = (make_nodes(name) for name in "XYZM")
LEVELS = {"X": 2, "Y": 3, "Z": 2}


def random_law(names: str, rng: np.random.Generator) -> NamedArray:
    shape = [LEVELS.get(name, 2) for name in names]
    return NamedArray(tuple(names), rng.dirichlet(np.ones(prod(shape))).reshape(shape))


def test_the_back_door_formula_by_hand() -> None:
    law = random_law("XYZ", np.random.default_rng(0))
    formula = Sum(Z, Product((P(Y, X | Z), P(Z))))

    p = law.values
    by_hand = np.einsum("xyz,z->xy", p / p.sum(axis=1, keepdims=True), p.sum(axis=(0, 1)))
    answer = evaluate(formula, law)

    assert answer.axes == ("X", "Y")
    assert np.allclose(answer.values, by_hand)


def test_an_inner_sum_hides_the_free_variable_of_the_same_name() -> None:
    """Front door: x is free outside and summed over inside."""
    law = random_law("XMY", np.random.default_rng(1))
    inner = Sum(X, Product((P(Y, X | M), P(X))))
    formula = Sum(M, Product((P(M, X), inner)))

    p = law.values
    m_given_x = p.sum(axis=2) / p.sum(axis=(1, 2))[:, None]
    y_given_xm = p / p.sum(axis=2, keepdims=True)
    by_hand = np.einsum("xm,amy,a->xy", m_given_x, y_given_xm, p.sum(axis=(1, 2)))
    answer = evaluate(formula, law)

    assert answer.axes == ("X", "Y")
    assert np.allclose(answer.values, by_hand)


def test_a_sum_over_what_the_body_does_not_name_counts_its_levels() -> None:
    law = random_law("XYZ", np.random.default_rng(2))

    assert float(evaluate(Sum(Y | Z, ONE), law)) == 6
    assert np.allclose(evaluate(Sum(Y, P(X)), law).values, 3 * law.marginalize("X").values)


def test_counts_give_the_same_numbers_as_their_law() -> None:
    counts = NamedArray(("X", "Y"), np.array([[3.0, 1.0], [2.0, 2.0]]))
    law = counts.condition_on(())

    for formula in (P(X), P(Y, X), P(X | Y), P(frozenset()), Ratio(P(X | Y), P(X))):
        assert evaluate(formula, counts).measure_gap(evaluate(formula, law)) < 1e-15


def test_a_shared_part_is_computed_once() -> None:
    """Computed as a tree, this formula has 2 to the 200 leaves."""
    shared: Expression = P(frozenset())
    for _ in range(200):
        shared = Product((shared, shared))

    assert float(evaluate(shared, random_law("X", np.random.default_rng(3)))) == 1


# Where the numbers come from


def test_population_terms_are_read_from_the_smallest_table_that_covers_them() -> None:
    rng = np.random.default_rng(4)
    log, wide, narrow = (random_law(names, rng) for names in ("XYZ", "XZ", "Z"))
    formula = Sum(Z, Product((P(Y, X | Z), P(Z, logged=False))))

    answer = evaluate(formula, log, external=[wide, narrow])

    by_hand = np.einsum("xyz,z->xy", log.condition_on({"X", "Z"}).values, narrow.values)
    assert np.allclose(answer.values, by_hand)
    conditional = evaluate(P(Z, X, logged=False), log, external=[narrow, wide])
    assert conditional.measure_gap(wide.condition_on("X")) < 1e-15


def test_one_formula_may_speak_of_the_log_and_of_the_population() -> None:
    rng = np.random.default_rng(9)
    log, external = random_law("XZ", rng), random_law("Z", rng)

    reweighting = evaluate(Ratio(P(Z, logged=False), P(Z)), log, external=[external])

    assert np.allclose(reweighting.values, external.values / log.values.sum(axis=0))


def test_an_external_table_may_have_variables_the_log_lacks() -> None:
    rng = np.random.default_rng(5)
    log, external = random_law("X", rng), random_law("ZM", rng)

    answer = evaluate(Product((P(X), P(M, logged=False))), log, external=[external])

    assert answer.axes == ("M", "X")
    assert np.allclose(answer.values.T, np.outer(log.values, external.values.sum(axis=0)))


def test_a_population_term_is_never_read_from_the_log() -> None:
    """The log has P(c given S = 1), which is another thing (deviation D-7)."""
    log = random_law("XYZ", np.random.default_rng(6))

    with pytest.raises(
        NeedsPopulation, match=r"P\(Y \| X\) is of the whole population"
    ) as caught:
        evaluate(Sum(X, P(Y, X, logged=False)), log, external=[log.marginalize("X")])
    assert caught.value.term == P(Y, X, logged=False)
    assert str(caught.value).endswith("give an external table over X, Y (given: X)")


def test_without_selection_the_log_is_passed_as_both() -> None:
    log = random_law("XYZ", np.random.default_rng(7))

    for term in (P(Y, X), P(X | Z)):
        unlogged = P(term.of, term.given, logged=False)
        assert evaluate(unlogged, log, external=[log]).measure_gap(evaluate(term, log)) == 0


def test_what_has_no_numbers_is_refused() -> None:
    log = random_law("XY", np.random.default_rng(8))

    with pytest.raises(NotRecovered, match=r"Q\[X, Y\] is a symbol without numbers"):
        evaluate(Sum(X, Product((P(X), CFactor(X | Y)))), log)
    with pytest.raises(NotLogged, match="no variable 'Z'; it has X, Y"):
        evaluate(P(Y, X | Z), log)
    with pytest.raises(NotLogged, match="no variable 'Z'"):
        evaluate(Sum(Z, P(Y)), log)
    with pytest.raises(LevelsDiffer, match="'X'"):
        evaluate(P(Y), log, external=[NamedArray(("X",), np.ones(3) / 3)])


# Division by zero


def test_what_was_never_seen_is_nan_and_stays_nan() -> None:
    """P(Y | X = 1) is unknown when X = 1 is never logged, also when it is weighted by zero."""
    log = NamedArray(("X", "Y"), np.array([[0.25, 0.75], [0.0, 0.0]]))
    conditional = evaluate(P(Y, X), log)

    assert conditional.at({"X": 0}).values.tolist() == [0.25, 0.75]
    assert np.isnan(conditional.at({"X": 1}).values).all()
    assert np.isnan(evaluate(Sum(X, Product((P(Y, X), P(X)))), log).values).all()
    assert np.isnan(evaluate(Ratio(ONE, P(X)), log).at({"X": 1}).values)


# Any formula at all: a recursion that carries the value of every variable


def numbers(node: Expression, at: dict[str, int], log: NamedArray) -> float:
    match node:
        case P(of, given):
            return over(mass(log, at, of | given), mass(log, at, given))
        case Sum(names, body):
            order = sorted(names)
            return sum(
                numbers(body, at | dict(zip(order, values, strict=True)), log)
                for values in product(*(range(LEVELS[name]) for name in order))
            )
        case Product(factors):
            return reduce(lambda one, part: one * numbers(part, at, log), factors, 1.0)
        case Ratio(top, bottom):
            return over(numbers(top, at, log), numbers(bottom, at, log))
        case CFactor():
            raise AssertionError


def mass(log: NamedArray, at: dict[str, int], names: Nodes) -> float:
    total = 0.0
    for values in product(*(range(n) for n in log.values.shape)):
        point = dict(zip(log.axes, values, strict=True))
        if all(point[name] == at[name] for name in names):
            total += float(log.values[values])
    return total


def over(top: float, bottom: float) -> float:
    return nan if bottom == 0 else top / bottom


@given(formulas, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
@settings(max_examples=150, deadline=None)
def test_any_formula_is_what_plain_recursion_gives(
    formula: Expression, seed: int, holes: float
) -> None:
    rng = np.random.default_rng(seed)
    whole = random_law("XYZ", rng)
    struck = np.where(rng.random(whole.values.shape) < holes, 0, whole.values)
    log = NamedArray(whole.axes, struck)

    answer = evaluate(formula, log)

    for values in product(*(range(n) for n in LEVELS.values())):
        at = dict(zip(LEVELS, values, strict=True))
        expected = numbers(formula, at, log)
        found = float(answer.at({name: at[name] for name in answer.axes}))
        assert found == pytest.approx(expected, rel=1e-9) or (isnan(found) and isnan(expected))
