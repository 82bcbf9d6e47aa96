"""Formulas as values, and their text."""

from boundit.estimand.language.expression import ONE, CFactor, P, Product, Ratio, Sum
from boundit.estimand.language.notation import make_sentence, write_text
from boundit.terms.formula import Fraction, Over, Term, Variable
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
