"""Which rules of a plan are tried: by the graph and the levels, never by what was counted."""

from boundit.bounds.choose_rules import (
    MANY_COLUMNS,
    MOST_RULES,
    RANKED_COLUMNS,
    choose_columns,
    choose_rules,
    drop_hopeless,
    keep_smallest,
    keep_stable,
    list_left_out,
    rank_rule,
)
from boundit.bounds.confidence import collect_terms
from boundit.bounds.plan import plan_sound
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.read import read_log
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


def test_with_a_confidence_columns_of_tried_and_ranked_rules_are_counted() -> None:
    plan = plan_sound(SELECTED, QUERY)
    levels = count_two(plan.needs)
    kept = choose_columns(plan, levels, confident=True)

    tried = choose_rules(plan, levels)
    assert tried.needs <= kept.needs
    assert len(kept.needs) <= len(tried.needs) + RANKED_COLUMNS
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


ROWS = {"Z": [0, 1], "X": [0, 1], "M": [0, 1], "Y": [0, 1]}
LEARNED = read_log(ROWS, adaptive=True)


def test_a_log_of_no_learning_policy_keeps_all_rules() -> None:
    assert keep_stable(PLAN, read_log(ROWS)) is PLAN
    # Without selection the log is the population, and no table is read.
    assert keep_stable(PLAN, read_log(ROWS), [LEARNED]) == PLAN


def test_rules_that_read_how_treatments_were_chosen_are_left_out_by_name() -> None:
    confounded = plan_sound(parse("X -> Y; X <-> Y"), QUERY)
    kept = keep_stable(confounded, LEARNED)
    assert kept.rules == ()
    assert [str(note) for note in kept.notes] == [
        "left out, as P(X, Y) changed while the policy learned: 'natural bounds of X, Y'"
    ]
    front = keep_stable(plan_sound(parse("X -> M -> Y; X <-> Y"), QUERY), LEARNED)
    assert front.rules == ()
    assert "as P(X) changed while the policy learned: 'exact recovery'" in str(front.notes[0])


def test_laws_that_no_choice_of_treatments_moves_are_read() -> None:
    for graph in ("Z -> X -> Y; Z -> Y", "Z -> X -> Y; Z -> Y; Z -> [S]", "X -> Y; Z -> Y"):
        plan = plan_sound(parse(graph), QUERY)
        kept = keep_stable(plan, LEARNED)
        assert kept.rules
        for planned in kept.rules:
            for term in collect_terms(planned.rule.formulas):
                assert "X" not in term.of
                assert "Y" not in term.of or "X" in term.given


def test_a_law_of_logged_rows_may_hang_on_the_policy_through_selection() -> None:
    """Z -> [S] <- X: which Z are logged hangs on which X were tried."""
    plan = plan_sound(parse("Z -> Y; X -> Y; Z -> [S]; X -> [S]"), QUERY)
    for planned in keep_stable(plan, LEARNED).rules:
        for term in collect_terms(planned.rule.formulas):
            assert not (term.logged and "Z" in term.of)


def test_adaptive_tables_beside_the_log_count_too() -> None:
    graph = parse("Z -> X -> Y; Z -> Y; X <-> Y; Z -> [S]")
    plan = plan_sound(graph, QUERY, [frozenset({"X", "Z", "Y"})])
    everyone = read_log({name: ROWS[name] for name in "XZY"}, adaptive=True)
    assert keep_stable(plan, read_log(ROWS), [read_log(ROWS)]) is plan
    kept = keep_stable(plan, read_log(ROWS), [everyone])
    assert 0 < len(kept.rules) < len(plan.rules)
    for planned in kept.rules:
        for term in collect_terms(planned.rule.formulas):
            assert term.logged or "X" not in term.of
