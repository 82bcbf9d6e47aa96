import sys

import networkx as nx
import pytest
from hypothesis import given

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.nx import from_networkx, to_networkx
from boundit.graph.read import require_graph
from boundit.graph.text import parse
from boundit.terms.errors import InvalidGraph, MissingExtra, NotCausal
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
            "the graph has a cycle: X -> Y -> X; a cause precedes its effect",
        ),
        ("X -> Y", "expected a networkx graph, found str"),
    ],
)
def test_what_has_no_causal_reading_is_refused_in_one_line(
    source: object, message: str
) -> None:
    with pytest.raises(InvalidGraph) as refused:
        from_networkx(source)
    assert str(refused.value) == message


def test_a_missing_networkx_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)

    with pytest.raises(MissingExtra, match=r"pip install 'boundit\[networkx\]'"):
        to_networkx(parse("X -> Y"))


def test_errors_are_ours() -> None:
    assert issubclass(NotCausal, InvalidGraph)
