"""Sentences with formulas: one line of text, and nothing lost in a file."""

import json

import pytest

from boundit.core.codec import decode, encode
from boundit.core.formula import (
    Formula,
    Fraction,
    Group,
    Line,
    Over,
    Sentence,
    Sign,
    Term,
    Variable,
    name_variables,
)

Y, X = Variable("Y"), Variable("X")
EFFECT = Term("P", (Y,), (Term("do", (X,)), Variable("Z", primes=1)))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (EFFECT, "P(Y | do(X), Z')"),
        (Term("E", (Y,)), "E[Y]"),
        (Term("Q", name_variables({"X10", "X2"})), "Q[X2, X10]"),
        (Term("P*", (Variable("time of day", value="'dusk'"),)), "P*(\"time of day\"='dusk')"),
        (Term("E", (Variable("time of day", bare=True),)), "E[time of day]"),
        (Over("Σ", (X, Y)), "Σ_{X, Y}"),
        (Over("min/max", (X,)), "min/max over X of"),
        (Fraction((EFFECT, " ", EFFECT), (Term("Q", (X,)),)), f"[{EFFECT} {EFFECT}] / [Q[X]]"),
        (Group(("0 to 1",), square=True), "[0 to 1]"),
        (Sign("x"), "x"),
    ],
)
def test_a_formula_is_written_on_one_line_and_kept_in_json(formula: Formula, text: str) -> None:
    sentence = Sentence.of("it is ", Sentence.of(formula), ".")

    assert str(sentence) == f"it is {text}."
    assert decode(Sentence, json.loads(json.dumps(encode(sentence)))) == sentence


def test_a_line_of_words_stays_words() -> None:
    assert decode(Line, encode("P(Y)", Line)) == "P(Y)"


def test_what_is_no_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at parts\[0\]"):
        decode(Sentence, {"parts": [{"letter": "P"}]})
