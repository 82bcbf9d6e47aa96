"""Claims on arms: what is measured, and from when on it is proved."""

from typing import Any

import pytest

from boundit.decisions.breakdown.claims import Best, Better, Earns, NotAClaim, Regrets
from boundit.results.bound_table import BoundTable

TABLE = BoundTable.from_rows(
    [
        {"X": "a", "C": 0, "lower": 0.5, "upper": 0.7},
        {"X": "b", "C": 0, "lower": 0.2, "upper": 0.4},
        {"X": "c", "C": 0, "lower": 0.1, "upper": 0.6},
    ],
    outcome="Y",
    treatments=["X"],
    context=["C"],
    outcome_range=(0, 1),
)


def test_each_claim_measures_what_is_sure() -> None:
    assert Better("a", "b", context=0).measure(TABLE) == pytest.approx(0.1)
    assert Best("a", context=(0,)).measure(TABLE) == pytest.approx(-0.1)
    assert Earns(("a",), 0.3, context=0).measure(TABLE) == pytest.approx(0.5)
    assert Regrets("b", 0.1, context=0).measure(TABLE) == pytest.approx(-0.5)
    half = Regrets({"a": 0.5, "b": 0.5}, 0.3, context=0)
    assert half.measure(TABLE) == pytest.approx(-0.5 * 0.5)


def test_claims_are_proved_by_numbers_large_enough() -> None:
    assert Better("a", "b").is_proved(0.1)
    assert not Better("a", "b").is_proved(0.0)
    assert Better("a", "b", by=0.1).is_proved(0.1)
    assert not Better("a", "b", by=0.1).is_proved(0.09)
    assert not Best("a").is_proved(0.0)
    assert Earns("a", 0.3).is_proved(0.3)
    assert Regrets("a", 0.3).is_proved(-0.3)
    assert not Regrets("a", 0.3).is_proved(-0.31)


def test_claims_read_as_sentences() -> None:
    assert str(Better(("a",), ("b",), 0.1, context=0)) == (
        "the mean of a is at least 0.1 higher than that of b in context 0"
    )
    assert str(Regrets({"a": 0.5, "b": 0.5}, 0.1)) == (
        "the lottery of 0.5 a, 0.5 b regrets at most 0.1"
    )


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Best("z", context=0), "there is no arm z; there are a, b, c"),
        (Best("a"), "a claim is about one context; name one of 0"),
        (Best("a", context=7), "there is no context 7; there are 0"),
        (Better("a", "a", context=0), "an arm cannot be compared with itself"),
        (Regrets({"a": 0.5}, 0.1, context=0), "chances of a lottery add up to 1, found 0.5"),
    ],
)
def test_what_makes_no_sense_is_refused(claim: Best | Better | Regrets, said: str) -> None:
    with pytest.raises(NotAClaim, match=said):
        claim.measure(TABLE)


def test_falling_short_by_little_is_a_claim_too() -> None:
    table = make_pair((0.3, 0.5), (0.35, 0.4))

    assert Better("a", than="b", by=-0.1).is_proved(
        Better("a", than="b", by=-0.1).measure(table)
    )
    assert not Better("a", than="b", by=-0.05).is_proved(
        Better("a", than="b", by=-0.05).measure(table)
    )


def test_arms_that_are_alike_up_to_rounding_prove_no_lead() -> None:
    assert not Better("a", than="b").is_proved(1e-16)
    assert not Best("a").is_proved(1e-16)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "x", True, None])
def test_numbers_of_a_claim_are_finite(number: Any) -> None:
    for make in (
        lambda: Better("a", than="b", by=number),
        lambda: Earns("a", number),
        lambda: Regrets("a", number),
        lambda: Regrets({"a": number}, 0.1),
    ):
        with pytest.raises(NotAClaim, match="finite number"):
            make()


def make_pair(one: tuple[float, float], other: tuple[float, float]) -> BoundTable:
    return BoundTable.from_rows(
        [
            {"X": arm, "lower": low, "upper": high}
            for arm, (low, high) in (("a", one), ("b", other))
        ],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )
