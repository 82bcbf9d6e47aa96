from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats.gml import parse_gml
from boundit.graph.nx import to_networkx
from boundit.graph.read import parse_graph, read_graph
from boundit.graph.text import parse
from boundit.terms.errors import BounditError
from tests.strategies import graphs, odd_names

DOWHY = (
    'graph[directed 1 node[ id "X" label "X"] node[ id "Y" label "Y"] '
    'node[ id "U" label "Unobserved Confounders" observed "no"] '
    'edge[source "U" target "X"] edge[source "U" target "Y"] edge[source "X" target "Y"]]'
)


@given(graphs() | graphs(names=odd_names))
def test_what_networkx_writes_is_read(graph: CausalGraph) -> None:
    assert parse_gml("\n".join(nx.generate_gml(to_networkx(graph)))) == graph


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
    assert parse_gml(text) == parse('"A & B" -> 2; "A & B" <-> 2')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
            "has no direction",
        ),
        (
            "graph [ directed 1 node [ id 1 ] edge [ source 1 target 2 ] ]",
            "is '2', which is no",
        ),
        ("graph [ directed 1 node [ id 1 ] edge [ source 1 ] ]", "target of this edge is None"),
        ("graph [ node [ id 1 ] node [ id 1 ] ]", "a node before has the id '1'"),
        ("graph [ node [ x 1 ] ]", "neither 'id' nor 'label'"),
        ("graph [ node [ id 1 ]", "expected a key or ']', found the end of the text"),
        ("graph [ node [ id ] ]", "expected a number or a quoted text, found ']'"),
        ("Version 1", "expected 'graph [', found none"),
        ("graph [ node [ id 1 ] ] graph [ node [ id 1 ] ]", "expected one graph"),
        ("graph [ a " + "[ b " * 60, "nested more than 40 deep"),
        ("graph [ node { id 1 ]", "cannot read '{'; GML is made of keys"),
        ('graph [ node [ id 1 label "X ]', "this quote is never closed"),
    ],
)
def test_what_is_no_gml_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BounditError) as refused:
        parse_gml(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
