"""A causal graph as SVG."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from boundit.core.errors import UnknownNode
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.report.drawing import draw_edge, draw_graph, make_curves
from boundit.report.layout import EdgeRoute
from tests.paper import FIGURE_2
from tests.strategies import graphs, odd_names

SVG = "{http://www.w3.org/2000/svg}"


def parts(drawing: str, kind: str) -> list[ET.Element]:
    return [g for g in ET.fromstring(drawing).iter(f"{SVG}g") if g.get("class") == kind]


@given(graphs(names=odd_names, max_nodes=8))
def test_whatever_the_names_are_every_node_and_edge_is_drawn(graph: CausalGraph) -> None:
    drawing = draw_graph(graph)

    titles = [node.findtext(f"{SVG}title") for node in parts(drawing, "node")]
    assert sorted(filter(None, titles)) == sorted(graph.nodes)
    assert len(parts(drawing, "edge")) == len(graph.directed) + len(graph.bidirected)


def test_figure_2_is_drawn_with_its_roles() -> None:
    drawing = draw_graph(FIGURE_2, treatments=["X1", "X2"], context=["U1", "U2"], outcomes="Y")
    (legend,) = parts(drawing, "legend")

    words = [text.text for text in legend.iter(f"{SVG}text")]
    assert words == [
        "treatment", "context", "outcome", "selection", "may cause", "hidden common cause",
    ]  # fmt: skip
    for role in ("treatment", "context", "outcome", "selection"):
        assert f"var(--{role}, #" in drawing
    assert drawing.count("dasharray") == 2, "one edge, and its sample in the legend"


def test_the_legend_explains_only_what_occurs() -> None:
    assert draw_graph(parse("X")).count("<text") == 1
    assert "hidden" not in draw_graph(parse("X -> Y"))


def test_those_who_do_not_see_it_are_told() -> None:
    drawing = ET.fromstring(draw_graph(parse("X -> Y"), title="My graph"))

    assert drawing.get("role") == "img"
    assert drawing.findtext(f"{SVG}title") == "My graph"
    assert drawing.findtext(f"{SVG}desc") == "2 nodes: X, Y. Edges: X -> Y."


def test_a_role_for_a_node_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownNode, match="no node 'Z'"):
        draw_graph(parse("X -> Y"), treatments="Z")


def test_the_same_graph_gives_the_same_drawing() -> None:
    assert draw_graph(FIGURE_2) == draw_graph(FIGURE_2)


def test_an_arrow_is_solid_and_a_hidden_cause_dashed_with_two_heads() -> None:
    points = ((10.0, 0.0), (10.0, 60.0))
    arrow = draw_edge(EdgeRoute(("X", "Y"), False, points))
    hidden = draw_edge(EdgeRoute(("X", "Y"), True, points, side=1))

    assert "dasharray" not in arrow
    assert arrow.count("Z") == 1
    assert "dasharray" in hidden
    assert hidden.count("Z") == 2
    assert "<title>X &lt;-&gt; Y</title>" in hidden


def test_pieces_of_a_way_meet_smoothly() -> None:
    points = ((0.0, 0.0), (30.0, 50.0), (32.0, 84.0), (90.0, 140.0))
    curves = make_curves(EdgeRoute(("X", "Y"), False, points))

    for one, next_one in pairwise(curves):
        assert one[3] == next_one[0]
        into = (one[3][0] - one[2][0]) / (one[3][1] - one[2][1])
        out = (next_one[1][0] - next_one[0][0]) / (next_one[1][1] - next_one[0][1])
        assert abs(into - out) < 1e-9


def test_the_line_stops_before_its_head() -> None:
    drawn = draw_edge(EdgeRoute(("X", "Y"), False, ((0.0, 0.0), (0.0, 60.0))))
    line_end = float(re.findall(r"([\d.]+)\"", drawn)[0])

    assert 50 < line_end < 55
    assert "M0.0 60.0L" in drawn


def test_an_arc_rises_above_its_row() -> None:
    way = EdgeRoute(("X", "Y"), True, ((0.0, 50.0), (300.0, 50.0)), arc=True)
    ((_, first, second, _),) = make_curves(way)

    assert first[1] == second[1] < 50
