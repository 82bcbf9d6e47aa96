"""A choice as a value: looked up, written as rows, as JSON and as text."""

import json
from dataclasses import replace

import pytest

from boundit.results.bound_table import BoundTable
from boundit.results.choice import MOST_SENTENCES, write_at_least, write_at_most, write_promise
from boundit.results.text import write_arm


def make_table(contexts: int = 2) -> BoundTable:
    """Make a table of two arms in some contexts."""
    return BoundTable.from_rows(
        [
            {"Ad": ad, "Age": age, "lower": low, "upper": high}
            for age in range(contexts)
            for ad, low, high in (("A", 0.1, 0.5), ("B", 0.3, 0.9))
        ],
        outcome="Click",
        treatments=["Ad"],
        context=["Age"],
        outcome_range=(0, 1),
    )


def test_a_context_is_looked_up_as_users_write_it() -> None:
    choice = make_table().choose(randomize=True)

    assert choice[(1,)] is choice[1] is choice[{"Age": 1}]
    assert (list(choice), len(choice)) == ([(0,), (1,)], 2)
    assert (7,) not in choice
    with pytest.raises(KeyError):
        choice[7]


def test_rows_have_the_context_and_what_is_promised() -> None:
    (first, _) = make_table().choose(randomize=True).rows()

    assert list(first) == [
        "Age", "arm", "max_regret", "floor", "single", "single_regret",
    ]  # fmt: skip
    assert (first["arm"], first["single"]) == ("A 0.2, B 0.8", "B")


def test_the_record_is_json_with_the_words() -> None:
    choice = make_table().choose(randomize=True)

    record = json.loads(json.dumps(choice.record()))

    (context, first), _ = record["choices"]
    assert (context, record["rule"]) == ([0], "minimax-regret")
    assert first["probabilities"] == [[["A"], pytest.approx(0.2)], [["B"], pytest.approx(0.8)]]
    assert first["summary"] == choice[0].summary == str(choice[0])


def test_text_is_a_table_and_sentences_for_a_few_contexts() -> None:
    few, many = (
        make_table().choose(randomize=True),
        make_table(MOST_SENTENCES + 1).choose(randomize=True),
    )

    head, line, *_ = str(few).splitlines()
    assert head.split() == [
        "Age",
        "arm",
        "max",
        "regret",
        "without",
        "drawing",
        "its",
        "max",
        "regret",
    ]
    assert line.split() == ["0", "A", "0.2,", "B", "0.8", "0.16", "B", "0.2"]
    assert "Draw with probabilities A 0.2" in str(few)
    assert "Draw with" not in str(many)


def test_it_says_how_sure_it_is() -> None:
    table = make_table()

    assert "without sampling error" in str(table.choose())
    sure = replace(table, confidence=0.9).choose()
    assert "90% confidence that all regrets are valid" in str(sure)


def test_a_promise_is_rounded_up_and_an_arm_named_shortly() -> None:
    assert [write_promise(x) for x in (0.0, 0.1, 0.12301, 5e-5, 12.341)] == [
        "0", "0.1", "0.124", "5e-05", "12.4",
    ]  # fmt: skip
    assert write_promise(float("inf")) == "inf"
    assert write_arm(["X", "Z"], (1, "b")) == "X=1, Z=b"


@pytest.mark.parametrize("number", [0.123456, -0.123456, 1234.56, -3e-7, 0.25, 0.0])
def test_ends_are_rounded_outward_by_little(number: float) -> None:
    low, high = float(write_at_least(number)), float(write_at_most(number))

    assert low - 1e-12 <= number <= high + 1e-12
    assert high - low <= max(1e-3 * abs(number), 1e-12)
