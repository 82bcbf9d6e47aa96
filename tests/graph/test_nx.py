from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given

from boundit.core.errors import BounditError, GraphError
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import (
    draft_gml,
    from_networkx,
    parse_graph,
    read_graph,
    require_graph,
    to_networkx,
)
from boundit.graph.text import parse
from tests.strategies import graphs, odd_names


@given(graphs() | graphs(names=odd_names))
def test_networkx_gives_back_the_same_graph(graph: CausalGraph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


def test_attributes_say_what_a_directed_graph_cannot() -> None:
    drawn = nx.DiGraph([("C", "X"), ("C", "Y"), ("X", "Y"), ("Y", "S")])
    drawn.nodes["C"]["latent"] = True
    drawn.nodes["S"]["selected"] = 1
    drawn.add_edge("S", "X", bidirected="true")

    assert from_networkx(drawn) == parse("X -> Y -> [S]; X <-> Y; X <-> [S]")


def test_latents_of_pgmpy_and_what_dowhy_did_not_observe_are_hidden() -> None:
    """Both are networkx graphs with marks of their own, or hold one."""

    class Drawn(nx.DiGraph):  # type: ignore[misc]
        latents = frozenset({"U"})

    class Model:
        def __init__(self, graph: object) -> None:
            self._graph = graph

    class Mechanisms:
        def __init__(self, graph: object) -> None:
            self.graph = graph

    edges = [("U", "X"), ("U", "Y"), ("X", "Y")]
    unseen = nx.DiGraph(edges)
    unseen.nodes["U"]["observed"] = "no"
    mixed = nx.MultiDiGraph([("X", "Y"), ("X", "Y", {"type": "bidirected"})])

    for source in (Drawn(edges), Model(Model(unseen)), Mechanisms(unseen), mixed):
        assert require_graph(source) == parse("X -> Y; X <-> Y")


def test_graphs_of_pgmpy_are_read() -> None:
    base = pytest.importorskip("pgmpy.base")
    drawn = base.DAG([("U", "X"), ("U", "Y"), ("X", "Y")], latents={"U"})

    assert require_graph(drawn) == parse("X -> Y; X <-> Y")


def test_graphs_of_dowhy_are_read() -> None:
    room = pytest.importorskip("dowhy.causal_graph")
    drawn = room.CausalGraph(
        "X", "Y", common_cause_names=["A"], observed_node_names=["A", "X", "Y"]
    )

    assert require_graph(drawn) == parse("A -> X -> Y; A -> Y")


def test_an_undirected_graph_may_hold_bidirected_edges() -> None:
    assert from_networkx(nx.Graph([("X", "Y", {"bidirected": True})])) == parse("X <-> Y")


def test_whole_numbers_become_names() -> None:
    assert from_networkx(nx.DiGraph([(0, 1)])) == parse("0 -> 1")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            nx.Graph([("X", "Y")]),
            "edge 'X' - 'Y' has no direction; use a DiGraph, or mark the edge bidirected=True",
        ),
        (
            nx.DiGraph([(1.5, "Y")]),
            "node 1.5 is a float; name nodes with text or integers",
        ),
        (
            nx.DiGraph([(1, "1")]),
            "two nodes have the same name once written down; rename one",
        ),
        (
            nx.DiGraph([("X", "Y"), ("Y", "X")]),
            "The graph has a cycle (X -> Y -> X). Causes precede effects: remove an edge.",
        ),
        ("X -> Y", "expected a networkx graph, found str"),
    ],
)
def test_what_has_no_causal_reading_is_refused_in_one_line(
    source: object, message: str
) -> None:
    with pytest.raises(GraphError) as refused:
        from_networkx(source)
    assert str(refused.value) == message


def test_errors_are_ours() -> None:
    assert issubclass(GraphError, GraphError)


DOWHY = (
    'graph[directed 1 node[ id "X" label "X"] node[ id "Y" label "Y"] '
    'node[ id "U" label "Unobserved Confounders" observed "no"] '
    'edge[source "U" target "X"] edge[source "U" target "Y"] edge[source "X" target "Y"]]'
)


@given(graphs() | graphs(names=odd_names))
def test_what_networkx_writes_is_read(graph: CausalGraph) -> None:
    assert draft_gml("\n".join(nx.generate_gml(to_networkx(graph)))).make_graph() == graph


def test_nodes_that_dowhy_did_not_observe_are_hidden(tmp_path: Path) -> None:
    (tmp_path / "graph.gml").write_text(DOWHY, encoding="utf-8")

    assert read_graph(tmp_path / "graph.gml") == parse("X -> Y; X <-> Y")


def test_gml_is_told_by_how_it_opens() -> None:
    head = '# a comment\nCreator "igraph version 1.3"\nVersion 1\n'

    assert parse_graph(head + DOWHY) == parse("X -> Y; X <-> Y")
    assert parse_graph("A\nB\ngraph\n[S]") == parse("A; B; graph; [S]")


def test_edges_may_come_before_their_nodes_and_positions_are_passed_over() -> None:
    text = """
    graph [ comment "drawn by hand" directed 1 edge [ source 1 target 2 ]
      node [ id 1 label "A &amp; B" graphics [ x 1.5 y -2e3 fill [ r 1 ] ] ]
      node [ id 2 ] edge [ source 1 target 2 bidirected 1 ] ]
    """
    assert draft_gml(text).make_graph() == parse('"A & B" -> 2; "A & B" <-> 2')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
            "has no direction",
        ),
        ("graph [ directed 1 node [ id 1 ] edge [ source 1 target 2 ] ]", "undefined target 2"),
        ("graph [ directed 1 node [ id 1 ] edge [ source 1 ] ]", "has no 'target' attribute"),
        ("graph [ node [ id 1 ] node [ id 1 ] ]", "node id 1 is duplicated"),
        ('graph [ node [ id 1 label "A" ] node [ id 2 label "A" ] ]', "the same label"),
        ("graph [ node [ x 1 ] ]", "has no 'id' attribute"),
        ("graph [ node [ id 1 ]", "expected ']', found EOF"),
        ("graph [\nnode [ id ] ]", "this is not GML"),
        ("Version 1", "contains no graph"),
        ("graph [ node [ id 1 ] ] graph [ node [ id 1 ] ]", "more than one graph"),
        ("graph [ a " + "[ b " * 6_000, "too deep a nesting"),
        ("graph [ node { id 1 ]", "cannot tokenize"),
        ('graph [ node [ id 1 label "X ]', "this is not GML"),
    ],
)
def test_what_is_no_gml_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BounditError) as refused:
        draft_gml(text).make_graph()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
