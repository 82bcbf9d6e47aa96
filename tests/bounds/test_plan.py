from dataclasses import replace

from boundit.bounds.plan import MOST_TABLES, BoundPlan, paper_plan, sound_plan
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.names import make_nodes
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def names(plan: BoundPlan) -> list[str]:
    return [candidate.rule.name for candidate in plan.candidates]


def test_the_sound_plan_of_figure_2_conditions_on_the_mediator_or_reweights() -> None:
    plan = sound_plan(FIGURE_2, QUERY, (), max_condition=3, time_limit=None)

    assert names(plan) == ["conditioning on I1", "reweighting of I1", "reweighting of Y"]
    assert plan.candidates[0].needs == {"I1", "U1", "X1", "X2", "Y"}
    assert plan.candidates[0].unknown == 1
    assert plan.notes == ()


def test_the_printed_plan_of_figure_2_is_a_sum_and_no_substitute() -> None:
    plan = paper_plan(FIGURE_2, QUERY, (), max_condition=3)

    assert names(plan) == ["c-component factorization"]
    assert len(plan.notes) == 2


def test_the_printed_plan_reads_the_context_from_a_table_when_it_can() -> None:
    plan = paper_plan(FIGURE_2, QUERY, [make_nodes("U1", "U2")], max_condition=3)

    assert str(plan.candidates[0].rule.claim).endswith("/ P(U1, U2)")
    assert len(plan.notes) == 1


def test_what_fewer_tables_give_is_tried_beside_what_all_give() -> None:
    """So that more information never widens a bound."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; C -> [S]; C -> Y")
    query = parse_query("Y | do(X)")
    tables = [make_nodes("Z"), make_nodes("C"), make_nodes("Z", "C"), make_nodes("X", "Z")]
    limits = {"max_condition": 2, "time_limit": None}
    for k in range(MOST_TABLES):
        few = sound_plan(graph, query, tables[:k], **limits)  # type: ignore[arg-type]
        more = sound_plan(graph, query, tables[: k + 1], **limits)  # type: ignore[arg-type]
        claims = {c.rule.claim for c in more.candidates}
        assert {c.rule.claim for c in few.candidates} <= claims
    turned = sound_plan(graph, query, tables[::-1], **limits)  # type: ignore[arg-type]
    whole = sound_plan(graph, query, tables, **limits)  # type: ignore[arg-type]
    assert names(turned) == names(whole)


def test_rules_of_one_name_are_numbered_and_equal_claims_are_one() -> None:
    one = sound_plan(FIGURE_2, QUERY, (), max_condition=3, time_limit=None).candidates[0]
    other = replace(one, rule=replace(one.rule, claim="another"))

    assert names(BoundPlan.of([one, other, one])) == [
        "conditioning on I1",
        "conditioning on I1 #2",
    ]


def test_without_selection_tables_change_nothing() -> None:
    graph = parse("Z -> X -> Y; Z -> Y")
    query = parse_query("Y | do(X)")
    limits = {"max_condition": 2, "time_limit": None}

    alone = sound_plan(graph, query, (), **limits)  # type: ignore[arg-type]
    beside = sound_plan(graph, query, [make_nodes("Z")], **limits)  # type: ignore[arg-type]
    assert names(alone) == names(beside)


def test_a_spent_time_limit_is_said() -> None:
    plan = sound_plan(FIGURE_2, QUERY, (), max_condition=3, time_limit=0)

    assert plan.candidates == ()
    assert tuple(map(str, plan.notes)) == (
        "the search for rules stopped at time_limit=0 s; what it found holds",
    )


def test_programs_are_tried_only_where_there_is_no_formula() -> None:
    query = parse_query("Y | do(X)")
    limits = {"max_condition": 1, "time_limit": None}

    front_door = sound_plan(parse("X -> M -> Y; X <-> Y"), query, (), **limits)  # type: ignore[arg-type]
    bow = sound_plan(parse("X -> Y; X <-> Y"), query, (), **limits)  # type: ignore[arg-type]

    assert all("natural" not in name for name in names(front_door))
    assert names(bow) == ["natural bounds of X, Y"]
    assert bow.candidates[0].needs == {"X", "Y"}
    assert bow.candidates[0].unknown == 1
