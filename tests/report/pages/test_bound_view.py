from dataclasses import replace

import pytest

from boundit.report.pages.bound_view import (
    MOST_DRAWN,
    Bar,
    count_facts,
    explain_row,
    group_rows,
    list_rules,
    place_bar,
)
from boundit.terms.bound import Bound, Key, RuleRecord
from boundit.terms.bound_table import BoundTable
from tests.paper import FIGURE_2
from tests.report.examples import RULE, large_table, small_table


def test_rows_stand_under_their_context() -> None:
    first, second = group_rows(small_table(), None)

    assert (first.name, second.name) == ("U1=0", "U1=1")
    assert [row.arm for row in first.rows] == [row.arm for row in second.rows]
    assert first.rows[0].lower == "0.100"
    assert second.rows[-1].upper == "0.900"
    assert first.rows[0].n == "1,000"
    assert len({row.id for group in (first, second) for row in group.rows}) == 8


def test_an_arm_is_dominated_where_another_surely_earns_more() -> None:
    first, second = group_rows(small_table(), None)

    assert [row.dominated for row in first.rows] == [False] * 4
    assert [row.dominated for row in second.rows] == [True, True, True, False]


def test_a_row_can_be_found_by_arm_context_and_rule() -> None:
    row = group_rows(small_table(), None)[1].rows[0]

    assert all(word in row.searchable for word in ("x1=0", "u1=1", "conditioning"))


def test_formulas_of_a_small_table_are_typeset_and_of_a_large_one_plain() -> None:
    def whole(table: BoundTable) -> str:
        row = group_rows(table, None)[0].rows[0]
        return "".join(line.html for block in row.explanation for line in block.lines)

    assert "<math" in whole(small_table())
    large = large_table(arms=6)
    assert len(large.bounds) > MOST_DRAWN
    assert "<math" not in whole(large)
    assert str(RULE.claim) in whole(large)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (Bound(0, 1, 0, 1, 1, "a", "a"), Bar(0, 100, 0, 100)),
        (Bound(0.2, 0.4, 0.5, 0.1, 1, "a", "a"), Bar(20, 20, 20, 20)),
        (Bound(0.3, 0.3, 0.3, 0.3, 1, "a", "a"), Bar(30, 0, 30, 0)),
    ],
)
def test_bars_never_leave_their_interval(bound: Bound, expected: Bar) -> None:
    assert place_bar(bound, (0, 1)) == expected


def test_rules_that_gave_an_end_are_shown_with_their_count() -> None:
    table = small_table()
    idle = RuleRecord("idle", "P(Y)")
    (only,) = list_rules(replace(table, rules={**table.rules, "idle": idle}), None)

    assert only.name == RULE.name
    assert only.given == "8 lower and 8 upper ends"
    assert "<munder>" in only.claim


def test_it_is_said_which_rule_each_number_belongs_to() -> None:
    sampled, plug_in = explain_row(small_table()), explain_row(small_table(confidence=None))

    assert "the numbers under “why” are those of that rule" in sampled
    assert "the tightest ends of all rules if the logged shares were exact" in sampled
    assert "thick" not in plug_in
    assert explain_row(replace(small_table(), rules={})) == ""


def test_the_facts_are_counted() -> None:
    assert count_facts(small_table()) == {
        "intervals": "8",
        "say more than the reward's range": "8",
        "median width": "0.300",
        "arms dominated in their context": "3",
    }


def test_on_large_pages_only_the_rules_light_up_paths() -> None:
    table = small_table()
    (row, *_), (rule,) = group_rows(table, FIGURE_2)[0].rows, list_rules(table, FIGURE_2)
    lit = [line for block in row.explanation for line in block.lines if line.highlight]
    bound = table.bounds[(0, 0), (0,)]
    many: dict[Key, Bound] = {((a, b), (0,)): bound for a in range(20) for b in range(11)}
    large = replace(
        table, bounds=many, levels={"X1": tuple(range(20)), "X2": tuple(range(11)), "U1": (0,)}
    )

    assert lit == [rule.steps[0]]
    assert list_rules(large, FIGURE_2)[0].steps == rule.steps
    assert not any(
        line.highlight
        for row in group_rows(large, FIGURE_2)[0].rows
        for block in row.explanation
        for line in block.lines
    )
