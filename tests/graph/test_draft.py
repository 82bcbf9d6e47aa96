import pytest

from boundit.graph.draft import GraphDraft
from boundit.graph.text import parse
from boundit.terms.errors import EmptyGraph, HiddenSelection, TwoSelectionNodes, UnknownNode


def test_edges_are_taken_as_written_and_hidden_nodes_folded() -> None:
    draft = GraphDraft(hidden={"C"})
    draft.connect("C", "->", "X")
    draft.connect("Y", "<-", "C")
    draft.connect("X", "<->", "Z")

    assert draft.make_graph() == parse("X <-> Y; X <-> Z")


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (GraphDraft(), EmptyGraph),
        (GraphDraft(nodes={"A", "B"}, selections={"A", "B"}), TwoSelectionNodes),
        (GraphDraft(nodes={"A", "B"}, selections={"A"}, hidden={"A"}), HiddenSelection),
        (GraphDraft(nodes={"A"}, hidden={"B"}), UnknownNode),
    ],
)
def test_a_draft_that_is_no_graph_is_refused(draft: GraphDraft, error: type[Exception]) -> None:
    with pytest.raises(error):
        draft.make_graph()
