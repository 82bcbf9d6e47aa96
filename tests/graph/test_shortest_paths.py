"""The listed paths are compared with all simple paths, which networkx walks one by one."""

from random import Random

import networkx as nx
import pytest

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.shortest_paths import list_shortest_paths
from boundit.graph.text import parse
from boundit.terms.errors import UnknownNode
from boundit.terms.names import Nodes
from tests.strategies import random_graph


def list_simple_paths(graph: CausalGraph, start: Nodes, goal: Nodes) -> list[tuple[str, ...]]:
    """All paths between two sets that meet each of them once, shortest first."""
    skeleton = nx.MultiGraph()
    skeleton.add_nodes_from(graph.nodes)
    for a, b in graph.directed:
        skeleton.add_edge(a, b, "arrow")
    for a, b in graph.bidirected:
        skeleton.add_edge(a, b, "<->")
    found = list[tuple[tuple[str, str], ...]]()
    for source in start:
        for target in goal:
            inner = skeleton.subgraph((graph.nodes - start - goal) | {source, target})
            for edges in nx.all_simple_edge_paths(inner, source, target):
                hops = [("", source)]
                for a, b, kind in edges:
                    sign = "->" if (a, b) in graph.directed else "<-"
                    hops.append((kind if kind == "<->" else sign, b))
                found.append(tuple(hops))
    found.sort(key=lambda hops: (len(hops), hops))
    return [tuple(word for hop in hops for word in hop)[1:] for hops in found]


@pytest.mark.parametrize("seed", range(60))
def test_they_are_the_first_of_all_simple_paths(seed: int) -> None:
    rng = Random(seed)
    n = rng.randint(2, 7)
    graph = random_graph(rng, n, arrows=0.4, arcs=0.2, selection=seed % 2 == 0)
    names = sorted(graph.nodes)
    rng.shuffle(names)
    n_start = rng.randint(1, min(2, len(names) - 1))
    start = frozenset(names[:n_start])
    goal = frozenset(names[n_start : n_start + rng.randint(1, 2)])
    every = list_simple_paths(graph, start, goal)

    assert list(list_shortest_paths(graph, start, goal, most=10**6)) == every
    for most in (1, 5):
        assert list(list_shortest_paths(graph, start, goal, most=most)) == every[:most]


def test_an_arrow_and_a_hidden_cause_are_two_paths() -> None:
    assert list_shortest_paths(parse("X -> Y; X <-> Y"), "X", "Y", most=5) == (
        ("X", "->", "Y"),
        ("X", "<->", "Y"),
    )


def test_where_nothing_connects_there_is_none() -> None:
    assert list_shortest_paths(parse("X -> M; Z -> Y"), "X", "Y", most=5) == ()


def test_a_dense_part_that_leads_nowhere_costs_no_time() -> None:
    """Of the simple paths from the bottleneck into the dense part there are more than 10^20."""
    dense = [(f"V{i}", f"V{j}") for j in range(30) for i in range(j)]
    graph = CausalGraph.of(directed=[("X", "B"), ("B", "Y"), ("B", "V0"), *dense])

    assert list_shortest_paths(graph, "X", "Y", most=5) == (("X", "->", "B", "->", "Y"),)


def test_a_name_outside_the_graph_is_refused() -> None:
    with pytest.raises(UnknownNode):
        list_shortest_paths(parse("X -> Y"), "X", "Q", most=5)
