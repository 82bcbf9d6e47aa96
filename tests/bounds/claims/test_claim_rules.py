"""Which rules have claims, and how much of the error is left to boxes."""

import pytest

from boundit.bounds.choose_rules import choose_rules
from boundit.bounds.claims.claim_rules import (
    BOX_SHARE,
    FEW_ROWS,
    RIVAL_SHARE,
    SELECTION_SHARE,
    ClaimPlan,
    find_forms,
    plan_claims,
)
from boundit.bounds.claims.selection.selection_form import SelectionForm
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

MANY = 10_000.0


def plan(graph: str, query: str = "Y | do(X)") -> BoundPlan:
    """Plan the bounds of an effect."""
    return plan_sound(parse(graph), parse_query(query))


def count_levels(planned: BoundPlan, n_levels: int = 8) -> dict[str, int]:
    """Give every variable the same number of levels."""
    return dict.fromkeys(planned.graph.observed, n_levels)


def find(planned: BoundPlan, *, rows: float = MANY, n_levels: int = 8) -> ClaimPlan | None:
    """Plan the claims of a plan."""
    return plan_claims(planned, find_forms(planned), count_levels(planned, n_levels), rows)


def test_rules_that_compute_the_same_sum_are_one_claim() -> None:
    found = find(plan("Z -> X -> Y; Z -> Y"))
    assert found is not None
    assert [rule.planned.record.name for rule in found.rules] == ["exact recovery"]
    assert found.rules[0].is_sum
    assert found.rules[0].reads == {"X"}
    assert found.rules[0].count_cells({"X": 2, "Y": 2, "Z": 5}) == 5


def test_conditioning_alone_is_left_to_boxes() -> None:
    assert find(plan("X -> W -> Y; X -> Y; W -> [S]")) is None


def test_few_rows_in_few_cells_are_left_to_boxes() -> None:
    planned = plan("Z -> X -> Y; Z -> Y")
    assert find(planned, rows=FEW_ROWS - 1, n_levels=2) is None
    assert find(planned, rows=FEW_ROWS, n_levels=2) is not None
    assert find(planned, rows=FEW_ROWS - 1, n_levels=20) is not None


def test_what_is_known_needs_no_rule_with_unknown_laws() -> None:
    found = find(plan("Z -> X -> Y; Z -> Y; W -> Y"))
    assert found is not None
    assert all(not rule.planned.rule.n_unknown for rule in found.rules)


def test_a_context_that_is_not_read_makes_no_claims_of_its_own() -> None:
    found = find(plan("Z -> X -> Y; Z -> Y; C", "Y | do(X), C"))
    assert found is not None
    assert found.rules[0].reads == {"X"}


def test_a_numeric_reward_has_no_programs() -> None:
    planned = plan("W -> Z -> X -> Y; W -> X; W -> Y; X <-> Y")
    found = plan_claims(
        planned, find_forms(planned, numeric=True), count_levels(planned, 2), MANY
    )
    assert found is None
    assert find(planned, n_levels=2) is not None


@pytest.mark.parametrize(
    ("graph", "share"),
    [("Z -> X -> Y; Z -> Y", BOX_SHARE), ("A -> X -> Y; A -> B -> Y; A -> Y; X <-> B", None)],
)
def test_boxes_get_little_unless_a_rule_without_claims_may_win(
    graph: str, share: float | None
) -> None:
    planned = plan(graph)
    found = find(planned)
    assert found is not None
    boxed = choose_rules(planned, count_levels(planned))
    rivals = {p.record.name for p in boxed.rules} & found.unmet.keys()
    expected = share or (RIVAL_SHARE if rivals else BOX_SHARE)
    assert found.share_with(boxed) == expected


def test_a_stated_selection_rate_turns_no_claims_off() -> None:
    graph = parse("A -> X -> Y; A -> B -> Y; A -> Y; B -> [S]")
    facts = SelectionFacts(rate=(0.4, 0.6))
    planned = plan_sound(graph, parse_query("Y | do(X)"), facts=facts)
    assert any(p.rule.reweightings for p in planned.rules)
    without, found = find(plan_sound(graph, parse_query("Y | do(X)"))), find(planned)
    assert without is not None
    assert found is not None
    assert found.names == without.names
    boxed = choose_rules(planned, count_levels(planned))
    assert found.share_with(boxed) == RIVAL_SHARE


def test_boxes_get_most_beside_claims_on_a_reweighted_log() -> None:
    graph = parse("X -> M -> Y; X -> Y; M -> [S]")
    limited = plan_sound(graph, parse_query("Y | do(X)"), facts=SelectionFacts(limit=2.0))
    found = find(limited)
    assert found is not None
    assert any(isinstance(rule.form, SelectionForm) for rule in found.rules)
    assert found.has_multipliers
    assert found.share_with(choose_rules(limited, count_levels(limited))) == SELECTION_SHARE
    numeric = plan_claims(
        limited, find_forms(limited, numeric=True), count_levels(limited), MANY
    )
    assert numeric is None or all(not rule.has_multipliers for rule in numeric.rules)


def test_natural_bounds_make_no_claims_beside_a_better_rule_with_boxes() -> None:
    facts = SelectionFacts(rate=(0.5, 0.5))
    bow = plan_sound(parse("X -> Y; X <-> Y; Y -> [S]"), parse_query("Y | do(X)"), facts=facts)
    assert find(bow) is not None
    graph = parse("Z -> X -> Y; X <-> Y; Y -> [S]")
    assert find(plan_sound(graph, parse_query("Y | do(X)"), facts=facts)) is None


def test_few_cells_under_a_limit_make_no_claims() -> None:
    graph = parse("X -> Y; X -> [S]; Y -> [S]")
    limited = plan_sound(graph, parse_query("Y | do(X)"), facts=SelectionFacts(limit=2.0))
    assert find(limited, n_levels=2) is None


def test_natural_bounds_of_strata_make_no_claims_beside_those_of_all_rows() -> None:
    """Both are the same number, and all rows together are counted at once."""
    instrument = "W -> Z -> X -> Y; W -> X; W -> Y; X <-> Y"
    for graph in (instrument, "Z -> X -> Y; W -> X; W -> Y; X <-> Y"):
        found = find(plan(graph), n_levels=2)
        assert found is not None
        names = [rule.planned.record.name for rule in found.rules]
        assert not any("through" in name and "natural" in name for name in names)
        assert any("through W, then program" in name for name in names)
        assert len(names) == 2
