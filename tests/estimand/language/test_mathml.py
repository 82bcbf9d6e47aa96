"""What a page draws, and that no text is lost on the way."""

import html
import re
from random import Random
from xml.etree import ElementTree as ET

from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.estimand.language.mathml import is_unreadable, write_mathml
from boundit.estimand.language.render import write_text
from boundit.terms.names import make_nodes
from tests.estimand.language.test_simplify import random_formula

X, Y, Z = make_nodes("X"), make_nodes("Y"), make_nodes("Z")
MATH = re.compile(r'(?:<span class="formula">)?<math alttext="([^"]*)">.*?</math>(?:</span>)?')


def source(shown: str) -> str:
    """The text that a typeset formula stands for."""
    return html.unescape(MATH.sub(lambda match: match[1], shown))


def test_a_page_draws_the_same_formula_that_a_line_of_text_shows() -> None:
    rng = Random(0)
    for depth in range(300):
        formula = random_formula(rng, depth % 5)
        shown = write_mathml(formula)

        ET.fromstring(f"<p>{shown}</p>")
        assert source(shown) == write_text(formula)


def test_fractions_sums_primes_and_factors_are_drawn_as_such() -> None:
    inner = Sum(X, Product((P(Y, X | Z), P(X))))
    shown = write_mathml(Product((P(Z, X), inner)))

    assert shown.count("<munder>") == 1
    assert "<msup><mi>X</mi><mo>′</mo></msup>" in shown
    assert write_mathml(Ratio(CFactor(X), ONE)).count("<mfrac>") == 1
    assert "<mn>1</mn>" in write_mathml(ONE)
    assert write_mathml(Product((Sum(X, P(X)), Sum(Z, P(Z))))).count('"false">(</mo>') == 3
    assert "<mtext>time of day</mtext>" in write_mathml(P(make_nodes("time of day")))


def test_long_terms_may_break_between_their_parts_and_short_ones_never() -> None:
    many = frozenset(f"V{i}" for i in range(40))

    assert write_mathml(P(Y, X | Z)).count("<math") == 1
    assert write_mathml(P(Y, many)).count("<math") == 42
    assert write_mathml(P(make_nodes("a" * 30))).startswith('<span class="formula"><math')


def test_what_no_eye_can_follow_stays_text() -> None:
    deep: Expression = P(Y)
    for _ in range(41):
        deep = Ratio(deep, P(X))

    assert is_unreadable(write_text(deep))
    assert write_mathml(deep) == write_text(deep)
