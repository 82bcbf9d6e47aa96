"""Which rules of a plan are tried: by the graph and the levels, never by what was counted."""

from boundit.bounds.choose_rules import (
    MANY_COLUMNS,
    MOST_RULES,
    choose_columns,
    choose_rules,
    drop_hopeless,
    keep_smallest,
    list_left_out,
    rank_rule,
)
from boundit.bounds.online import choose_chains
from boundit.bounds.plan import plan_sound
from boundit.counts.formulas.workspace import Workspace
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

GRAPH = parse("Z -> X -> M -> Y; Z -> Y")
QUERY = parse_query("Y | do(X)")
PLAN = plan_sound(GRAPH, QUERY)
# Nothing is known of P(W | do(X)) but what can be learned.
SELECTED = parse("X -> W -> Y; X -> Y; W -> [S]; " + "; ".join(f"A{i} -> Y" for i in range(9)))


def count_two(plan_needs: frozenset[str]) -> dict[str, int]:
    return dict.fromkeys(plan_needs, 2)


def test_the_rules_that_share_an_error_are_those_of_fewest_unknowns_and_cells() -> None:
    levels = count_two(PLAN.needs)
    kept = choose_rules(PLAN, levels)
    ranks = sorted(rank_rule(planned.rule, levels) for planned in PLAN.rules)

    assert [rank_rule(p.rule, levels) for p in kept.rules] == ranks[:MOST_RULES]


def test_a_variable_of_many_levels_makes_its_rules_the_last() -> None:
    levels = count_two(PLAN.needs) | {"M": 1000}
    kept = choose_rules(PLAN, levels)

    assert all("M" not in planned.rule.needs for planned in kept.rules[:1])


def test_with_a_confidence_only_columns_of_tried_and_learned_rules_are_counted() -> None:
    plan = plan_sound(SELECTED, QUERY)
    levels = count_two(plan.needs)
    kept = choose_columns(plan, levels, confident=True)

    tried = choose_rules(plan, levels)
    learned = choose_chains([p.rule for p in plan.rules], {n: [0, 1] for n in levels})
    assert learned
    assert tried.needs.union(*(chain.needs for chain in learned)) == kept.needs
    assert choose_rules(kept, levels) == tried


def test_without_a_confidence_all_rules_are_kept_while_they_need_few_columns() -> None:
    plan = plan_sound(SELECTED, QUERY)
    assert choose_columns(plan, count_two(plan.needs), confident=False) == plan

    wide = parse("; ".join(f"A{i} -> X; A{i} -> Y" for i in range(30)) + "; X -> Y; X <-> Y")
    many = plan_sound(wide, QUERY)
    kept = choose_columns(many, count_two(many.needs), confident=False)
    assert len(kept.needs) <= MANY_COLUMNS or len(kept.rules) == 1


def test_the_smallest_rules_are_those_that_need_the_fewest_columns() -> None:
    (small,) = keep_smallest(PLAN, 1).rules
    assert len(small.rule.needs) == min(len(p.rule.needs) for p in PLAN.rules)
    assert keep_smallest(PLAN, 0).rules == ()
    gone = list_left_out(PLAN, keep_smallest(PLAN, 1))
    assert len(gone) == len(PLAN.rules) - 1
    assert small.record.name not in gone


def test_rules_whose_tables_cannot_fit_are_dropped_and_named() -> None:
    levels = count_two(PLAN.needs) | {"M": 10**6}
    kept = drop_hopeless(PLAN, levels, Workspace(2**24))

    assert kept.rules
    assert all("M" not in planned.rule.needs for planned in kept.rules)
    assert any("memory_limit" in str(note) for note in kept.notes)
    assert drop_hopeless(PLAN, count_two(PLAN.needs), Workspace(2**24)) == PLAN
