import random
from itertools import combinations

import pytest

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.terms.errors import EmptyGraph, HiddenSelection, UnknownNode
from tests.strategies import random_graph, some_of


def test_projection_keeps_every_separation_among_the_observed_and_adds_none() -> None:
    """Every pair, every conditioning set, graphs with arrows, arcs and a selection node."""
    rng = random.Random(5)
    for _ in range(250):
        graph = random_graph(rng, rng.randint(3, 7), arrows=0.3, arcs=0.15, selection=True)
        hidden = some_of(rng, sorted(graph.observed)) or frozenset({"V0"})
        if hidden >= graph.observed:
            continue
        seen = project(graph, hidden)

        assert seen.nodes == graph.nodes - hidden
        for a, b in combinations(sorted(seen.nodes), 2):
            rest = sorted(seen.nodes - {a, b})
            for known in (c for r in range(len(rest) + 1) for c in combinations(rest, r)):
                assert (open_walk(seen, a, b, given=known) is None) == (
                    open_walk(graph, a, b, given=known) is None
                )


def test_projection_keeps_who_causes_whom() -> None:
    rng = random.Random(6)
    for _ in range(200):
        graph = random_graph(rng, 7, arrows=0.3)
        hidden = some_of(rng, sorted(graph.nodes)) - {"V0"}
        seen = project(graph, hidden)

        for node in seen.nodes:
            assert seen.ancestors(node) == graph.ancestors(node) - hidden


def test_the_order_of_hiding_does_not_matter() -> None:
    rng = random.Random(7)
    for _ in range(200):
        graph = random_graph(rng, 7, arrows=0.4)
        first, second = frozenset({"V1", "V4"}), frozenset({"V2", "V5"})

        assert project(project(graph, first), second) == project(graph, first | second)


def test_the_papers_confounder_becomes_a_bidirected_edge() -> None:
    """Figure 2: C1 moves I1 and Y."""
    drawn = parse("X1 -> I1 -> Y; I1 <- C1 -> Y; I1 -> [S]")

    assert str(project(drawn, "C1")) == "I1 -> [S]; I1 -> Y; X1 -> I1; I1 <-> Y"


def test_a_hidden_cause_of_one_variable_alone_vanishes() -> None:
    assert project(parse("H -> X -> Y"), "H") == parse("X -> Y")


def test_what_cannot_be_hidden_is_refused() -> None:
    graph = CausalGraph.of(directed=[("X", "S")], selection="S")

    with pytest.raises(HiddenSelection, match="S is marked both hidden and selection"):
        project(graph, "S")
    with pytest.raises(EmptyGraph, match="every node is hidden"):
        project(graph, "X")
    with pytest.raises(UnknownNode, match="no node 'C'"):
        project(graph, "C")
