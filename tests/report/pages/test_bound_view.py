from dataclasses import replace

import pytest

from boundit.graph.causal_graph import CausalGraph
from boundit.report.pages.bound_view import (
    Bar,
    ContextGroup,
    count_facts,
    explain_row,
    format_ends,
    group_rows,
    list_rules,
    make_finder,
    place_bar,
)
from boundit.report.text.mathml import draw_line
from boundit.results.bound import Bound, RuleRecord
from boundit.results.bound_table import BoundTable
from tests.paper import FIGURE_2
from tests.report.examples import RULE, small_table


def group_all(table: BoundTable, graph: CausalGraph | None = None) -> tuple[ContextGroup, ...]:
    """All rows, contexts one after another, as a small page has them."""
    keys = sorted(table.bounds, key=lambda key: table.contexts.index(key[1]))
    return group_rows(table, keys, draw_line, make_finder(graph))


def test_rows_stand_under_their_context() -> None:
    first, second = group_all(small_table())

    assert (first.name, second.name) == ("U1=0", "U1=1")
    assert [row.arm for row in first.rows] == [row.arm for row in second.rows]
    assert first.rows[0].lower == "0.100"
    assert second.rows[-1].upper == "0.900"
    assert first.rows[0].n == "1,000"
    assert len({row.id for group in (first, second) for row in group.rows}) == 8


def test_an_arm_is_dominated_where_another_surely_earns_more() -> None:
    first, second = group_all(small_table())

    assert [row.dominated for row in first.rows] == [False] * 4
    assert [row.dominated for row in second.rows] == [True, True, True, False]


def test_a_row_can_be_found_by_arm_context_and_rule() -> None:
    row = group_all(small_table())[1].rows[0]

    assert all(word in row.searchable for word in ("x1=0", "u1=1", "worst case"))


def test_only_the_rows_asked_for_are_written() -> None:
    table = small_table()
    keys = [((0, 0), (1,)), ((1, 1), (1,))]
    (only,) = group_rows(table, keys, str, make_finder(None))

    assert only.name == "U1=1"
    assert [row.arm for row in only.rows] == ["X1=0, X2=0", "X1=1, X2=1"]
    assert [row.id for row in only.rows] == ["row-1", "row-2"]


def test_ends_rules_and_long_names_are_written_as_in_every_row() -> None:
    assert format_ends(small_table(), 0.12345, 1) == ("0.123", "1.000")


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
    assert count_facts(small_table(), 3) == {
        "intervals": "8",
        "say more than the reward's range": "8",
        "median width": "0.300",
        "arms dominated in their context": "3",
    }


def test_steps_light_up_their_paths_in_rows_and_rules() -> None:
    table = small_table()
    (row, *_), (rule,) = group_all(table, FIGURE_2)[0].rows, list_rules(table, FIGURE_2)
    lit = [line for block in row.explanation for line in block.lines if line.highlight]

    assert lit == [rule.steps[0]]
    assert not any(
        line.highlight
        for group in group_all(table)
        for row in group.rows
        for block in row.explanation
        for line in block.lines
    )
