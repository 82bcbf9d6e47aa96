"""Policies as users write them."""

import json
from dataclasses import replace

import pytest

import boundit as bd
from boundit.decisions.compare.measured import LOGGED
from boundit.decisions.compare.policies import BadPolicy, ReadPolicy, read_side, write_values
from boundit.results.bound_table import BoundTable
from tests.decisions.compare.tables import make_table


def read(given: object, table: BoundTable | None = None) -> ReadPolicy:
    table = table or make_table()
    found = read_side(given, table, table.contexts, "new")
    assert isinstance(found, ReadPolicy)
    return found


def make_plain_table() -> BoundTable:
    rows = [{"X": x, "lower": 0.1, "upper": 0.3} for x in ("a", "b", "log")]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))


def test_an_arm_is_chosen_in_every_context() -> None:
    for given in ("a", ("a",), {"X": "a"}):
        assert read(given).chances == {(0,): {("a",): 1}, (1,): {("a",): 1}}
    assert str(read("a")) == "always X=a"


def test_contexts_have_arms_or_chances() -> None:
    found = read({0: "a", (1,): {"a": 0.25, ("b",): 0.75}})
    assert found.chances == {(0,): {("a",): 1}, (1,): {("a",): 0.25, ("b",): 0.75}}


def test_without_context_chances_stand_alone() -> None:
    table = make_plain_table()
    found = read({"a": 0.5, "b": 0.5}, table)
    assert found.chances == {(): {("a",): 0.5, ("b",): 0.5}}
    assert read({(): "b"}, table).chances == {(): {("b",): 1}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("z", "has no level 'z'"),
        ({0: "a"}, "nothing of the context C=1"),
        ({0: "a", 1: "b", 2: "a"}, "no level 2"),
        ({0: "a", 1: {"a": 0.5, "b": 0.6}}, "add up to 1.1, not to 1"),
        ({0: "a", 1: {"a": 1.5, "b": -0.5}}, "outside 0 to 1"),
        ({0: "a", 1: {"a": "half", "b": 0.5}}, "no number"),
        ({0: "a", 1: {"a": 0.5, ("a",): 0.5}}, "two chances"),
        ({0: "a", 1: {"a": float("nan"), "b": 1}}, "outside 0 to 1"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_line(given: object, said: str) -> None:
    with pytest.raises(BadPolicy, match=said):
        read(given)


def test_a_fitted_policy_is_asked_and_stays_as_it_is() -> None:
    table = make_table()
    for policy in (bd.TS(prior=table, seed=1), bd.LinUCB(prior=table, explore=0.2)):
        policy.learn(policy.decide({"C": 1}), 1.0)
        before = json.dumps(policy.state())
        found = read(policy, table)
        assert json.dumps(policy.state()) == before
        for chances in found.chances.values():
            assert sum(chances.values()) == pytest.approx(1)
            assert set(chances) <= {("a",), ("b",)}


def test_a_choice_is_a_policy() -> None:
    found = read(make_table().choose())
    assert found.chances[(0,)] == {("b",): 1}
    assert sum(found.chances[(1,)].values()) == pytest.approx(1)
    assert str(found) == "the choice"


def test_a_policy_that_decides_by_numbers_has_no_one_answer_for_a_bin() -> None:
    rows = [
        {"X": x, "C": c, "lower": 0.1, "upper": 0.3}
        for x in ("a", "b")
        for c in ("< 4", ">= 4")
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    binned = replace(table, bins={"C": (4.0,)})
    assert read(bd.UCB(prior=binned), binned).chances
    with pytest.raises(BadPolicy, match="in bins"):
        read(bd.LinUCB(prior=binned), binned)


def test_the_word_log_is_what_the_log_did_unless_it_is_an_arm() -> None:
    table = make_table()
    assert read_side("log", table, table.contexts, "old") is LOGGED
    plain = make_plain_table()
    with pytest.raises(BadPolicy, match=r"bd.LOGGED"):
        read_side("log", plain, plain.contexts, "old")
    assert read(("log",), plain).chances == {(): {("log",): 1}}


def test_values_are_written_with_their_names() -> None:
    assert write_values(("A", "B"), (1, "x")) == "A=1, B=x"


def test_whatever_is_no_arm_is_refused_in_one_line() -> None:
    class Frame:
        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            return "   C  X\n0  0  1\n" * 40

    with pytest.raises(BadPolicy) as caught:
        read(Frame())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
