"""What the search for chains finds, and what it says where a limit cut it."""

from dataclasses import replace

import pytest
from numpy.random import Generator, default_rng

import boundit as bd
from boundit.bounds.chain import Known, Natural
from boundit.bounds.confounding_limits import ConfoundingLimits
from boundit.bounds.search import COUNTED, find_chains
from boundit.bounds.selection_facts import NOTHING_KNOWN
from boundit.core.long_work import TimeBudget
from boundit.core.message import Caveat
from boundit.core.names import sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.random_models import draw_graph, draw_model
from tests.bounds.core import bound, make_run, state_rate
from tests.bounds.exact import questions

GROUP = "X = {a, b, c, d}; X -> t; X -> m; X -> y; t -> m -> y; m <-> y; m -> [S]; X -> [S]"


def draw_grouped(rng: Generator) -> CausalGraph:
    """A graph with a group of causes, a treatment, a mediator and an outcome."""
    nodes = ["X", "t", "m", "y"]
    said = [
        f"X = {{{', '.join('abc'[: int(rng.integers(2, 4))])}}}",
        "t -> m",
        "m -> y",
        "m -> [S]",
    ]
    for i, one in enumerate(nodes):
        for other in nodes[i + 1 :]:
            said += [f"{one} -> {other}"] * (rng.random() < 0.6)
            said += [f"{one} <-> {other}"] * (one != "X" and rng.random() < 0.25)
    return bd.parse_graph("; ".join(said))


def test_sets_beyond_the_limit_are_found_where_nothing_else_is() -> None:
    graph, query = bd.parse_graph(GROUP), bd.parse_query("y | do(t)")
    wide = [rule for rule in find_chains(graph, query).rules if len(rule.links) == 6]
    assert wide
    assert frozenset(wide[0].variables) == frozenset("abcdmy")


def test_a_plan_names_the_limit_that_cut_it() -> None:
    graph, query = bd.parse_graph(GROUP), bd.parse_query("y | do(t)")
    plan = find_chains(graph, query, max_condition=0)
    assert not plan.complete
    named = [note for note in plan.notes if isinstance(note, Caveat)]
    assert [note.option for note in named] == ["max_condition"]
    assert "max_condition=0 of 5 variables" in str(named[0])


def test_a_plan_names_its_counts() -> None:
    graph = draw_graph(16, default_rng(3), selection=True)
    query = bd.parse_query(f"{graph.order[-2]} | do({graph.order[4]})")
    plan = find_chains(graph, query)
    assert plan.complete is not bool(plan.notes)
    again = find_chains(graph, query)
    assert [rule.name for rule in plan.rules] == [rule.name for rule in again.rules]
    cut = find_chains(graph, query, max_condition=16)
    assert COUNTED in cut.notes or any(rule.is_identified for rule in cut.rules)


def test_a_plan_says_that_time_was_over() -> None:
    plan = find_chains(
        bd.parse_graph(GROUP), bd.parse_query("y | do(t)"), budget=TimeBudget(0.0)
    )
    assert not plan.complete
    assert any(isinstance(n, Caveat) and n.option == "time_limit" for n in plan.notes)


@pytest.mark.parametrize("graph", ["t -> y; t <-> y", "w -> t -> y; w -> y"])
def test_a_search_that_no_limit_cut_is_complete(graph: str) -> None:
    plan = find_chains(bd.parse_graph(graph), bd.parse_query("y | do(t)"))
    assert plan.complete
    assert not plan.notes


@pytest.mark.parametrize("seed", range(4))
def test_no_interval_is_wider_than_the_hull_of_single_contexts(seed: int) -> None:
    rng = default_rng(seed)
    graph = draw_grouped(rng)
    model = draw_model(graph, rng, levels=(2,))
    query = bd.parse_query("y | do(t)")
    lower, upper = bound(find_chains(graph, query).rules, make_run(model, query))
    for name in sort_names(graph.observed - graph.descendants("t") - {"t", "y"}):
        finer = replace(query, context=(name,))
        low, high = bound(find_chains(graph, finer).rules, make_run(model, finer))
        assert (lower >= low.min(axis=1) - 1e-9).all()
        assert (upper <= high.max(axis=1) + 1e-9).all()


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_no_interval_is_wider_than_the_hull_of_any_finer_context(
    seed: int, known: bool
) -> None:
    compared = 0
    for asked in questions(25, seed):
        graph, query = asked.model.graph, asked.query
        facts = state_rate(asked.model) if known else NOTHING_KNOWN
        lower, upper = bound(
            find_chains(graph, query, facts=facts).rules, make_run(asked.model, query)
        )
        early = graph.observed - graph.descendants(query.treatments) - {*query.variables}
        for name in sort_names(early):
            finer = replace(query, context=(*query.context, name))
            plan = find_chains(graph, finer, facts=facts)
            low, high = bound(plan.rules, make_run(asked.model, finer))
            assert (lower >= low.min(axis=-1) - 1e-7).all()
            assert (upper <= high.max(axis=-1) + 1e-7).all()
            compared += 1
    assert compared > 10


def test_external_tables_never_widen_an_interval() -> None:
    for asked in questions(15, 3, selection=True):
        query = asked.query
        run = make_run(asked.model, query, asked.tables)
        low, high = bound(find_chains(asked.model.graph, query).rules, run)
        more = find_chains(asked.model.graph, query, asked.tables).rules
        lower, upper = bound(more, run)
        assert (lower >= low - 1e-9).all()
        assert (upper <= high + 1e-9).all()


def test_an_arm_that_became_irrelevant_is_drawn_as_it_came() -> None:
    graph = bd.parse_graph("x -> m -> y; u -> x; u -> y; x <-> y; u -> [S]")
    rules = find_chains(graph, bd.parse_query("y | do(x)")).rules
    drawn = [rule for rule in rules if "x'" in rule.variables]
    assert drawn
    assert all(isinstance(rule.last, Known) and "x" in rule.needs for rule in drawn)


@pytest.mark.parametrize(
    ("graph", "edge", "said"),
    [
        ("X -> Y; X <-> Y", "X <-> Y", "assumes: the unseen cause"),
        (
            "X -> Y; X <-> Z; Z -> Y; Z <-> Y; X <-> Y",
            "Y <-> Z",
            "neither Y nor Z is a treatment",
        ),
        ("X -> Y; X <-> Y; X <- W -> Y", "X <-> Y", "assumes: the unseen cause"),
        ("X -> M -> Y; X <-> Y", "X <-> Y", "has a formula without it"),
    ],
)
def test_a_plan_says_what_became_of_a_limit(graph: str, edge: str, said: str) -> None:
    drawn = bd.parse_graph(graph)
    limits = ConfoundingLimits.from_option({edge: 2}, drawn)
    plan = find_chains(drawn, bd.parse_query("Y | do(X)"), limits=limits)
    assert any(said in str(note) for note in plan.notes)


def test_an_outcome_is_not_among_its_own_covariates() -> None:
    """A limit on the edge to a mediator, with the outcome as its only separator."""
    graph = bd.parse_graph("X -> M -> Y; X <-> M; X <-> Y; Y -> [S]")
    limits = ConfoundingLimits.from_option({"X <-> M": 2, "X <-> Y": 2}, graph)
    for rule in find_chains(graph, bd.parse_query("Y | do(X)"), limits=limits).rules:
        assert "Y" not in rule.variables[:-1]


def test_the_fewest_arms_are_taken_as_they_came() -> None:
    graph = bd.parse_graph("A -> Y; B -> Y; A <-> Y")
    rules = find_chains(graph, bd.parse_query("Y | do(A, B)")).rules
    taken = {rule.last.taken for rule in rules if isinstance(rule.last, Natural)}
    assert taken == {("A",)}
