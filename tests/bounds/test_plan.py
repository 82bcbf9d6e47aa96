from dataclasses import replace
from itertools import chain

import pytest

from boundit.bounds.plan import MOST_TABLES, BoundPlan, plan_bounds, plan_paper, plan_sound
from boundit.bounds.rules.chain import ChainSearch, KnownFormula
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.language.expression import P
from boundit.estimand.query import parse_query
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.terms.long_work import TimeBudget
from tests.bounds.exact import questions
from tests.nodes import make_nodes
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def names(plan: BoundPlan) -> list[str]:
    return [planned.record.name for planned in plan.rules]


def test_the_sound_plan_of_figure_2_conditions_on_the_mediator_or_reweights() -> None:
    plan = plan_sound(FIGURE_2, QUERY, (), max_condition=3)

    assert names(plan) == ["conditioning on I1", "reweighting of I1", "reweighting of Y"]
    assert plan.rules[0].rule.needs == {"I1", "U1", "X1", "X2", "Y"}
    assert plan.rules[0].rule.n_unknown == 1
    assert plan.notes == ()


def test_the_printed_plan_of_figure_2_is_a_sum_and_no_substitute() -> None:
    plan = plan_paper(FIGURE_2, QUERY, (), max_condition=3)

    assert names(plan) == ["c-component factorization"]
    assert len(plan.notes) == 2


def test_the_printed_plan_reads_the_context_from_a_table_when_it_can() -> None:
    plan = plan_paper(FIGURE_2, QUERY, [make_nodes("U1", "U2")], max_condition=3)

    assert str(plan.rules[0].record.claim).endswith("/ P(U1, U2)")
    assert len(plan.notes) == 1


def test_what_fewer_tables_give_is_tried_beside_what_all_give() -> None:
    """So that more information never widens a bound."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; C -> [S]; C -> Y")
    query = parse_query("Y | do(X)")
    tables = [make_nodes("Z"), make_nodes("C"), make_nodes("Z", "C"), make_nodes("X", "Z")]
    limits = {"max_condition": 2}
    for k in range(MOST_TABLES):
        few = plan_sound(graph, query, tables[:k], **limits)  # type: ignore[arg-type]
        more = plan_sound(graph, query, tables[: k + 1], **limits)  # type: ignore[arg-type]
        claims = {p.record.claim for p in more.rules}
        assert {p.record.claim for p in few.rules} <= claims
    turned = plan_sound(graph, query, tables[::-1], **limits)  # type: ignore[arg-type]
    whole = plan_sound(graph, query, tables, **limits)  # type: ignore[arg-type]
    assert names(turned) == names(whole)


def test_rules_of_one_name_are_numbered_and_equal_claims_are_one() -> None:
    one = next(ChainSearch(FIGURE_2, QUERY).find_chains(longest=3))
    other = replace(one, reward=KnownFormula(P(make_nodes("Y")), ()))

    assert names(BoundPlan.of(FIGURE_2, QUERY, "sound", [one, other, one])) == [
        "conditioning on I1",
        "conditioning on I1 #2",
    ]


def test_without_selection_tables_change_nothing() -> None:
    graph = parse("Z -> X -> Y; Z -> Y")
    query = parse_query("Y | do(X)")
    limits = {"max_condition": 2}

    alone = plan_sound(graph, query, (), **limits)  # type: ignore[arg-type]
    beside = plan_sound(graph, query, [make_nodes("Z")], **limits)  # type: ignore[arg-type]
    assert names(alone) == names(beside)


def test_a_spent_time_limit_is_said() -> None:
    plan = plan_sound(FIGURE_2, QUERY, (), max_condition=3, budget=TimeBudget(0))

    assert plan.rules == ()
    assert tuple(map(str, plan.notes)) == (
        "the search for rules stopped at time_limit=0 s; what it found holds",
    )


@pytest.mark.parametrize("limit", [None, 0.0])
def test_a_time_limit_covers_every_kind_of_rule(limit: float | None) -> None:
    """Sums, programs, chains within, reweighted types, natural bounds, where they apply."""
    drawn = (
        "X -> Y; X <-> Y",
        "Z -> X -> Y; Z -> Y",
        "X -> M -> Y; X <-> Y; M -> [S]",
        "Z -> X -> Y; X <-> Y; Y -> [S]",
    )
    found = [
        plan_sound(
            parse(text),
            parse_query("Y | do(X)"),
            budget=TimeBudget(limit),
            facts=SelectionFacts((0.5, 0.5)),
        )
        for text in drawn
    ]

    kinds = {type(planned.rule).__name__ for plan in found for planned in plan.rules}

    assert kinds == (
        set()
        if limit == 0
        else {
            "Chain",
            "Factorization",
            "NestedChain",
            "ReweightedNestedChain",
            "ReweightedTypes",
            "NaturalBounds",
        }
    )


def test_programs_are_tried_only_where_there_is_no_formula() -> None:
    query = parse_query("Y | do(X)")
    limits = {"max_condition": 1}

    front_door = plan_sound(parse("X -> M -> Y; X <-> Y"), query, (), **limits)  # type: ignore[arg-type]
    bow = plan_sound(parse("X -> Y; X <-> Y"), query, (), **limits)  # type: ignore[arg-type]

    assert all("natural" not in name for name in names(front_door))
    assert names(bow) == ["natural bounds of X, Y"]
    assert bow.rules[0].rule.needs == {"X", "Y"}
    assert bow.rules[0].rule.n_unknown == 1


def test_the_profile_says_which_rules_are_planned() -> None:
    assert plan_bounds(FIGURE_2, QUERY).is_sound
    assert not plan_bounds(FIGURE_2, QUERY, profile="paper").is_sound
    assert names(plan_bounds(FIGURE_2, QUERY)) == names(plan_sound(FIGURE_2, QUERY))


def test_a_plan_needs_arms_and_contexts_even_where_no_rule_reads_them() -> None:
    plan = BoundPlan.of(FIGURE_2, QUERY, "sound", ())

    assert plan.needs == {"X1", "X2", "U1", "U2"}


def test_every_separation_that_a_step_names_holds_in_the_graph() -> None:
    named = 0
    for asked in questions(40, 5):
        graph, facts = asked.model.graph, SelectionFacts((0.5, 0.9))
        tables = [frozenset(asked.query.context)] if asked.query.context else []
        plans = (
            plan_sound(
                graph, asked.query, tables, facts=facts if graph.selection else NOTHING_KNOWN
            ),
            plan_paper(graph, asked.query, tables, max_condition=2),
        )
        for planned in chain.from_iterable(plan.rules for plan in plans):
            for step in planned.record.steps:
                if step.between is not None:
                    named += 1
                    cut = graph.without_edges_into(step.into).without_edges_out_of(step.out_of)
                    assert open_walk(cut, *step.between, given=step.given) is None, step
    assert named > 100
