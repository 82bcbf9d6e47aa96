"""One pass a log counts what a plan reads, and the counts outlive the plan."""

from boundit.bounds.assemble import assemble
from boundit.bounds.plan import plan_bounds
from boundit.bounds.plan_counts import count_for
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.read import read_log
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

GRAPH = parse("Z -> X -> Y; Z -> Y; Z -> [S]; Far -> Y")
QUERY = parse_query("Y | do(X)")
ROWS = {
    "Z": [0, 1, 0, 1] * 5,
    "X": [0, 1, 1, 0] * 5,
    "Y": [0, 1, 1, 1] * 5,
    "Far": [0, 0, 1, 1] * 5,
    "Other": [3, 1, 4, 1] * 5,
}


def test_only_what_the_rules_read_is_counted() -> None:
    plan = plan_bounds(GRAPH, QUERY, max_condition=1)
    counts = count_for(plan, read_log(ROWS), domain={"Z": [0, 1, 2]})

    assert set(counts.log.variables) == plan.needs - {"Y"}
    assert counts.log.levels["Z"] == (0, 1, 2)
    assert counts.tables == (counts.log,)
    assert counts.have_binary_reward
    assert not counts.are_exact


def test_an_external_table_is_counted_with_the_same_levels() -> None:
    plan = plan_bounds(GRAPH, QUERY, tables=[frozenset("Z")])
    counts = count_for(plan, read_log(ROWS), [read_log({"Z": [0, 1, 2], "Other": [1, 1, 1]})])

    (table,) = counts.external
    assert table.variables == ("Z",)
    assert table.reward is None
    assert counts.log.levels["Z"] == table.levels["Z"] == (0, 1, 2)


def test_counts_serve_other_confidences_and_facts_without_a_second_pass() -> None:
    first = plan_bounds(GRAPH, QUERY, facts=SelectionFacts(limit=4.0))
    counts = count_for(first, read_log(ROWS))
    widths = []
    for limit in (4.0, 2.0, 1.5):
        plan = plan_bounds(GRAPH, QUERY, facts=SelectionFacts(limit=limit))
        assert plan.needs <= first.needs
        widths.append(assemble(plan, counts)[1, ()].width)
    wide = assemble(first, counts, confidence=0.99)[1, ()]

    assert widths == sorted(widths, reverse=True)
    assert wide.width >= assemble(first, counts, confidence=0.5)[1, ()].width
