import re
from dataclasses import replace

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.report.pages.bound_page import write_bound_page
from boundit.report.records import Ladder
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import NoFusedPlan
from tests.paper import FIGURE_2
from tests.report.examples import CAVEAT, RULE, large_table, naive, small_table, truth_of
from tests.report.pages.test_page import checked

GRAPH = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; X2 -> Y; I1 <-> Y; I1 -> [S]")


def headings(html: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", html)


def test_a_page_tells_what_came_out_why_and_what_to_heed() -> None:
    html = write_bound_page(
        small_table(), graph=GRAPH, command="boundit bound g q l --report o.html"
    )

    checked(html)
    assert headings(html) == [
        "Intervals per context", "Every interval", "Why the bounds hold", "What to heed",
        "What is assumed", "What made this page",
    ]  # fmt: skip
    assert html.count("<details>") == 8
    assert "boundit bound g q l --report o.html" in html
    assert CAVEAT in html
    assert "make it shorter. 95% confidence that all 8 intervals contain the true means" in html


def test_every_row_has_its_explanation() -> None:
    table = small_table()
    text = re.sub(r"<[^>]+>", " ", write_bound_page(table))

    for step in RULE.steps[1:]:
        assert text.count(str(step)) == len(table.bounds) + 1, "in each row, and in the rules"
    assert text.count("Derivation:") == len(table.bounds)


def test_bounds_that_an_expert_wrote_make_a_page_too() -> None:
    rows = [{"Ad": ad, "lower": 0.1, "upper": 0.3} for ad in ("A", "B <b>")]
    table = BoundTable.from_rows(rows, outcome="Click", treatments=["Ad"], outcome_range=(0, 1))
    html = write_bound_page(table)

    checked(html)
    assert headings(html) == ["Intervals per context", "Every interval", "What made this page"]
    assert "The intervals as they were given." in html
    assert "B &lt;b&gt;" in html


def test_what_a_policy_can_count_is_told_where_there_is_a_log() -> None:
    table = replace(small_table(), pooling=NoFusedPlan("Y <- U -> S is open"))
    html = write_bound_page(table)

    checked(html)
    assert "What a policy can count of the log" in headings(html)
    assert "no plan: Y &lt;- U -&gt; S is open" in html


def test_plug_in_ends_are_called_so() -> None:
    assert "plug-in ends" in write_bound_page(small_table(confidence=None))


def test_truth_naive_estimates_and_sensitivity_join_where_given() -> None:
    table = small_table()
    ladders = [Ladder("X1=0", (1, 2), (0.3, 0.2), (0.4, 0.5))]
    html = write_bound_page(
        table, truth=truth_of(table), points=[naive(table)], ladders=ladders
    )

    assert "If selection went no further than a limit G" in html
    assert "CP</li>" in html
    checked(html)


def test_forty_columns_and_thirty_arms_make_a_page_of_bearable_size() -> None:
    html = write_bound_page(large_table())

    assert len(html) < 5_000_000
    assert html.count("<thead>") == 1
    checked(html)


def test_a_page_does_not_grow_with_rows_that_it_does_not_show() -> None:
    some, more = (
        write_bound_page(large_table(arms=70, contexts=n, variables=6)) for n in (30, 60)
    )

    assert len(more) < 1.1 * len(some) < 6_000_000
    assert more.count('<tbody class="row') == some.count('<tbody class="row') == 2000
    checked(more)


def test_a_graph_of_very_many_nodes_is_written_down_instead() -> None:
    graph = CausalGraph.of(directed=[("X1", f"V{i}") for i in range(80)])
    html = write_bound_page(small_table(), graph=graph)

    assert "A graph of 81 nodes, too many to draw" in html
    assert 'class="graph"' not in html


def test_variables_the_graph_lacks_are_no_reason_to_fail() -> None:
    assert 'class="graph"' in write_bound_page(small_table(), graph=parse("A -> B"))


def test_the_question_is_asked_as_it_was_or_as_the_table_answers_it() -> None:
    assert 'alttext="P(Y | do(X1, X2), U1)"' in write_bound_page(small_table())
    for query in ("P(Y | do(X))", "Y | do(X)"):
        assert 'alttext="P(Y | do(X))"' in write_bound_page(small_table(), query=query)


def test_a_marked_row_points_to_its_mark() -> None:
    table = small_table()
    key = next(iter(table.bounds))
    marked = {**table.bounds, key: replace(table.bounds[key], marks=("the ends crossed",))}
    html = write_bound_page(replace(table, bounds=marked))

    assert html.count("see why") == 1
    assert "the ends crossed" in html


def test_steps_name_their_paths_where_the_graph_is_drawn() -> None:
    html = write_bound_page(small_table(), graph=FIGURE_2)
    checked(html)

    assert html.count("<li data-between=") == len(small_table().bounds) + 1
    assert html.count("<script>") == 1
    assert """data-between='[["Y"], ["S"]]'""" in html


def test_without_a_drawn_graph_steps_are_plain_and_nothing_is_scripted() -> None:
    wide = CausalGraph.of([*FIGURE_2.nodes, *(f"V{i}" for i in range(60))], selection="S")

    for html in (write_bound_page(small_table()), write_bound_page(small_table(), graph=wide)):
        assert "<li data-between=" not in html
        assert "<script>" not in html


def test_a_graph_without_the_names_of_a_step_lights_up_nothing() -> None:
    html = write_bound_page(small_table(), graph=parse("X1 -> Y; X2 -> Y; U1 -> Y"))

    assert "<li data-between=" not in html
    assert "<script>" not in html
