"""Sets of nodes on paths are compared with the paths themselves, walked one by one."""

from collections.abc import Iterator
from itertools import combinations, pairwise
from random import Random

import networkx as nx
import pytest

from boundit.core.errors import OverlappingRoles, UnknownNode
from boundit.core.names import Nodes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import (
    find_proper_causal_effects,
    find_proper_causal_nodes,
    list_shortest_paths,
    make_back_door_graph,
)
from boundit.graph.text import parse
from tests.nodes import make_nodes
from tests.strategies import random_graph


def proper_causal_paths(
    graph: CausalGraph, treatments: Nodes, outcomes: Nodes
) -> Iterator[tuple[str, ...]]:
    """Walk forward from every treatment, never through another one."""
    ways: list[tuple[str, ...]] = [(x,) for x in treatments]
    while ways:
        way = ways.pop()
        if way[-1] in outcomes:
            yield way
        ways += [(*way, c) for c in graph.links[way[-1]].children if c not in treatments]


def random_graphs(n: int, seed: int) -> Iterator[tuple[CausalGraph, Nodes, Nodes]]:
    rng = Random(seed)
    for _ in range(n):
        names = [f"V{i}" for i in range(rng.randint(2, 7))]
        pairs = list(combinations(names, 2))
        graph = CausalGraph.of(
            names,
            directed=[p for p in pairs if rng.random() < 0.4],
            bidirected=[p for p in pairs if rng.random() < 0.2],
        )
        rng.shuffle(names)
        cut = rng.randint(1, min(2, len(names) - 1))
        yield graph, frozenset(names[:cut]), frozenset(names[cut : cut + rng.randint(1, 2)])


def test_the_nodes_are_those_of_the_paths() -> None:
    """Definition 2: W, not in X, lying on a proper causal path from X to Y."""
    for graph, treatments, outcomes in random_graphs(1000, seed=1):
        walked = frozenset[str]().union(*proper_causal_paths(graph, treatments, outcomes))

        assert walked - treatments == find_proper_causal_nodes(
            graph, treatments=treatments, outcomes=outcomes
        )


def test_only_the_first_edges_of_the_paths_are_cut() -> None:
    for graph, treatments, outcomes in random_graphs(1000, seed=2):
        first = {way[:2] for way in proper_causal_paths(graph, treatments, outcomes)}
        left = make_back_door_graph(graph, treatments=treatments, outcomes=outcomes)

        assert graph.directed - left.directed == first
        assert left.bidirected == graph.bidirected
        assert not list(proper_causal_paths(left, treatments, outcomes))


def test_effects_of_the_path_that_pass_a_treatment_do_not_count() -> None:
    """Definition 2 (i) speaks of descendants in the graph cut into X."""
    graph = CausalGraph.of(directed=[*pairwise(["X1", "W", "X2", "N"]), ("W", "Y"), ("Y", "D")])

    effects = find_proper_causal_effects(graph, treatments=["X1", "X2"], outcomes="Y")

    assert effects == make_nodes("W", "Y", "D")


def test_long_chains_are_no_trouble() -> None:
    names = [f"V{i}" for i in range(10_000)]
    graph = CausalGraph.of(directed=pairwise(names))

    found = find_proper_causal_nodes(graph, treatments="V0", outcomes="V9999")

    assert found == graph.nodes - {"V0"}


@pytest.mark.parametrize(
    "question", [find_proper_causal_nodes, find_proper_causal_effects, make_back_door_graph]
)
def test_senseless_questions_are_refused(question) -> None:  # type: ignore[no-untyped-def]
    graph = CausalGraph.of(directed=[("X", "Y")])

    with pytest.raises(UnknownNode, match="no node 'Q'"):
        question(graph, treatments="Q", outcomes="Y")
    with pytest.raises(OverlappingRoles, match="'X' is a treatment and an outcome"):
        question(graph, treatments="X", outcomes=["X", "Y"])


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
