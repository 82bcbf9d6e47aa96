import html
import random
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.estimand.language.expression import CFactor, Expression, P, Product, Ratio, Sum
from boundit.estimand.language.render import write_text
from boundit.report.text.mathml import typeset
from tests.report.examples import RULE

MATH = re.compile(
    r'<span class="formula"><math alttext="([^"]*)">.*?</math></span>'
    r'|<math alttext="([^"]*)">.*?</math>',
    re.DOTALL,
)
SHARDS = [
    "P(", "P*(", "E[", "Q[", "do(", ")", "]", "[", "(", " | ", ", ", "Σ_{Z} ", " / ", " x (",
    "X1", "Y'", "S=1", "min/max over ", "sum over ", " of ", '"time of day"', "'a'",
    "lies between", "0 to 1", " ", "<", "&", "\\", "{", "}", "é",
]  # fmt: skip


def source(shown: str) -> str:
    """The text that a typeset line stands for."""
    return html.unescape(MATH.sub(lambda match: match[1] or match[2], shown))


def outside(shown: str) -> str:
    """What was not typeset."""
    return MATH.sub("", shown)


@given(st.lists(st.sampled_from(SHARDS), max_size=14).map("".join))
def test_no_text_is_ever_lost_and_the_page_stays_well_formed(line: str) -> None:
    shown = typeset(line)

    assert source(shown) == line
    ET.fromstring(f"<p>{shown}</p>")


def test_the_law_of_the_population_has_its_star() -> None:
    shown = typeset("it is sum over Z of P*(Z | X) x (P(Y | Z, S=1)), where P*(v) = r")

    assert outside(shown).split() == ["it", "is", ",", "where", "=", "r"]
    assert shown.count("<msup><mi>P</mi><mo>∗</mo></msup>") == 2
    assert "<munder>" in shown


def test_what_no_line_may_hold_can_be_scrolled() -> None:
    long = f"P({'a' * 30})"

    assert typeset(f"it is {long}").startswith('it is <span class="formula"><math')
    assert "<span" not in typeset("it is P(Y | X)")


@given(st.text(max_size=40))
def test_nor_is_any_other_text(line: str) -> None:
    assert source(typeset(line)) == line


def random_formula(rng: random.Random, depth: int) -> Expression:
    names = ["X1", "Y", "time of day", "Z.2", "W_3", "Click"]
    some = frozenset(rng.sample(names, rng.randint(1, 3)))
    if depth == 0:
        others = frozenset(names) - some
        given_ = frozenset(rng.sample(sorted(others), rng.randint(0, 2)))
        return CFactor(some) if rng.random() < 0.2 else P(some, given_, rng.random() < 0.5)
    parts = [random_formula(rng, depth - 1) for _ in range(2)]
    choices: list[Expression] = [Sum(some, parts[0]), Product(tuple(parts)), Ratio(*parts)]
    return rng.choice(choices)


def test_every_formula_we_write_is_typeset_whole() -> None:
    rng = random.Random(0)
    for k in range(300):
        line = write_text(random_formula(rng, k % 5))
        shown = typeset(f"P(Y) is {line}")
        assert outside(shown).replace(" ", "") == "is", line
        assert source(shown) == f"P(Y) is {line}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (RULE.claim, "lies between"),
        ("P(Y) lies within sum over I, U of [P(Y | S=1)] [0 to 1] / P(U)", "lies within"),
        ("P(Y) lies between sum over Z of P(Z) x (min/max over W of P(Y | W))", "lies between"),
        ("P(Y) lies between min/max over time of day of P(Y | X)", "lies between"),
        ("Rule 1: P(Y | do(X), Z) is the same", "Rule 1: is the same"),
        ("E[Y | do(X='a, (b'), U=datetime.date(2020, 1, 1)] lies in [0.1, 0.4].",
         "lies in [0.1, 0.4]."),
    ],
)  # fmt: skip
def test_claims_and_steps_keep_their_words_around_the_formulas(line: str, words: str) -> None:
    assert outside(typeset(line)).split() == words.split()


@pytest.mark.parametrize(
    "line", ["P(Y | broken", "see [1] and (2)", "EXP(1)", "a P value", "sum over all", "x (y)"]
)
def test_what_is_no_formula_stays_text(line: str) -> None:
    assert typeset(line) == line


def test_fractions_sums_and_extremes_are_drawn_as_such() -> None:
    assert "<mfrac>" in typeset("P(Y) is [P(X, Y)] / [P(X)]")
    assert typeset("Σ_{Z} P(Z)").count("<munder>") == 1
    assert typeset("min/max over I1 of P(Y)").count("<munder>") == 1


def test_long_terms_may_break_between_their_parts_and_short_ones_never() -> None:
    many = ", ".join(f"V{i}" for i in range(40))

    assert typeset("P(Y | X, Z)").count("<math") == 1
    assert typeset(f"P(Y | {many})").count("<math") == 41


def test_hostile_nesting_neither_crashes_nor_takes_long() -> None:
    for line in ("P(" * 5000, "[" * 3000 + "P(Y)" + "]" * 3000, "[P(Y) / " * 900):
        assert source(typeset(line)) == line
    nested = "P(Y)"
    for _ in range(12):
        nested = f"[{nested}] / [P(Z)]"
    assert typeset(nested).count("<mfrac>") == 12
