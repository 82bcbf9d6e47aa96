from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.formula import Variable
from boundit.report.text.symbols import draw_letter, draw_operator, draw_variable, draw_words


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
