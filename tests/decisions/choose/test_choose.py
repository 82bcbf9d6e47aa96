"""What to use in each context of a table, and what is promised of it."""

import re
from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.core.interval import Interval
from boundit.decisions.choose.choose import NoChoice, choose
from boundit.decisions.choose.mean_set import DROPPED
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable

A, B, C = ("A",), ("B",), ("C",)


def make_table(*ends: tuple[float, float]) -> BoundTable:
    """Make a table of arms A, B, ... without a context."""
    return BoundTable.from_rows(
        [
            {"Ad": name, "lower": low, "upper": high}
            for name, (low, high) in zip("ABCDE", ends, strict=False)
        ],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )


def test_two_arms_are_mixed_as_manski_does() -> None:
    """(.5 - .3) and (.9 - .1), so B four times as often; the regret is .2 * .8 / 1."""
    found = make_table((0.1, 0.5), (0.3, 0.9)).choose()[()]

    assert found.lottery == pytest.approx({A: 0.2, B: 0.8})
    assert found.regret == pytest.approx(0.16)
    assert found.arm is None
    assert (found.single, found.single_against) == (B, A)
    assert found.single_regret == pytest.approx(0.2)
    assert found.floor == pytest.approx(0.2 * 0.1 + 0.8 * 0.3)


def test_without_a_lottery_one_arm_is_used() -> None:
    found = make_table((0.1, 0.5), (0.3, 0.9)).choose(lottery=False)[()]

    assert (found.lottery, found.arm) == ({B: 1.0}, B)
    assert found.regret == pytest.approx(0.2)
    assert found.against == A


def test_an_arm_that_surely_loses_is_out_with_the_one_that_beats_it() -> None:
    found = make_table((0.1, 0.2), (0.3, 0.6), (0.25, 0.5)).choose()[()]

    assert found.ruled_out == {A: B}
    assert A not in found.lottery


def test_maximin_goes_by_what_is_sure() -> None:
    found = make_table((0.2, 0.9), (0.3, 0.4)).choose("maximin")[()]

    assert found.arm == B
    assert found.floor == pytest.approx(0.3)
    assert found.regret == pytest.approx(0.6)


def test_maximin_looks_at_closed_ends() -> None:
    """A earns .3 more than B at least, which earns .2 at least: A .5, more than C's .4."""
    table = replace(
        make_table((0.1, 0.9), (0.2, 0.6), (0.4, 0.8)), contrasts={((), B, A): -0.3}
    )

    assert table.choose("maximin")[()].arm == A
    assert make_table((0.1, 0.9), (0.2, 0.6), (0.4, 0.8)).choose("maximin")[()].arm == C


@pytest.mark.parametrize(("optimism", "arm"), [(0.0, B), (0.1, B), (0.2, A), (1.0, A)])
def test_optimism_weighs_the_ends(optimism: float, arm: tuple[str]) -> None:
    """.2 + .7 h against .3 + .1 h: they meet at one sixth."""
    table = make_table((0.2, 0.9), (0.3, 0.4))

    assert table.choose("optimism", optimism=optimism)[()].arm == arm


def test_arms_that_do_as_well_are_said() -> None:
    found = make_table((0.2, 0.4), (0.2, 0.4), (0.1, 0.3)).choose("maximin")[()]

    assert (found.arm, found.ties) == (A, (B,))


def test_one_shared_unknown_can_settle_what_intervals_cannot() -> None:
    apart = make_table((0.1, 0.5), (0.3, 0.9))
    found = replace(apart, contrasts={((), A, B): -0.05}).choose()[()]

    assert (found.arm, found.regret, found.ruled_out) == (B, 0.0, {A: B})
    assert found.by_differences
    assert not apart.choose()[()].by_differences


def test_differences_and_the_intervals_beside_them_are_chosen_by_at_the_stated_confidence() -> (
    None
):
    """Closed, A has a mean of .35 at least by way of B."""
    table = replace(
        make_table((0.1, 0.9), (0.3, 0.9)), contrasts={((), B, A): -0.05}, confidence=0.95
    )
    wider = dict[Key, Interval]()
    wider[A, ()], wider[B, ()] = Interval(0.05, 0.95), Interval(0.2, 0.95)

    assert table.choose()[()].floor == pytest.approx(0.35)
    assert table.choose()[()].ruled_out == {B: A}
    assert table.choose().sure == "confidence 0.95 for all contexts at once"
    assert replace(table, compared=wider).choose()[()].floor == pytest.approx(0.25)


def test_what_contradicts_itself_without_a_confidence_is_marked() -> None:
    table = replace(make_table((0.1, 0.5), (0.3, 0.9)), contrasts={((), B, A): -0.5})

    found = table.choose()

    assert found[()].marks == (DROPPED,)
    assert DROPPED in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "minimax"}, "rule must be one of 'minimax-regret', 'maximin', 'optimism'"),
        ({"rule": "optimism"}, "needs a number from 0"),
        ({"rule": "optimism", "optimism": 1.5}, "found 1.5"),
        ({"rule": "optimism", "optimism": float("nan")}, "found nan"),
        ({"rule": "optimism", "optimism": True}, "found True"),
        ({"optimism": 0.5}, "has a meaning with rule='optimism' only"),
    ],
)
def test_a_way_to_choose_that_is_none_is_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(NoChoice, match=message):
        choose(make_table((0, 1), (0, 1)), **options)  # type: ignore[arg-type]


def test_a_table_without_rows_has_nothing_to_choose() -> None:
    with pytest.raises(NoChoice, match="no rows"):
        choose(make_table())


def test_the_paper_s_world_is_decided_and_the_truth_keeps_the_promise() -> None:
    world = bd.simulation.paper_environment()
    table = bd.derive_bounds(world.graph, world.query, world.log(1000, seed=1))

    for found in table.choose().values():
        means = np.array([world.mean(arm, found.context) for arm in table.arms])
        chances = np.array([found.lottery.get(arm, 0.0) for arm in table.arms])
        assert means.max() - chances @ means <= found.regret


def test_an_arm_is_not_ruled_out_by_rounding() -> None:
    table = BoundTable.from_rows(
        [
            {"X": "a", "lower": 0.3, "upper": 0.3},
            {"X": "b", "lower": 0.1 + 0.2, "upper": 0.1 + 0.2},
        ],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )

    assert not choose(table).choices[()].ruled_out


def test_arms_are_chosen_by_a_table_of_bounds() -> None:
    with pytest.raises(NoChoice, match="by a BoundTable, found int"):
        choose(5)  # type: ignore[arg-type]


def test_a_lottery_over_many_arms_is_said_in_a_few_words() -> None:
    ends = {f"a{i}": (0.1 + 0.001 * i, 0.6 + 0.001 * i) for i in range(40)}
    table = BoundTable.from_rows(
        [{"Ad": name, "lower": low, "upper": high} for name, (low, high) in ends.items()],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )
    choice = table.choose()
    found, (row,) = choice[()], choice.rows()

    assert len(found.lottery) == 32
    assert found.says.count("with chance") == 6
    assert "and one of 27 more with chance 0." in found.says
    assert max(map(len, str(choice).splitlines()[:2])) < 120
    assert str(row["use"]).count(",") == 31


def test_no_words_of_offline_answers_claim_that_more_is_better() -> None:
    """The reward may be a heart attack: what is highest is said, and nobody told to use it."""
    table = BoundTable.from_rows(
        [{"Smoking": 0, "Age": age, "lower": 0.1, "upper": 0.2} for age in ("old", "young")]
        + [
            {"Smoking": 1, "Age": "old", "lower": 0.3, "upper": 0.5},
            {"Smoking": 1, "Age": "young", "lower": 0.15, "upper": 0.5},
        ],
        outcome="Attack",
        treatments=["Smoking"],
        context=["Age"],
        outcome_range=(0, 1),
    )
    choice = table.choose()
    said = [str(choice), str(table.choose("maximin"))]
    said += [str(table.choose("optimism", optimism=0.5))]
    advice = re.compile(r"\b(use|best|better|earns?|worth|wins?|beats?)\b", re.IGNORECASE)

    assert [advice.findall(text) for text in said] == [[]] * len(said)
    assert "Highest mean of Attack: Smoking=1, whatever is true." in said[0]


def test_with_less_being_better_choices_turn_and_numbers_stay() -> None:
    """The choice of the outcome's complement where more is better."""
    turned = replace(make_table((0.1, 0.5), (0.3, 0.9), (0.85, 0.95)), goal="min")
    mirrored = make_table((0.5, 0.9), (0.1, 0.7), (0.05, 0.15))
    found, expected = turned.choose()[()], mirrored.choose()[()]

    assert found.lottery == pytest.approx(expected.lottery)
    assert found.regret == pytest.approx(expected.regret)
    assert found.floor == pytest.approx(1 - expected.floor)
    assert turned.ruled_out() == mirrored.ruled_out() == {("C",): ("A",)}
    assert turned.choose(goal="max")[()].single == ("C",)
    assert turned["A", ()] == bd.Interval(0.1, 0.5)
    assert "lowest mean" in found.says
    assert "higher" not in found.says
    assert "lower" in str(turned.explain("C"))
    assert not bd.compare(turned, "C", "A")
    assert bd.compare(turned, "A", "C")


def test_a_goal_is_max_or_min() -> None:
    with pytest.raises(bd.BounditError, match=r"goal must be 'max' or 'min', found 'less'"):
        make_table((0.1, 0.5), (0.3, 0.9)).choose(goal="less")  # type: ignore[arg-type]
