import pydot
import pytest
from hypothesis import given

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats.dot import parse_dot
from boundit.graph.read import format_graph
from boundit.graph.text import parse
from boundit.terms.errors import InvalidGraph
from tests.strategies import graphs, odd_names


@given(graphs() | graphs(names=odd_names))
def test_dot_reads_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert parse_dot(format_graph(graph, "dot")) == graph


@given(graphs())
def test_another_reader_finds_the_same_edges_in_our_dot(graph: CausalGraph) -> None:
    """pydot, as an independent reader of the format."""
    (read,) = pydot.graph_from_dot_data(format_graph(graph, "dot")) or []
    both, one_way = set[tuple[str, str]](), set[tuple[str, str]]()
    for edge in read.get_edges():
        ends = str(edge.get_source()).strip('"'), str(edge.get_destination()).strip('"')
        (both if edge.get("dir") == "both" else one_way).add(ends)

    assert (one_way, both) == (set(graph.directed), set(graph.bidirected))


@pytest.mark.parametrize(
    ("dot", "text"),
    [
        ("digraph { A -> B -> C }", "A -> B -> C"),
        ("strict digraph g { A -> {B C} }", "A -> B; A -> C"),
        ("digraph { {A; B} -> C; subgraph x { D } -> C }", "A -> C; B -> C; D -> C"),
        ("digraph { A -> B [dir=back] }", "B -> A"),
        ("digraph { A -> B [dir=both, style=dashed] }", "A <-> B"),
        ("digraph { A -> B [arrowhead=normal, arrowtail=normal] }", "A <-> B"),
        ("digraph { A -> B [dir=both, arrowtail=none] }", "A -> B"),
        ("digraph { A -> B [bidirected=true]; B -> A [bidirected=true] }", "A <-> B"),
        ("digraph { edge [dir=both]; A -> B; { edge [dir=forward]; B -> C } A -> C }",
         "A <-> B; B -> C; A <-> C"),
        ("graph { A -- B [dir=both]; B -- C [dir=forward] }", "A <-> B; B -> C"),
        ('digraph { U [latent=true]; U -> X; U -> Y; Y -> "S"; S [selected=yes] }',
         "X <-> Y; Y -> [S]"),
        ('digraph { U [observed="no"]; U -> X; U -> Y }', "X <-> Y"),
        ("digraph { node [latent=true] U; node [latent=false]; X -> Y; U -> X; U -> Y }",
         "X -> Y; X <-> Y"),
        ('digraph { rankdir=LR; A [label="a, b"]; A:n -> B:s:e // done\n }', "A -> B"),
        ("/* two\nlines */ digraph {\n# a line\nA; -1.5 -> A }", '"-1.5" -> A'),
        ('digraph { "a" + "b" -> C }', "ab -> C"),
    ],
)  # fmt: skip
def test_what_dot_can_say(dot: str, text: str) -> None:
    assert parse_dot(dot) == parse(text)


@pytest.mark.parametrize(
    ("dot", "message"),
    [
        ("diagraph { A }", "line 1, column 1: expected 'digraph', found 'diagraph'"),
        ("digraph { A -> }", "line 1, column 16: expected a node, found '}'"),
        ("digraph {\n A -> B", "line 2, column 8: expected a node, found the end of the text"),
        ("digraph { A -> B } x", "line 1, column 20: expected one graph, found 'x' after it"),
        (
            "graph { A -- B }",
            (
                "line 1, column 11: this edge has no arrowhead; a cause is 'A -> B', "
                "a hidden common cause 'A -> B [dir=both]'"
            ),
        ),
        ("digraph { A [x= }", "line 1, column 17: expected a value, found '}'"),
        ("digraph " + "{" * 50, "line 1, column 50: subgraphs are nested more than 40 deep"),
        (
            "digraph {}",
            "the graph is empty: it has no nodes; write at least one, as in 'X -> Y'",
        ),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(dot: str, message: str) -> None:
    with pytest.raises(InvalidGraph) as refused:
        parse_dot(dot)
    assert str(refused.value) == message
