"""What people and programs read of formulas."""

import json
from random import Random

from boundit.core.formula import Fraction, Over, Term, Variable
from boundit.estimand.expression import ONE, CFactor, P, Product, Ratio, Sum
from boundit.estimand.notation import make_sentence, to_record, write_latex, write_text
from tests.estimand.test_expression import random_formula
from tests.nodes import make_nodes

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")


def test_the_text_of_a_formula_keeps_its_order_and_brackets() -> None:
    both = Product((Sum(X, P(X)), Sum(Z, P(Z, logged=False))))

    assert write_text(both) == str(make_sentence(both)) == "(Σ_{X} P(X | S=1)) Σ_{Z} P(Z)"
    assert write_text(ONE) == "1"


def test_sums_fractions_primes_and_factors_are_values() -> None:
    inner = Sum(X, Product((P(Y, X | Z), P(X))))
    *_, total, _, _, _, last = make_sentence(Product((P(Z, X), inner))).parts

    assert total == Over("Σ", (Variable("X", primes=1),))
    assert last == Term(
        "P", (Variable("Y"),), (Variable("X", 1), Variable("Z"), Variable("S", value="1"))
    )
    assert make_sentence(Ratio(CFactor(X), ONE)).parts == (
        Fraction((Term("Q", (Variable("X"),)),), ("1",)),
    )


ADJUSTED = Sum(Z, Product((P(Y, X | Z), P(Z, logged=False))))


def test_every_term_says_whom_it_speaks_of() -> None:
    assert write_text(ADJUSTED) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert write_latex(ADJUSTED) == r"\sum_{Z} P(Y \mid X, Z, S{=}1)\, P(Z)"


def test_a_bound_variable_that_hides_another_is_primed() -> None:
    """Front-door: the inner x is not the x that is set."""
    inner = Sum(X, Product((P(Y, X | Z), P(X))))
    formula = Sum(Z, Product((P(Z, X), inner)))

    assert write_text(formula) == "Σ_{Z} P(Z | X, S=1) Σ_{X'} P(X' | S=1) P(Y | X', Z, S=1)"
    assert "X'" in write_latex(formula)
    twice = Product((P(X), Sum(X, Product((P(X), Sum(X, P(X)))))))
    assert write_text(twice) == "P(X | S=1) Σ_{X'} P(X' | S=1) Σ_{X''} P(X'' | S=1)"


def test_a_sum_before_another_factor_stands_in_brackets() -> None:
    both = Product((Sum(X, P(X)), Sum(Z, P(Z))))

    assert write_text(both) == "(Σ_{X} P(X | S=1)) Σ_{Z} P(Z | S=1)"
    assert write_latex(both).startswith(r"\left(\sum_{X}")
    assert (
        write_text(Product((Ratio(P(X), P(Y)), P(Z))))
        == "P(Z | S=1) [P(X | S=1)] / [P(Y | S=1)]"
    )


def test_ratios_and_factors() -> None:
    assert write_text(Ratio(CFactor(X | Y), ONE)) == "[Q[X, Y]] / [1]"
    assert write_latex(Ratio(CFactor(X), ONE)) == r"\frac{Q[X]}{1}"


def test_odd_names_are_spelled_safely() -> None:
    odd = P(make_nodes("time of day", "age_1", "X10", "X2"), logged=False)

    assert write_text(odd) == 'P(X2, X10, age_1, "time of day")'
    assert write_latex(odd) == r"P(X2, X10, \mathrm{age\_1}, \mathrm{time\ of\ day})"


def test_every_part_has_its_key() -> None:
    formula = Sum(Z, Product((P(Y, X | Z), Ratio(P(Z, logged=False), CFactor(X)))))

    assert to_record(formula) == {
        "sum": ["Z"],
        "of": {
            "product": [
                {"p": ["Y"], "given": ["X", "Z"], "logged": True},
                {"ratio": [{"p": ["Z"], "given": [], "logged": False}, {"factor": ["X"]}]},
            ]
        },
    }


def test_different_formulas_have_different_records() -> None:
    rng = Random(0)
    formulas = {random_formula(rng, 4) for _ in range(100)}

    assert len({json.dumps(to_record(formula)) for formula in formulas}) == len(formulas)
