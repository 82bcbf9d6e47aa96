"""Formulas as MathML."""

import html
import re
from random import Random
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.formula import Group, Line, Over, Sentence, Sign, Term, Variable
from boundit.estimand.expression import ONE, CFactor, Expression, P, Product, Ratio, Sum
from boundit.estimand.notation import make_sentence, write_text
from boundit.report.formulas import (
    draw_letter,
    draw_line,
    draw_operator,
    draw_variable,
    draw_words,
)
from tests.estimand.test_expression import random_formula
from tests.nodes import make_nodes
from tests.report.examples import RULE

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")
MATH = re.compile(
    r'(?:<span class="formula"[^>]*>)?<math alttext="([^"]*)">.*?</math>(?:</span>)?'
)
DAY = Variable("U", value="datetime.date(2020, 1, 1)", bare=True)
LAW = Term("P*", (Variable("Z"),), (Variable("X"),))
MEAN = Term("P", (Variable("Y"),))


def draw(expression: Expression) -> str:
    return draw_line(make_sentence(expression))


def source(shown: str) -> str:
    """The text that a drawn line stands for."""
    return html.unescape(MATH.sub(lambda match: match[1], shown))


def outside(shown: str) -> str:
    """What was not drawn."""
    return MATH.sub("", shown)


def test_a_page_draws_the_same_formula_that_a_line_of_text_shows() -> None:
    rng = Random(0)
    for depth in range(300):
        formula = random_formula(rng, depth % 5)
        shown = draw(formula)

        ET.fromstring(f"<p>{shown}</p>")
        assert source(shown) == write_text(formula)


@given(st.text(max_size=40))
def test_words_are_never_read_as_formulas(line: str) -> None:
    assert draw_line(line) == html.escape(line, quote=False)


def test_fractions_sums_primes_and_factors_are_drawn_as_such() -> None:
    inner = Sum(X, Product((P(Y, X | Z), P(X))))
    shown = draw(Product((P(Z, X), inner)))

    assert shown.count("<munder>") == 1
    assert "<msup><mi>X</mi><mo>′</mo></msup>" in shown
    assert draw(Ratio(CFactor(X), ONE)).count("<mfrac>") == 1
    assert "<mn>1</mn>" in draw(Ratio(CFactor(X), ONE))
    assert draw(Product((Sum(X, P(X)), Sum(Z, P(Z))))).count('"false">(</mo>') == 3
    assert "<mtext>time of day</mtext>" in draw(P(make_nodes("time of day")))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (RULE.claim, "lies between"),
        (Sentence.of(MEAN, " lies within ", Over("sum", (Variable("I"),)), " ",
                     Group((MEAN,), square=True), " ", Group(("0 to 1",), square=True), " ",
                     Sign("/"), " ", MEAN), "lies within"),
        (Sentence.of(MEAN, " is ", Over("sum", (Variable("Z"),)), " ", LAW, " ", Sign("x"), " ",
                     Group((Over("min/max", (Variable("W"),)), " ", MEAN))), "is"),
        (Sentence.of("it is ", LAW, ", where ", Term("P*", (Variable("v"),)), " = r"),
         "it is , where = r"),
        (Sentence.of(Term("E", (Variable("Y"),), (Term("do", (Variable("X", value="'a, (b'"),)),
                                                  DAY)), " lies in [0.1, 0.4]."),
         "lies in [0.1, 0.4]."),
        (Sentence.of("no ", Term("do", ()), " and ", Group(())), "no and"),
    ],
)  # fmt: skip
def test_sentences_keep_their_words_around_the_formulas(line: Line, words: str) -> None:
    shown = draw_line(line)

    ET.fromstring(f"<p>{shown}</p>")
    assert outside(shown).split() == words.split()
    assert source(shown) == str(line)


def test_the_law_of_the_population_has_its_star() -> None:
    assert "<msup><mi>P</mi><mo>∗</mo></msup>" in draw_line(Sentence.of(LAW))


def test_long_terms_may_break_between_their_parts_and_short_ones_never() -> None:
    many = frozenset(f"V{i}" for i in range(40))

    assert draw(P(Y, X | Z)).count("<math") == 1
    assert draw(P(Y, many)).count("<math") == 42
    assert draw(P(make_nodes("a" * 30))).startswith('<span class="formula"')


def test_what_no_eye_can_follow_stays_text() -> None:
    deep: Expression = P(Y)
    for _ in range(41):
        deep = Ratio(deep, P(X))

    assert draw(deep) == write_text(deep)


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("X1", "msub"),
        ("Click", "mi"),
        ("time of day", "mtext"),
        ('6" pipe', "mtext"),
        ("a < b", "mtext"),
        ("12", "mn"),
    ],
)
def test_names_are_drawn_by_their_kind(name: str, tag: str) -> None:
    element = ET.fromstring(draw_variable(Variable(name)))

    assert element.tag == tag
    assert "".join(element.itertext()) == name


def test_primes_are_raised_and_values_follow_a_sign() -> None:
    assert "′′" in draw_variable(Variable("Z", primes=2))
    assert draw_variable(Variable("X", value="0")).endswith("<mn>0</mn>")
    assert draw_variable(Variable("X", value="'a'")).endswith("<mtext>&#x27;a&#x27;</mtext>")


@given(st.text(max_size=20))
def test_whatever_is_drawn_is_escaped(text: str) -> None:
    for part in (draw_variable(Variable(text, value=text)), draw_words(text)):
        assert "<" not in part.replace("<m", "").replace("</m", "")


def test_a_star_is_raised() -> None:
    assert draw_letter("P") == "<mi>P</mi>"
    assert draw_letter("P*").startswith("<msup>")


def test_only_signs_that_part_have_room() -> None:
    assert "space" in draw_operator("|", wide=True)
    assert "space" not in draw_operator("(")
