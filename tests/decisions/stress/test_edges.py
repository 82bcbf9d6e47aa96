"""Which edges a graph leaves out, and which would change the question."""

import numpy as np
import pytest

from boundit.core.errors import GraphError, HasCycle
from boundit.decisions.stress.edges import add_edges, list_missing, rank_by_place, set_apart
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph

GRAPH = parse("C -> X -> Y; C -> Y; Y -> [S]; Z")
QUERY = parse_query("Y | do(X), C")


@pytest.mark.parametrize("seed", range(8))
def test_every_edge_that_can_be_added_is_listed_once_and_no_other(seed: int) -> None:
    """By trying all: what is not listed is there already, or makes a cycle."""
    graph = draw_graph(4, np.random.default_rng(seed), selection=seed % 2 == 0)
    listed = {(e.one, e.kind, e.other) for e in list_missing(graph)}
    assert len(listed) == len(list(list_missing(graph)))
    for one in graph.nodes:
        for other in graph.nodes - {one}:
            cyclic = one in graph.descendants(other)
            there = (one, other) in graph.directed
            assert ((one, "->", other) in listed) == (not cyclic and not there)
            if one < other:
                assert ((one, "<->", other) in listed) == ((one, other) not in graph.bidirected)


def test_edges_out_of_selection_and_into_the_context_change_the_question() -> None:
    apart = {str(e): set_apart(GRAPH, QUERY, e) for e in list_missing(GRAPH)}

    assert apart["S -> Z"] == "selection says which rows were logged, and has no effects"
    assert apart["Z -> C"] is None
    assert apart["X -> Z"] is None
    later = parse("X -> Z; X -> Y; C -> Y; Y -> [S]")
    found = {str(e): set_apart(later, QUERY, e) for e in list_missing(later)}
    assert found["Z -> C"] == "it would make the context C an effect of the arm"
    assert found["X -> C"] == found["Z -> C"]
    assert found["C <-> X"] is None


def test_what_an_edge_would_mean() -> None:
    words = {str(e): e.words for e in list_missing(GRAPH)}

    assert words["X <-> Y"] == "something unseen moves X and Y"
    assert words["Z -> X"] == "Z acts on X"
    assert words["X -> S"] == "X has a say in which rows were logged"
    assert words["S <-> X"] == "something unseen moves X and which rows were logged"
    assert words["C <-> S"] == "something unseen moves C and which rows were logged"


def test_edges_are_added_together_and_may_not_make_a_cycle() -> None:
    edges = {str(e): e for e in list_missing(GRAPH)}
    grown = add_edges(GRAPH, (edges["X <-> Y"], edges["Z -> S"]))

    assert grown.bidirected == {("X", "Y")}
    assert ("Z", "S") in grown.directed
    assert isinstance(grown, CausalGraph)
    with pytest.raises(HasCycle):
        add_edges(GRAPH, (edges["Z -> C"], edges["Y -> Z"]))
    with pytest.raises(GraphError):
        add_edges(GRAPH, (edges["S -> Z"],))


def test_edges_between_arm_and_reward_come_first() -> None:
    tried = [e for e in list_missing(GRAPH) if set_apart(GRAPH, QUERY, e) is None]
    ranked = sorted(tried, key=lambda e: rank_by_place(GRAPH, QUERY, e))

    assert str(ranked[0]) == "X <-> Y"
    assert {str(e) for e in ranked[1:5]} == {"S <-> X", "S <-> Y", "X -> S", "C <-> X"} | {
        str(e) for e in ranked[1:5]
    } - {"C <-> X"}
    assert ranked[-1].ends & {"Z"}


def test_members_of_a_group_need_no_edges_and_what_leads_into_one_leads_into_all() -> None:
    graph = parse("Z = {A, B}; A -> M -> Y; Z -> Y; W")
    found = [str(edge) for edge in list_missing(graph)]

    assert not {"A -> B", "B -> A", "A <-> B", "M -> A", "M -> B", "W -> B", "B <-> W"} & {
        *found
    }
    assert {"B -> M", "W -> A", "A <-> W", "A <-> M"} <= {*found}
    for edge in list_missing(graph):
        grown = add_edges(graph, [edge])
        assert [group.name for group in grown.groups] == ["Z"]
    assert ("W", "B") in add_edges(
        graph, [e for e in list_missing(graph) if str(e) == "W -> A"]
    ).directed


def test_an_edge_may_join_what_was_called_independent() -> None:
    graph = parse("V = independent {A, B}; V -> Y")
    (edge,) = (each for each in list_missing(graph) if str(each) == "A -> B")

    assert add_edges(graph, [edge]).groups == ()
