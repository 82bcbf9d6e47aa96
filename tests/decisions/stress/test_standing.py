"""What a table says to do, and what another no longer says."""

from boundit.decisions.stress.standing import (
    compare_standings,
    find_standing,
    list_widened,
    measure_widths,
)
from boundit.results.bound_table import BoundTable

A, B = ("A",), ("B",)


def make_table(*ends: tuple[float, float]) -> BoundTable:
    """A table of arms A and B in contexts 0, 1, ...; two intervals a context."""
    return BoundTable.from_rows(
        [
            {"Ad": "AB"[i % 2], "C": i // 2, "lower": low, "upper": high}
            for i, (low, high) in enumerate(ends)
        ],
        outcome="Click",
        treatments=["Ad"],
        context=["C"],
        outcome_range=(0, 1),
    )


SURE = make_table((0.1, 0.2), (0.3, 0.4), (0.1, 0.6), (0.3, 0.7))


def test_the_arm_to_use_its_regret_and_what_is_sure() -> None:
    first, second = find_standing(SURE, "minimax-regret", None)

    assert (first.choice, first.sure, round(first.find_regret(A), 9)) == (B, B, 0.3)
    assert (second.choice, second.sure) == (B, None)
    assert round(second.find_regret(B), 9) == 0.3


def test_arms_that_do_equally_well_are_no_choice() -> None:
    (tie,) = find_standing(make_table((0, 1), (0, 1)), "minimax-regret", None)

    assert tie.choice is None
    assert set(tie.chosen) == {A, B}


def test_a_choice_falls_where_another_arm_does_as_well() -> None:
    after = make_table((0.1, 0.35), (0.3, 0.4), (0.0, 1.0), (0.0, 1.0))
    before = find_standing(SURE, "minimax-regret", None)
    change = compare_standings(before, find_standing(after, "minimax-regret", None))

    assert [where for where, _ in change.fallen] == [(1,)]
    assert set(change.fallen[0][1]) == {A, B}
    assert change.lost == ((0,),)
    assert change.regret == 1.0
    assert list_widened(SURE, after) == ((A, (0,)), (A, (1,)), (B, (1,)))


def test_the_same_table_changes_nothing() -> None:
    standing = find_standing(SURE, "maximin", None)
    change = compare_standings(standing, standing)

    assert (change.fallen, change.lost) == ((), ())
    assert list_widened(SURE, SURE) == ()
    assert [round(w, 9) for w in measure_widths(SURE)] == [0.275, 0.5]
