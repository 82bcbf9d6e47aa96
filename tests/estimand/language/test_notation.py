"""A formula in a sentence says what the formula on a line says."""

from random import Random

from boundit.estimand.language.expression import ONE, CFactor, P, Product, Ratio, Sum
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.language.render import write_text
from boundit.terms.formula import Fraction, Over, Term, Variable
from boundit.terms.names import make_nodes
from tests.estimand.language.test_simplify import random_formula

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")


def test_the_text_of_a_sentence_is_the_text_of_its_formula() -> None:
    rng = Random(0)
    for depth in range(300):
        formula = random_formula(rng, depth % 5)

        assert str(make_sentence(formula)) == write_text(formula)


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
