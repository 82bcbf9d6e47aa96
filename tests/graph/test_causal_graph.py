import random
from itertools import combinations, pairwise, permutations

import networkx as nx
import pytest
from hypothesis import given

from boundit.core.errors import (
    EmptyGraph,
    GraphError,
    HasCycle,
    InvalidName,
    SelectionHasChildren,
    SelfLoop,
    UnknownNode,
)
from boundit.graph.causal_graph import CausalGraph, order_causally, project
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.strategies import graphs, random_graph, some_of

FIGURE_2 = CausalGraph.of(
    directed=[
        ("U1", "X1"),
        ("U1", "Y"),
        ("U2", "X2"),
        ("X2", "Y"),
        ("X1", "I1"),
        ("I1", "Y"),
        ("I1", "S"),
    ],
    bidirected=[("I1", "Y")],
    selection="S",
)


def test_the_papers_graph_has_these_components_and_these_steer_selection() -> None:
    """Figure 2 with C1 hidden."""
    assert FIGURE_2.selecting() == {"U1", "X1", "I1", "S"}
    assert set(FIGURE_2.components()) == {
        frozenset({"I1", "Y"}),
        *(frozenset({n}) for n in ("U1", "U2", "X1", "X2", "S")),
    }


def test_ancestors_of_the_reward_without_the_arms_include_the_mediator() -> None:
    """The worked example below Algorithm 3 leaves I1 out of D (D-1)."""
    untreated = FIGURE_2.induced(FIGURE_2.observed - {"X1", "X2"})

    assert untreated.ancestors({"Y", "U1", "U2"}) == {"Y", "I1", "U1", "U2"}


def test_relatives_agree_with_networkx() -> None:
    rng = random.Random(1)
    for _ in range(300):
        graph = random_graph(rng, rng.randint(1, 8), selection=rng.random() < 0.5)
        twin = nx.DiGraph(list(graph.directed))
        arcs = nx.Graph(list(graph.bidirected))
        for peer in (twin, arcs):
            peer.add_nodes_from(graph.nodes)
        of = some_of(rng, sorted(graph.nodes))

        assert graph.ancestors(of) == of.union(*(nx.ancestors(twin, n) for n in of))
        assert graph.descendants(of) == of.union(*(nx.descendants(twin, n) for n in of))
        assert graph.parents(of) == of.union(*(twin.predecessors(n) for n in of)) - of
        assert set(graph.components()) == set(map(frozenset, nx.connected_components(arcs)))


@given(graphs())
def test_order_puts_causes_first_and_selection_last(graph: CausalGraph) -> None:
    place = {node: i for i, node in enumerate(graph.order)}

    assert set(place) == graph.nodes
    assert all(place[a] < place[b] for a, b in graph.directed)
    assert graph.selection in {None, graph.order[-1]}


@given(graphs())
def test_cuts_take_away_exactly_the_edges_they_name(graph: CausalGraph) -> None:
    """An edge A <-> B points into both, so the overline cuts it and the underline does not."""
    cut = frozenset(sorted(graph.nodes)[::2])
    into, out = graph.without_edges_into(cut), graph.without_edges_out_of(cut)

    assert into.directed == {(a, b) for a, b in graph.directed if b not in cut}
    assert into.bidirected == {(a, b) for a, b in graph.bidirected if not {a, b} & cut}
    assert out.directed == {(a, b) for a, b in graph.directed if a not in cut}
    assert out.bidirected == graph.bidirected
    assert into.nodes == out.nodes == graph.nodes


@given(graphs())
def test_an_induced_graph_keeps_the_edges_inside(graph: CausalGraph) -> None:
    kept = frozenset(sorted(graph.nodes)[1:])
    inside = graph.induced(kept)

    assert inside.nodes == kept
    assert inside.directed == {e for e in graph.directed if kept.issuperset(e)}
    assert inside.bidirected == {e for e in graph.bidirected if kept.issuperset(e)}
    assert inside.selection == (graph.selection if graph.selection in kept else None)


def test_the_direction_of_a_bidirected_edge_does_not_matter() -> None:
    assert CausalGraph.of(bidirected=[("A", "B")]) == CausalGraph.of(bidirected=[("B", "A")])


def test_a_graph_can_be_hashed_and_cannot_be_changed() -> None:
    graph = CausalGraph.of(directed=[("X", "Y")])

    assert {graph: 1}[CausalGraph.of(directed=[("X", "Y")])] == 1
    with pytest.raises(AttributeError):
        graph.selection = "X"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: CausalGraph.of(directed=[("A", "B"), ("B", "C"), ("C", "A"), ("C", "D")]),
            HasCycle,
            "The graph has a cycle (A -> B -> C -> A). Causes precede effects: remove an edge.",
        ),
        (
            lambda: CausalGraph.of(directed=[("A", "A")]),
            SelfLoop,
            "A has an edge to itself. Remove it.",
        ),
        (
            lambda: CausalGraph.of(bidirected=[("A", "A")]),
            SelfLoop,
            "A has an edge to itself. Remove it.",
        ),
        (
            lambda: CausalGraph.of(directed=[("S", "Y")], selection="S"),
            SelectionHasChildren,
            (
                "The selection node S has an edge to Y. "
                "Remove the edge: being logged happens last and causes nothing."
            ),
        ),
        (
            CausalGraph.of,
            EmptyGraph,
            "The graph is empty: it has no nodes. Write at least one edge, as in 'X -> Y'.",
        ),
        (
            lambda: CausalGraph.of(selection="S"),
            EmptyGraph,
            "The graph is empty: it has no observed node. Write at least one edge, as in 'X -> Y'.",
        ),
        (
            lambda: CausalGraph.of(["a\nb"]),
            InvalidName,
            r"'a\nb' cannot name a node. Write printable text without blanks at its ends.",
        ),
        (
            lambda: CausalGraph.of(directed=["XY"]),  # type: ignore[list-item]
            GraphError,
            "an edge is a pair of names such as ('X', 'Y'), found 'XY'",
        ),
        (
            lambda: FIGURE_2.ancestors("X11"),
            UnknownNode,
            "The graph has no node 'X11'. Did you mean 'X1'?",
        ),
        (
            lambda: CausalGraph.of("A").require("Weather"),
            UnknownNode,
            "The graph has no node 'Weather'. It has A.",
        ),
    ],
)
def test_what_cannot_be_a_causal_graph_is_refused_in_one_line(
    build: object, error: type[Exception], message: str
) -> None:
    assert callable(build)
    with pytest.raises(error) as refused:
        build()
    assert str(refused.value) == message


def test_a_named_cycle_is_a_cycle() -> None:
    rng = random.Random(2)
    cycles: list[tuple[str, ...]] = []
    for _ in range(400):
        nodes = [f"V{i}" for i in range(rng.randint(2, 7))]
        edges = [e for e in permutations(nodes, 2) if rng.random() < 0.25]
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            assert CausalGraph.of(nodes, directed=edges).directed == set(edges)
            continue
        with pytest.raises(HasCycle) as refused:
            CausalGraph.of(nodes, directed=edges)
        cycle = refused.value.cycle
        cycles.append(cycle)

        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert set(pairwise(cycle)) <= set(edges)
    assert len(cycles) > 50


def test_long_chains_do_not_exhaust_the_stack() -> None:
    names = [f"V{i}" for i in range(20_000)]
    graph = CausalGraph.of(directed=list(pairwise(names)))

    assert len(graph.ancestors(names[-1])) == len(names)
    with pytest.raises(HasCycle, match=r"V0 -> V1 -> .* \.\.\.\)"):
        CausalGraph.of(directed=[*pairwise(names), (names[-1], names[0])])


def test_ties_go_by_name_and_the_last_comes_last() -> None:
    assert order_causally({"B": [], "A": [], "C": ["S"], "S": []}, last="B") == (
        "A",
        "C",
        "S",
        "B",
    )


def test_nodes_below_a_cycle_are_not_taken_for_it() -> None:
    with pytest.raises(HasCycle) as refused:
        order_causally({"A": ["B"], "B": ["C", "A"], "C": ["D"], "D": []})
    assert refused.value.cycle == ("A", "B", "A")


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

    with pytest.raises(GraphError, match="S is the selection node"):
        project(graph, "S")
    with pytest.raises(EmptyGraph, match="every node is hidden"):
        project(graph, "X")
    with pytest.raises(UnknownNode, match="no node 'C'"):
        project(graph, "C")
