import pytest

from boundit.graph.drawing import GraphDraft
from boundit.graph.text import parse
from boundit.terms.errors import EmptyGraph, HiddenSelection, TwoSelectionNodes, UnknownNode


def test_edges_are_taken_as_written_and_hidden_nodes_folded() -> None:
    drawing = GraphDraft(hidden={"C"})
    drawing.connect("C", "->", "X")
    drawing.connect("Y", "<-", "C")
    drawing.connect("X", "<->", "Z")

    assert drawing.make_graph() == parse("X <-> Y; X <-> Z")


@pytest.mark.parametrize(
    ("drawing", "error"),
    [
        (GraphDraft(), EmptyGraph),
        (GraphDraft(nodes={"A", "B"}, selections={"A", "B"}), TwoSelectionNodes),
        (GraphDraft(nodes={"A", "B"}, selections={"A"}, hidden={"A"}), HiddenSelection),
        (GraphDraft(nodes={"A"}, hidden={"B"}), UnknownNode),
    ],
)
def test_a_drawing_that_is_no_graph_is_refused(
    drawing: GraphDraft, error: type[Exception]
) -> None:
    with pytest.raises(error):
        drawing.make_graph()
