import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.errors import (
    EmptyGraph,
    GraphError,
    MalformedText,
    OptionError,
    UnknownNode,
)
from boundit.graph.read import draft_graph, write_draft
from boundit.graph.text import GraphDraft, parse
from tests.strategies import odd_names, plain_names


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
        (GraphDraft(nodes={"A", "B"}, selections={"A", "B"}), GraphError),
        (GraphDraft(nodes={"A", "B"}, selections={"A"}, hidden={"A"}), GraphError),
        (GraphDraft(nodes={"A"}, hidden={"B"}), UnknownNode),
    ],
)
def test_a_draft_that_is_no_graph_is_refused(draft: GraphDraft, error: type[Exception]) -> None:
    with pytest.raises(error):
        draft.make_graph()


@pytest.mark.parametrize(
    ("attributes", "hidden"),
    [
        ({"latent": "true"}, True),
        ({"latent": "False"}, False),
        ({"unobserved": 1}, True),
        ({"observed": "no"}, True),
        ({"observed": "yes"}, False),
        ({}, False),
    ],
)
def test_files_have_many_words_for_hidden(attributes: dict[str, object], hidden: bool) -> None:
    draft = GraphDraft()
    draft.mark_nodes({"X": attributes, "S": {"selected": True}, "T": {"selected": "0"}})

    assert draft.hidden == ({"X"} if hidden else set())
    assert draft.selections == {"S"}


places = st.floats(-2000, 2000).map(lambda x: round(x, 1) + 0.0)


@st.composite
def drafts(draw: st.DrawFn, *, names: st.SearchStrategy[str] = plain_names) -> GraphDraft:
    """Draw what a hand may draw: cycles, hidden nodes, groups and two selections included."""
    nodes = draw(st.lists(names, min_size=1, max_size=7, unique=True))
    edges = st.sets(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=12)
    some = st.sets(st.sampled_from(nodes))
    draft = GraphDraft(
        set(nodes),
        directed=draw(edges),
        bidirected={(min(edge), max(edge)) for edge in draw(edges)},
        hidden=draw(some),
        selections=draw(some),
    )
    members = sorted(draw(some) - draft.hidden)
    free = draw(names.filter(lambda name: name not in nodes))
    if members:
        independent = draw(st.booleans())
        draft.add_group(free, members, independent=independent)
        if not independent:  # they are there without being written
            draft.bidirected -= {(a, b) for a in members for b in members if a != b}
    return draft


@given(drafts() | drafts(names=odd_names))
def test_our_text_reads_back_as_the_same_drawing(draft: GraphDraft) -> None:
    kind, read = draft_graph(write_draft(draft, "text"))

    assert kind == "text"
    assert normalize(read) == normalize(draft)


@given(drafts() | drafts(names=odd_names), st.data())
def test_dagitty_and_dot_read_back_with_places(draft: GraphDraft, data: st.DataObject) -> None:
    draft.positions = {node: data.draw(st.tuples(places, places)) for node in draft.nodes}
    for to in ("dagitty", "dot"):
        kind, read = draft_graph(write_draft(draft, to))

        assert kind == to
        assert normalize(read) == normalize(draft)
        assert read.positions == draft.positions


@given(drafts().filter(lambda draft: len(draft.selections) < 2))
def test_json_reads_back_as_the_same_drawing(draft: GraphDraft) -> None:
    _, read = draft_graph(write_draft(draft, "json"))

    assert normalize(read) == normalize(draft)


def test_dagitty_keeps_what_is_asked() -> None:
    _, read = draft_graph('dag { X [exposure, pos="1,2.5"] Y [outcome] X -> Y }')

    assert (read.exposures, read.outcomes, read.positions) == ({"X"}, {"Y"}, {"X": (1, 2.5)})
    _, again = draft_graph(write_draft(read, "dagitty"))
    assert (again.exposures, again.outcomes) == ({"X"}, {"Y"})


def test_an_edge_of_a_group_is_one_of_each_member() -> None:
    _, read = draft_graph("Z = {A, B}; Z -> X; hidden U; U -> X")

    assert read.directed == {("A", "X"), ("B", "X"), ("U", "X")}
    assert read.nodes == {"A", "B", "X", "U"}


def test_a_draft_may_be_no_causal_graph() -> None:
    _, read = draft_graph("X -> Y -> X")

    assert read.directed == {("X", "Y"), ("Y", "X")}


def test_a_fault_has_its_line_and_column() -> None:
    with pytest.raises(MalformedText) as caught:
        draft_graph("X -> Y\nY -> -> Z")

    assert (caught.value.line, caught.value.column) == (2, 6)


def test_another_format_is_refused() -> None:
    with pytest.raises(OptionError):
        write_draft(GraphDraft({"X"}), "png")  # type: ignore[arg-type]


def normalize(draft: GraphDraft) -> tuple[object, ...]:
    """What a drawing says, whichever way round its two-headed edges were written."""
    arcs = {(min(edge), max(edge)) for edge in draft.bidirected}
    return draft.nodes, draft.directed, arcs, draft.hidden, draft.selections, draft.groups
