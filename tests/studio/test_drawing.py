import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.errors import BounditError
from boundit.graph.read import parse_graph
from boundit.graph.text import GraphDraft
from boundit.studio.drawing import (
    DrawnFormat,
    draw_draft,
    lay_out_drawing,
    make_draft,
    make_graph,
    make_query,
    read_drawing,
    without_edges,
    write_drawing,
)
from boundit.studio.project import Drawing, DrawnEdge, DrawnNode, Project, ProjectQuery
from tests.graph.test_draft import drafts
from tests.strategies import odd_names
from tests.studio.projects import refused


@given(
    drafts() | drafts(names=odd_names), st.sampled_from(["boundit", "dagitty", "dot", "json"])
)
def test_what_is_drawn_is_what_is_read_back(draft: GraphDraft, to: DrawnFormat) -> None:
    """Hidden nodes, selection and groups are kept in every format."""
    drawing = draw_draft(draft)
    if to == "json" and len(draft.selections) > 1:
        with refused("refused"):
            write_drawing(drawing, to)
        return

    assert read_drawing(write_drawing(drawing, to)).graph == drawing


@given(drafts() | drafts(names=odd_names))
def test_every_format_means_the_graph_that_the_command_line_reads(draft: GraphDraft) -> None:
    drawing = draw_draft(draft)
    try:
        graph = make_graph(drawing)
    except BounditError:
        return
    for to in ("boundit", "dagitty", "dot", "json"):
        assert parse_graph(write_drawing(drawing, to)) == graph


def test_our_own_text_is_kept_with_its_comments_while_it_says_the_same() -> None:
    text = "Y <- X   # why\nhidden U; U -> X"
    read = read_drawing(text)

    assert (read.text, read.graph.text, read.format) == (text, text, "text")
    assert write_drawing(read.graph, "boundit") == text
    assert read.notes == ()


def test_another_format_is_rewritten_and_says_what_is_lost() -> None:
    read = read_drawing(
        'dag { bb="0,0,1,1" X [exposure,pos="-1,0"] Y [outcome,pos="1,0"] X -> Y }'
    )

    assert read.text == "X -> Y\n"
    assert read.positions_given
    assert read.query == ProjectQuery(outcome="Y", treatments=("X",))
    xs = [node.x for node in read.graph.nodes]
    assert xs[0] is not None
    assert xs[1] is not None
    assert xs[1] - xs[0] > 100, "units of dagitty become pixels"
    assert "DAGitty" in read.notes[0]


def test_places_in_pixels_stay_where_they_are() -> None:
    nodes = (DrawnNode(name="X", x=12.5, y=300.0), DrawnNode(name="Y", x=200.0, y=10.0))
    drawing = Drawing(nodes=nodes, edges=(DrawnEdge(tail="X", head="Y"),))

    for to in ("dagitty", "dot"):
        assert read_drawing(write_drawing(drawing, to)).graph == drawing


def test_a_fault_of_the_text_has_line_and_column() -> None:
    with refused("malformed") as caught:
        read_drawing("X -> Y\nX -> -> Z")

    error = caught.value
    assert (error.where, error.line, error.column) == ("text", 2, 6)


def test_a_cycle_can_be_drawn_and_laid_out_but_is_no_graph() -> None:
    drawing = read_drawing("X -> Y -> Z -> X; X -> X").graph

    assert set(lay_out_drawing(drawing).positions) == {"X", "Y", "Z"}
    with refused("refused", "itself"):
        make_graph(drawing)


def test_a_long_chain_is_laid_out_as_a_page_not_as_a_strip() -> None:
    names = [f"Step_{i}" for i in range(60)]
    placed = lay_out_drawing(read_drawing(" -> ".join(names)).graph)
    at = [placed.positions[name] for name in names]
    down = [b.y > a.y for a, b in pairwise(at) if a.x == b.x]

    assert 0.4 < placed.width / placed.height < 2.5
    assert len({(one.x, one.y) for one in at}) == 60
    assert all(down)
    assert len(down) > 45
    assert all(0 < one.x < placed.width and 0 < one.y < placed.height for one in at)


def test_a_layout_has_a_place_for_hidden_nodes_and_none_for_nothing() -> None:
    placed = lay_out_drawing(read_drawing("U -> X -> Y; U -> Y; hidden U; Y -> [S]").graph)

    assert set(placed.positions) == {"U", "X", "Y", "S"}
    assert placed.positions["X"].y < placed.positions["Y"].y
    assert lay_out_drawing(Drawing()).positions == {}


def test_an_edge_can_be_left_out_whichever_way_it_is_written() -> None:
    drawing = read_drawing("X -> Y; X <-> Y; Z -> X").graph
    without = (DrawnEdge(tail="Y", head="X", kind="<->"), DrawnEdge(tail="Z", head="X"))

    left = without_edges(Project(graph=drawing, without_edges=without))
    assert str(make_graph(left)) == "X -> Y; Z"


@pytest.mark.parametrize(
    ("drawing", "where"),
    [
        (Drawing(nodes=(DrawnNode(name="X"), DrawnNode(name="X"))), "graph.nodes[1].name"),
        (Drawing(nodes=(DrawnNode(name=" X"),)), "graph.nodes[0].name"),
        (Drawing(edges=(DrawnEdge(tail="X", head="Y"),)), "graph.edges[0]"),
    ],
)
def test_a_drawing_that_cannot_be_is_refused_with_its_place(
    drawing: Drawing, where: str
) -> None:
    with refused("malformed") as caught:
        make_draft(drawing)

    assert caught.value.where == where


def test_a_picture_has_a_legend_and_roles() -> None:
    drawing = read_drawing("X -> Y; X <-> Y; Y -> [S]").graph
    picture = write_drawing(drawing, "svg", ProjectQuery(outcome="Y", treatments=("X", "no")))

    assert picture.startswith("<svg")
    assert 'class="legend"' in picture
    assert "treatment" in picture


def test_a_picture_keeps_where_nodes_stand() -> None:
    """An effect above its cause stays above it, which no automatic layout would do."""
    places = {"X": (0.0, 300.0), "Y": (40.0, 0.0)}
    nodes = tuple(DrawnNode(name=name, x=x, y=y) for name, (x, y) in places.items())
    placed = Drawing(nodes=nodes, edges=(DrawnEdge(tail="X", head="Y"),))

    heights = re.findall(
        r'class="node".*?<text[^>]* y="([\d.]+)"', write_drawing(placed, "svg")
    )
    assert float(heights[0]) - float(heights[1]) == 300


def test_a_question_says_what_it_lacks() -> None:
    with refused("refused") as caught:
        make_query(Project())
    assert caught.value.where == "query.outcome"
    with refused("refused") as caught:
        make_query(Project(query=ProjectQuery(outcome="Y")))
    assert caught.value.where == "query.treatments"
    with refused("refused", "once"):
        make_query(Project(query=ProjectQuery(outcome="Y", treatments=("Y",))))
    asked = make_query(
        Project(query=ProjectQuery(outcome="Y", treatments=("X",), context=("Z",)))
    )
    assert str(asked) == "P(Y | do(X), Z)"
