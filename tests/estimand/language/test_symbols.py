from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.estimand.language.symbols import (
    draw_item,
    draw_name,
    draw_names,
    draw_operator,
    draw_value,
)


@pytest.mark.parametrize(
    ("text", "tag", "shown"),
    [
        ("X1", "msub", "X1"),
        ("Click", "mi", "Click"),
        ('"time of day"', "mtext", "time of day"),
        (r'"6\" pipe"', "mtext", '6" pipe'),
        ('"a < b"', "mtext", "a < b"),
        ("12", "mn", "12"),
    ],
)
def test_names_are_set_by_their_kind(text: str, tag: str, shown: str) -> None:
    element = ET.fromstring(draw_name(text))

    assert element.tag == tag
    assert "".join(element.itertext()) == shown


def test_primes_are_raised_and_values_follow_a_sign() -> None:
    assert "′′" in draw_item("Z''")
    assert draw_item("X=0").endswith("<mn>0</mn>")
    assert draw_item("X='a'").endswith("<mtext>&#x27;a&#x27;</mtext>")
    assert draw_names("X, Y").count("<mo>,</mo>") == 1


@given(st.text(max_size=20))
def test_whatever_is_set_is_escaped(text: str) -> None:
    for part in (draw_item(text), draw_value(text)):
        assert "<" not in part.replace("<m", "").replace("</m", "")


def test_only_signs_that_part_have_room() -> None:
    assert "space" in draw_operator("|", wide=True)
    assert "space" not in draw_operator("(")
