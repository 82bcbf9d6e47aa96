"""The smallest cut is compared with all sets of nodes, and with networkx."""

from random import Random

import networkx as nx
import pytest

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.vertex_cut import cut_vertices
from boundit.terms.names import Nodes
from tests.nodes import make_nodes
from tests.strategies import random_graph

NOTHING: Nodes = frozenset()


def augment(graph: CausalGraph) -> "nx.Graph[str]":
    """Join every two nodes among the members and causes of one district."""
    joined: nx.Graph[str] = nx.Graph()
    joined.add_nodes_from(graph.nodes)
    for district in graph.components():
        around = sorted(district | graph.parents(district))
        joined.add_edges_from((a, b) for a in around for b in around if a < b)
    return joined


def test_it_is_as_small_as_the_cut_that_networkx_finds() -> None:
    rng, compared = Random(1), 0
    for _ in range(400):
        graph = random_graph(rng, rng.choice([6, 9, 12]), arrows=0.2, arcs=0.08)
        x, y = rng.sample(sorted(graph.nodes), 2)
        graph = graph.induced(graph.ancestors([x, y]))
        joined = augment(graph)
        if joined.has_edge(x, y):
            continue
        usable = graph.nodes - {x, y}

        found = cut_vertices(graph, make_nodes(x), make_nodes(y), gone=NOTHING, usable=usable)

        assert len(found) == len(nx.minimum_node_cut(joined, x, y))
        joined.remove_nodes_from(found)
        assert not nx.has_path(joined, x, y)
        compared += bool(found)
    assert compared > 50


def test_what_is_given_already_costs_nothing_and_stays_a_hub() -> None:
    """A collider that is given joins its causes."""
    graph = CausalGraph.of(
        directed=[("X", "C"), ("A", "C"), ("A", "Y"), ("X", "B"), ("B", "Y")]
    )
    ends = make_nodes("X"), make_nodes("Y")

    found = cut_vertices(graph, *ends, gone=make_nodes("C"), usable=make_nodes("A", "B"))

    assert found == make_nodes("A", "B")


@pytest.mark.parametrize(("one", "other", "near"), [("X", "Y", "A"), ("Y", "X", "C")])
def test_of_equal_cuts_it_is_the_nearest(one: str, other: str, near: str) -> None:
    graph = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "C"), ("C", "Y")])
    usable = make_nodes("A", "B", "C")

    found = cut_vertices(graph, make_nodes(one), make_nodes(other), gone=NOTHING, usable=usable)

    assert found == make_nodes(near)
