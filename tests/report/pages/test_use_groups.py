"""Contexts with the same answer stand together, and every context stands somewhere."""

import random

import pytest

from boundit.report.pages.use_groups import MOST_NAMED, group_uses, name_arms
from boundit.results.bound_table import BoundTable


def make_table(rows: dict[str, dict[str, tuple[float, float]]]) -> BoundTable:
    """Make a table of ends by context and arm."""
    return BoundTable.from_rows(
        [
            {"Ad": arm, "Age": age, "lower": low, "upper": high}
            for age, arms in rows.items()
            for arm, (low, high) in arms.items()
        ],
        outcome="Click",
        treatments=["Ad"],
        context=["Age"],
        outcome_range=(0, 1),
    )


def test_an_arm_that_is_surely_best_is_known_and_the_others_are_out() -> None:
    table = make_table({"old": {"A": (0.1, 0.2), "B": (0.3, 0.4)}})
    (group,) = group_uses(table, table.choose())

    assert (group.standing, group.use, group.where) == ("known", "Highest: B", ("Age=old",))
    assert (group.cost, group.out) == ("No arm has a higher mean.", "Out: A.")


def test_where_it_is_open_the_arm_that_risks_least_is_named_with_its_price() -> None:
    table = make_table(
        {"old": {"A": (0.1, 0.5), "B": (0.4, 0.7)}, "new": {"A": (0.1, 0.6), "B": (0.4, 0.7)}}
    )
    (group,) = group_uses(table, table.choose())

    assert (group.standing, group.use) == ("open", "B falls least short of the highest")
    assert group.cost == "At worst it is 0.1 to 0.2 below the highest mean."
    assert group.out == ""


def test_arms_between_which_nothing_decides_are_all_named() -> None:
    alike = {"A": (0.2, 0.5), "B": (0.2, 0.5), "C": (0.0, 0.1)}
    blank = {"A": (0.0, 1.0), "B": (0.0, 1.0), "C": (0.0, 1.0)}
    table = make_table({"old": alike, "new": blank})
    groups = {group.where: group for group in group_uses(table, table.choose())}

    assert groups["Age=old",].use == "Any of A and B"
    assert groups["Age=old",].cost == "At worst each of them is 0.3 below the highest mean."
    assert groups["Age=old",].out == "Out: C."
    assert groups["Age=new",].use == "Any of A, B and C"
    assert groups["Age=new",].cost.startswith("Nothing is known of them")


def test_arms_that_are_out_in_some_contexts_are_told_apart() -> None:
    best = {"B": (0.8, 0.9), "A": (0.1, 0.2)}
    table = make_table({"old": best | {"C": (0.1, 0.2)}, "new": best | {"C": (0.1, 0.85)}})
    groups = group_uses(table, table.choose())

    assert {group.out for group in groups} == {"Out: A and C.", "Out: A."}


@pytest.mark.parametrize("seed", range(5))
def test_every_context_is_in_one_group_and_the_known_come_first(seed: int) -> None:
    rng = random.Random(seed)
    rows = {}
    for age in range(40):
        ends = {arm: sorted((rng.random(), rng.random())) for arm in "ABC"}
        rows[str(age)] = {arm: (low, high) for arm, (low, high) in ends.items()}
    table = make_table(rows)
    choice = table.choose()
    groups = group_uses(table, choice)
    named = [name for group in groups for name in group.where]
    known = [name for group in groups if group.standing == "known" for name in group.where]

    assert sorted(named) == sorted(f"Age={age}" for age in rows)
    assert named[: len(known)] == known
    for group in groups:
        for name in group.where:
            one = choice[name.removeprefix("Age=")]
            assert (group.standing == "known") == (one.single_regret < 1e-9)
            assert str(one.single[0]) in group.use


def test_names_that_a_sentence_may_swallow_are_marked() -> None:
    table = make_table({"old": dict.fromkeys(("none", "10% off", "B"), (0, 1))})

    assert name_arms(table, table.arms) == "“none”, “10% off” and B"


def test_of_many_arms_some_are_named_and_long_names_keep_their_ends() -> None:
    long = [f"{'offer of the week ' * 5}{i}" for i in range(9)]
    table = make_table({"old": dict.fromkeys(long, (0, 1))})
    named = name_arms(table, table.arms)

    assert named.endswith(f"and {len(long) - MOST_NAMED + 1} more")
    assert len(named) < 220
    assert "week 2”" in named
