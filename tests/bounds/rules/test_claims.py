"""Claims are words with formulas as values, and read as one line."""

from boundit.bounds.rules.claims import (
    divide,
    enclose,
    sum_over,
    take_extremes,
    write_population_law,
    write_reweighting,
)
from boundit.estimand.language.expression import P
from boundit.estimand.language.notation import make_sentence
from boundit.terms.formula import Group, Sentence
from tests.nodes import make_nodes

Y, Z = make_sentence(P(make_nodes("Y"))), make_sentence(P(make_nodes("Z"), logged=False))


def test_a_claim_is_written_from_the_outside_in() -> None:
    inner = take_extremes(["W"], Y)

    assert str(sum_over(["Z"], Z, inner)) == (
        "sum over Z of P(Z) x (min/max over W of P(Y | S=1))"
    )
    assert str(divide(Y, P(make_nodes("C")))) == "P(Y | S=1) / P(C | S=1)"
    assert divide(Y, None) is Y


def test_brackets_around_formulas_are_formulas_and_around_words_words() -> None:
    assert enclose(Y).parts == (Group(Y.parts),)
    assert enclose(Sentence.of("the least ", Y)).parts[0] == "("


def test_the_law_of_the_population_and_its_weights_are_said() -> None:
    assert str(write_population_law(["Y", "X"], make_nodes("Z"))) == "P*(Y, X | Z)"
    weights = [make_nodes("Z"), make_nodes(), make_nodes("Z")]
    assert str(write_reweighting(weights, "r <= 2")) == (
        ", where P*(v) = P(v | S=1) r(Z) or r is the population's law and r any that fits: "
        "r <= 2"
    )
