"""Effects: a difference by context, its direction, and the average over contexts."""

from dataclasses import replace

import pytest

from boundit.core.interval import Interval
from boundit.results.bound_table import BoundTable
from boundit.results.effect import InvalidShares

ROWS = [
    {"Ad": "no", "Age": "old", "lower": 0.1, "upper": 0.2},
    {"Ad": "yes", "Age": "old", "lower": 0.3, "upper": 0.5},
    {"Ad": "no", "Age": "young", "lower": 0.1, "upper": 0.4},
    {"Ad": "yes", "Age": "young", "lower": 0.2, "upper": 0.5},
]
TABLE = BoundTable.from_rows(
    ROWS, outcome="Click", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
)


def test_an_effect_is_an_interval_for_each_context_and_a_direction() -> None:
    effect = TABLE.effect("yes")

    assert effect.baseline == ("no",)
    assert effect["old"].lower == pytest.approx(0.1)
    assert effect["old"].upper == pytest.approx(0.4)
    assert effect.direction == {"old": "increase", "young": "inconclusive"}
    assert list(effect) == ["old", "young"]
    assert TABLE.effect("no", "yes").direction["old"] == "decrease"
    assert set(TABLE.effects()) == {("yes",)}


def test_the_average_is_for_any_mix_or_for_stated_shares() -> None:
    anyhow = TABLE.effect("yes")
    stated = TABLE.effect("yes", shares={"old": 0.75, "young": 0.25})

    assert anyhow.lower == pytest.approx(-0.2)
    assert anyhow.upper == pytest.approx(0.4)
    assert stated.lower == pytest.approx(0.75 * 0.1 - 0.25 * 0.2)
    with pytest.raises(InvalidShares, match=r"add up to 0\.5"):
        TABLE.effect("yes", shares={"old": 0.5})


def test_a_share_of_a_context_without_rows_may_have_any_effect() -> None:
    rows = [row | {"Sex": "m"} for row in ROWS] + [ROWS[0] | {"Sex": "f"}]
    table = BoundTable.from_rows(
        [row for row in rows if (row["Age"], row["Sex"]) != ("young", "m")],
        outcome="Click",
        treatments=["Ad"],
        context=["Age", "Sex"],
        outcome_range=(0, 1),
    )
    table = replace(table, levels={**table.levels, "Age": ("old", "young")})
    found = table.effect("yes", shares={("old", "m"): 0.5, ("young", "m"): 0.5})

    assert found.lower == pytest.approx(0.5 * 0.1 - 0.5)
    assert found.upper == pytest.approx(0.5 * 0.4 + 0.5)


def test_contrasts_and_the_intervals_beside_them_are_one_statement() -> None:
    old = ("old",)
    compared = {key: Interval(0.0, 0.6) for key in TABLE.intervals}
    shared = replace(TABLE, contrasts={(old, ("yes",), ("no",)): 0.25}, compared=compared)

    assert shared.effect("yes")["old"] == Interval(-0.6, 0.25)
    assert shared["yes", "old"] == TABLE["yes", "old"]
    assert BoundTable.from_record(shared.record()) == shared


def test_contrasts_of_0_2_0_that_hold_one_at_a_time_are_left_out() -> None:
    record = replace(TABLE, confidence=0.95).record()
    record["contrasts"] = [[["old"], ["yes"], ["no"], 0.25]]

    assert not BoundTable.from_record({**record, "joint": False}).contrasts
    assert BoundTable.from_record({**record, "joint": True}).contrasts


def test_an_effect_prints_a_sentence() -> None:
    assert repr(TABLE.effect("yes")) == (
        "<Effect of Ad=yes vs no on Click: old [+0.100, +0.400], young [-0.200, +0.400]; "
        "estimates>"
    )


def test_an_explanation_says_what_subtracting_intervals_would_give() -> None:
    old, yes, no = ("old",), ("yes",), ("no",)
    table = replace(TABLE, contrasts={(old, yes, no): 0.3, (old, no, yes): -0.2})
    shared = table.effect("yes")

    said = shared.explain("old")
    assert said.startswith(
        "Effect of yes compared with no on mean Click, Age=old lies in [+0.200"
    )
    assert "subtracting their intervals would give [+0.100, +0.400]" in said
    assert "E[Click | do(Ad=yes), Age=old]" in said
    assert "difference of the bounds of both arms" in shared.explain_difference(("young",))
