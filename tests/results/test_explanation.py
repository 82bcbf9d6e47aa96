from collections.abc import Sequence

import pytest

from boundit.core.formula import Sentence, StepRecord
from boundit.core.message import format_count
from boundit.results.bound import Bound, RuleRecord
from boundit.results.explanation import RANGE, explain_bound
from boundit.results.sampling import EndSampling, HeavyCell, RowSampling

RULES = {
    "by W": RuleRecord(
        "by W", "mu lies between min/max over W of P(Y | W)", (StepRecord("W blocks S"),)
    )
}


def explained(
    bound: Bound,
    *,
    confidence: float | None,
    caveats: Sequence[str],
    complete: bool = True,
) -> str:
    """The explanation of one row as text."""
    question = Sentence.of("mu")
    return str(
        explain_bound(
            question,
            bound,
            RULES,
            confidence=confidence,
            inference="exact" if confidence else None,
            promise="",
            caveats=caveats,
            complete=complete,
        )
    )


def test_both_ends_by_one_rule_are_explained_once() -> None:
    bound = Bound(0.2, 0.4, 0.2, 0.4, 1200, "by W", "by W", ("W=0: 0.2",), ("W=0: 0.2",))

    assert explained(bound, confidence=None, caveats=["take care"]) == (
        "mu lies in [0.2, 0.4].\n"
        "\n"
        "Both ends: by W.\n"
        "  mu lies between min/max over W of P(Y | W)\n"
        "    W=0: 0.2\n"
        "  Why it holds:\n"
        "    - W blocks S\n"
        "\n"
        "Logged for this arm and context: 1,200 rows.\n"
        "\n"
        "Caveats:\n"
        "  - take care"
    )


def test_one_rule_with_numbers_of_its_own_for_each_end_is_claimed_once() -> None:
    bound = Bound(0.2, 0.4, 0.2, 0.4, 1200, "by W", "by W", ("W=0: 0.2",), ("W=1: 0.4",))

    assert explained(bound, confidence=None, caveats=()) == (
        "mu lies in [0.2, 0.4].\n"
        "\n"
        "Both ends: by W.\n"
        "  mu lies between min/max over W of P(Y | W)\n"
        "  Lower end 0.2:\n"
        "    W=0: 0.2\n"
        "  Upper end 0.4:\n"
        "    W=1: 0.4\n"
        "  Why it holds:\n"
        "    - W blocks S\n"
        "\n"
        "Logged for this arm and context: 1,200 rows."
    )


def test_ends_by_different_rules_are_explained_apart_with_their_values() -> None:
    bound = Bound(0.2, 1, 0.2, 1, 0, "by W", RANGE, marks=("never logged",))
    said = explained(bound, confidence=None, caveats=())

    assert "Lower end 0.2: by W." in said
    assert "Upper end 1: the reward's range, no rule says more." in said
    assert said.endswith("0 rows.\n\nCaveats:\n  - never logged")


def test_with_a_confidence_the_width_is_split_into_chance_and_the_rest() -> None:
    bound = Bound(0.1, 0.5, 0.2, 0.4, 10, "by W", "by W")
    said = explained(bound, confidence=0.95, caveats=())

    assert said.startswith("With confidence 0.95, for all rows of the table at once, mu lies")
    assert "Of the width 0.4, about 0.2 is what the graph leaves open" in said


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.3, 0.3, 0.3, 0.3), "The width is 0: the interval is one number"),
        ((0.1, 0.5, 0.3, 0.3), "All of the width 0.4 is sampling error"),
        ((0.1, 0.5, 0.1, 0.5), "All of the width 0.4 is what the graph leaves open"),
    ],
)
def test_a_width_of_nothing_is_said_in_words(
    ends: tuple[float, float, float, float], said: str
) -> None:
    bound = Bound(*ends, 10, "by W", "by W")

    assert said in explained(bound, confidence=0.95, caveats=())


@pytest.mark.parametrize("estimates", [(0.1, 0.5), (0.2, 0.4)])
def test_what_lasts_is_said_to_stay_only_where_the_search_was_complete(
    estimates: tuple[float, float],
) -> None:
    bound = Bound(0.1, 0.5, *estimates, 10, "by W", "by W")

    assert "however many rows" in explained(bound, confidence=0.95, caveats=())
    cut = explained(bound, confidence=0.95, caveats=(), complete=False)
    assert "however many rows" not in cut
    assert "not proved" in cut


def test_a_long_list_of_numbers_is_cut_and_says_so() -> None:
    cells = tuple(f"W={i}: 0" for i in range(20))
    bound = Bound(0, 1, 0, 1, 1, "by W", "by W", cells, cells)

    assert "    and 4 more" in explained(bound, confidence=None, caveats=())


def test_shares_of_an_exact_law_are_no_rows() -> None:
    assert format_count(0.25) == "a share of 0.25 of the rows"
    assert format_count(1) == "1 row"


def test_the_record_holds_facts_and_no_layout() -> None:
    bound = Bound(0.2, 1, 0.2, 1, 5, "by W", RANGE, ("W=0: 0.2",), marks=("rare",))
    found = explain_bound(
        Sentence.of("mu"),
        bound,
        RULES,
        confidence=None,
        inference=None,
        promise="",
        caveats=("take care",),
    )

    lower, upper = found.ends
    assert (lower.end, lower.rule, lower.value) == ("lower", "by W", 0.2)
    assert (lower.claim, lower.steps) == (RULES["by W"].claim, RULES["by W"].steps)
    assert [numbers.cells for numbers in lower.numbers] == [("W=0: 0.2",)]
    assert (upper.rule, upper.claim) == (RANGE, None)
    assert found.caveats == ("rare", "take care")
    assert not found.widths


def test_what_chance_adds_stands_below_the_split_of_the_width() -> None:
    """With the promise of the method."""
    heavy = HeavyCell((("Z", "old"),), rows=12, share=0.6)
    sampling = RowSampling(EndSampling(80, 0, (heavy,)), None)
    bound = Bound(0.2, 0.4, 0.3, 0.3, 9, "by W", "by W", sampling=sampling)
    found = explain_bound(
        Sentence.of("mu"),
        bound,
        RULES,
        confidence=0.9,
        inference="approximate",
        promise="so it is promised",
        caveats=(),
    )

    assert str(found).endswith(
        "for the graph leaves nothing open.\n"
        "  - The lower end is as uncertain as a mean of about 80 rows of equal weight.\n"
        "  - What adds most to its sampling variance: Z='old' (12 rows, 60 %).\n"
        "\n"
        "so it is promised\n"
        "\n"
        "Logged for this arm and context: 9 rows."
    )
