"""Why an interval is what it is: rules, data, derivation and width."""

import pytest

from boundit.core.formula import Sentence, StepRecord
from boundit.core.message import format_count
from boundit.results.bound import Bound, RuleRecord
from boundit.results.explanation import RANGE, Explanation, find_reasons

RULES = {
    "by W": RuleRecord(
        "by W", "mu lies between min/max over W of P(Y | W)", (StepRecord("W blocks S"),)
    )
}
CELLS = ("mean Y with W=0 0.200 (700 rows)", "mean Y with W=1 0.400 (500 rows)")


def explain(
    bound: Bound, *, confidence: float | None = None, complete: bool = True
) -> Explanation:
    reasons = find_reasons(bound, RULES)
    return Explanation(Sentence.of("mu"), bound, reasons, (0, 1), confidence, complete)


def test_a_rule_of_both_bounds_is_explained_once() -> None:
    bound = Bound(0.2, 0.4, 0.2, 0.4, 1200, "by W", "by W", CELLS, CELLS, marks=("take care",))

    assert str(explain(bound)) == (
        "mu lies in [0.200, 0.400]\n"
        "  rule        by W (both bounds)\n"
        "  formula     mu lies between min/max over W of P(Y | W)\n"
        "  data        mean Y with W=0 0.200 (700 rows), with W=1 0.400 (500 rows)\n"
        "  derivation  W blocks S.\n"
        "  width       0.200\n"
        "  note        take care"
    )


def test_bounds_with_data_of_their_own_share_formula_and_derivation() -> None:
    bound = Bound(0.2, 0.4, 0.2, 0.4, 1200, "by W", "by W", CELLS[:1], CELLS[1:])
    said = str(explain(bound))

    assert "rule         by W (both bounds)" in said
    assert "data, lower  mean Y with W=0 0.200" in said
    assert "data, upper  mean Y with W=1 0.400" in said
    assert said.count("W blocks S") == said.count("min/max") == 1


def test_bounds_by_different_rules_are_named_apart() -> None:
    bound = Bound(0.2, 1, 0.2, 1, 0, "by W", RANGE, CELLS)

    assert "by W (lower bound); whole range (upper bound)" in str(explain(bound))


@pytest.mark.parametrize(
    ("ends", "complete", "said"),
    [
        (
            (0.1, 0.5, 0.2, 0.4),
            True,
            "0.400: identified set [0.200, 0.400] 0.200, sampling error",
        ),
        ((0.1, 0.5, 0.2, 0.4), False, "0.400: the rules tried leave [0.200, 0.400] 0.200, "),
        ((0.1, 0.5, 0.3, 0.3), True, "0.400, all of it sampling error; the estimate is 0.300"),
        (
            (0.1, 0.5, 0.0, 0.9),
            True,
            "identified set [0.100, 0.500] 0.400, sampling error 0.000",
        ),
    ],
)
def test_a_width_says_what_more_rows_would_take_away(
    ends: tuple[float, float, float, float], complete: bool, said: str
) -> None:
    bound = Bound(*ends, 10, "by W", "by W")

    assert said in explain(bound, confidence=0.95, complete=complete).width


def test_a_long_list_of_numbers_is_cut_and_says_so() -> None:
    cells = tuple(f"W={i}: 0" for i in range(20))
    bound = Bound(0, 1, 0, 1, 1, "by W", "by W", cells, cells)

    assert "W=15: 0; 4 more" in str(explain(bound))


def test_shares_of_an_exact_distribution_are_not_rows() -> None:
    assert format_count(0.25) == "a share of 0.25 of the rows"
    assert format_count(1) == "1 row"


def test_the_record_holds_what_the_text_says() -> None:
    bound = Bound(0.2, 1, 0.2, 1, 5, "by W", RANGE, CELLS[:1], marks=("rare",), unadjusted=0.5)
    found = explain(bound).record()

    assert (found["lower"], found["upper"], found["unadjusted"], found["rows"]) == (
        0.2,
        1,
        0.5,
        5,
    )
    assert found["rule"] == ["by W (lower bound)", "whole range (upper bound)"]
    assert found["data, lower"] == [CELLS[0]]
    assert found["note"] == ["rare"]
