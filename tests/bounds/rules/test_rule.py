"""What every rule says of itself, whatever it rests on."""

import pytest

from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.language.expression import find_variables
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

CASES = (
    ("Z -> X -> Y; Z -> Y", "Y | do(X)"),
    ("X -> M -> Y; X <-> Y; M -> [S]", "Y | do(X)"),
    ("Z -> X -> Y; X <-> Y; X -> [S]", "Y | do(X)"),
    ("C -> X -> Y; C -> Y; X <-> Y; Y -> [S]", "Y | do(X), C"),
)


def planned(graph: str, query: str) -> list[BoundRule]:
    facts = SelectionFacts((0.5, 0.5)) if "[S]" in graph else SelectionFacts()
    plan = plan_bounds(parse(graph), parse_query(query), facts=facts)
    return [each.rule for each in plan.rules]


@pytest.mark.parametrize(("graph", "query"), CASES)
def test_a_rule_needs_what_its_formulas_read_and_what_it_ranges_over(
    graph: str, query: str
) -> None:
    for rule in planned(graph, query):
        read = frozenset[str]().union(*map(find_variables, rule.formulas))
        assert rule.needs == read | rule.range_variables
        assert rule.extremes <= rule.range_variables
        assert not rule.range_variables & {rule.outcome}


@pytest.mark.parametrize(("graph", "query"), CASES)
def test_a_rule_knows_its_question_and_claims_an_answer_to_it(graph: str, query: str) -> None:
    asked = parse_query(query)
    for rule in planned(graph, query):
        assert rule.query == asked
        assert rule.axes == asked.treatments + asked.context
        assert str(rule.write_record().claim).startswith(str(asked))


def test_only_rules_on_a_selected_log_suppose_something_of_selection() -> None:
    assert not any(rule.reweightings for rule in planned(*CASES[0]))
    assert any(law.facts for rule in planned(*CASES[2]) for law in rule.reweightings)
