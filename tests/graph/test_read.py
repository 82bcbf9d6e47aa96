from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import (
    GraphFormat,
    format_graph,
    parse_graph,
    read_graph,
    require_graph,
)
from boundit.terms.errors import (
    BounditError,
    NotAGraph,
    NotText,
    UnknownFormat,
    UnreadableFile,
)
from tests.strategies import graphs, odd_names

FORMATS: tuple[GraphFormat, ...] = ("text", "dot", "dagitty", "json")


@given(graphs() | graphs(names=odd_names), st.sampled_from(FORMATS))
def test_the_format_is_told_by_the_content(graph: CausalGraph, to: GraphFormat) -> None:
    assert parse_graph(format_graph(graph, to)) == graph


@pytest.mark.parametrize("suffix", [".dot", ".gv", ".txt", ".json", ".dagitty", ""])
@pytest.mark.parametrize("to", FORMATS)
def test_a_suffix_that_lies_does_no_harm(tmp_path: Path, suffix: str, to: GraphFormat) -> None:
    graph = parse_graph("X -> Y -> [S]; X <-> Y; Z")
    path = tmp_path / f"graph{suffix}"
    path.write_text(format_graph(graph, to), encoding="utf-8")

    assert read_graph(path) == read_graph(str(path)) == graph


def test_a_marked_node_in_quotes_is_not_taken_for_json() -> None:
    assert parse_graph('["was it kept"] <-> Y').selection == "was it kept"


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    for to in FORMATS:
        path.write_text(format_graph(parse_graph("X -> Y"), to), encoding="utf-8-sig")

        assert read_graph(path) == parse_graph("X -> Y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.dot", b"diagraph { A }", "line 1, column 1: expected 'digraph', found 'diagraph'"),
        ("g.json", b"directed: X", "line 1, column 1: Expecting value"),
        ("g.txt", b"X -> \xff", "cannot read '{path}': byte 5 is not UTF-8 text"),
        ("g.txt", b"", ("the graph is empty: it has no nodes; "
         "write at least one, as in 'X -> Y'")),
        ("g.txt", b"dag -> x {", ("line 1, column 10: cannot read '{{'; "
         "edges are written ->, <- and <->, other names in double quotes")),
    ],
)  # fmt: skip
def test_a_file_that_is_no_graph_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(BounditError) as refused:
        read_graph(path)
    assert str(refused.value) == message.format(path=path)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read_graph(tmp_path / "none.dot")
    with pytest.raises(UnreadableFile, match="it is a directory; name one file"):
        read_graph(tmp_path)
    with pytest.raises(UnreadableFile, match="null"):
        read_graph("a\0b")


def test_other_things_than_text_are_refused() -> None:
    with pytest.raises(NotText, match="a graph is read from text, found int; for a file"):
        parse_graph(3)  # type: ignore[arg-type]
    with pytest.raises(UnknownFormat, match="no graph format 'xml'; there are text, dot"):
        format_graph(parse_graph("X"), "xml")  # type: ignore[arg-type]


def test_a_door_that_takes_graphs_says_how_to_make_one() -> None:
    graph = parse_graph("X -> Y")

    assert require_graph(graph) is graph
    with pytest.raises(NotAGraph, match="found str; make one with parse_graph or read_graph"):
        require_graph("X -> Y")
    with pytest.raises(NotAGraph, match="found DiGraph; make one with from_networkx"):
        require_graph(nx.DiGraph())
