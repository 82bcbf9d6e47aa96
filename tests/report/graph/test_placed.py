"""Drawings that keep the places a person gave."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.report.graph.placed import place_graph
from tests.strategies import graphs


@given(graphs(max_nodes=6), st.data())
def test_nodes_stand_as_far_from_each_other_as_they_were_put(
    graph: CausalGraph, data: st.DataObject
) -> None:
    far = st.integers(-500, 500)
    places = {name: (data.draw(far), data.draw(far)) for name in graph.nodes}
    found = place_graph(graph, places)

    for a, b in combinations(graph.nodes, 2):
        one, other = found.boxes[a], found.boxes[b]
        assert abs((one.x - other.x) - (places[a][0] - places[b][0])) < 1e-6
        assert abs((one.y - other.y) - (places[a][1] - places[b][1])) < 1e-6
    for box in found.boxes.values():
        assert box.x - box.width / 2 > 0
        assert box.top > 0
        assert box.x + box.width / 2 < found.width
        assert box.bottom < found.height
    assert len(found.routes) == len(graph.directed) + len(graph.bidirected)


def test_an_edge_bends_past_a_node_on_its_way() -> None:
    graph = parse("X -> Y; Z -> Y")
    found = place_graph(graph, {"X": (0, 0), "Z": (0, 100), "Y": (0, 200)})

    (past,) = (way for way in found.routes if way.edge == ("X", "Y"))
    assert past.handle is not None
    assert abs(past.handle[0] - found.boxes["Z"].x) > found.boxes["Z"].width / 2


def test_arrow_and_hidden_cause_of_the_same_nodes_part() -> None:
    found = place_graph(parse("X -> Y; X <-> Y"), {"X": (0, 0), "Y": (200, 0)})

    arrow, hidden = sorted(found.routes, key=lambda way: way.bidirected)
    assert arrow.handle is not None
    assert hidden.handle is not None
    assert abs(arrow.handle[1] - hidden.handle[1]) > 30
