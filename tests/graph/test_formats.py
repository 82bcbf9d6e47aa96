import json

import pydot
import pytest
from hypothesis import given

from boundit.core.errors import GraphError
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats import draft_dagitty, draft_dot, draft_json, from_record, to_record
from boundit.graph.read import format_graph
from boundit.graph.text import parse
from tests.strategies import graphs, odd_names


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
    assert draft_dot(dot).make_graph() == parse(text)


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
            "The graph is empty: it has no nodes. Write at least one edge, as in 'X -> Y'.",
        ),
    ],
)
def test_what_is_no_dot_is_refused_in_one_line(dot: str, message: str) -> None:
    with pytest.raises(GraphError) as refused:
        draft_dot(dot).make_graph()
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("dagitty", "text"),
    [
        ("dag { A -> B B -> C }", "A -> B -> C"),
        ('dag "my model" { bb="0,0,1,1" A -> B }', "A -> B"),
        (
            (
                'dag {\nX [exposure,pos="-2.2,0.5"]\nY [outcome,pos="1.4,0.5"]\n'
                'U [latent,pos="0,0"]\nU -> X\nU -> Y\nX -> Y [beta=-0.5]\n}\n'
            ),
            "X -> Y; X <-> Y",
        ),
        ("dag { A -> {B C} <- D }", "A -> B; A -> C; D -> B; D -> C"),
        ("dag { A <-> B; S [selected]; B -> S }", "A <-> B; B -> [S]"),
        ("dag { U [u]; U -> A; U -> B; # why\n A -> B // so\n}", "A -> B; A <-> B"),
        ('dag { "time of day" -> Y }', '"time of day" -> Y'),
        ("DAG{A}", "A"),
    ],
)
def test_what_dagitty_can_say(dagitty: str, text: str) -> None:
    assert draft_dagitty(dagitty).make_graph() == parse(text)


@pytest.mark.parametrize(
    ("dagitty", "message"),
    [
        (
            "pdag { A -- B }",
            "line 1, column 1: expected 'dag', found 'pdag'; only a dag has a causal reading",
        ),
        (
            "dag { A -- B }",
            "line 1, column 9: '--' has no causal reading; edges are ->, <- and <->",
        ),
        (
            "dag { A -> B [latent] }",
            (
                "line 1, column 15: 'latent' on an edge says nothing; "
                "write it after the node alone"
            ),
        ),
        ("dag { A -> B", "line 1, column 13: expected a node, found the end of the text"),
        (
            "dag { S [selected] T [selected] A -> S }",
            (
                "the graph marks several selection nodes, S, T; "
                "a row is logged or not: give one node the parents of all of them"
            ),
        ),
    ],
)
def test_what_is_no_dagitty_is_refused_in_one_line(dagitty: str, message: str) -> None:
    with pytest.raises(GraphError) as refused:
        draft_dagitty(dagitty).make_graph()
    assert str(refused.value) == message


@given(graphs() | graphs(names=odd_names))
def test_a_record_reads_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert from_record(to_record(graph)).make_graph() == graph


def test_hidden_nodes_are_projected() -> None:
    text = '{"directed": [["C", "X"], ["C", "Y"]], "hidden": ["C"]}'

    assert draft_json(text).make_graph() == parse("X <-> Y")


def test_a_question_beside_the_graph_names_nodes_of_it() -> None:
    """A benchmark line may ask about a variable that has no edge."""
    line = {
        "name": "D5",
        "directed": [["V1", "V3"]],
        "bidirected": [],
        "query": {"y": ["V3"], "do": ["V2"], "given": ["V0", "V1"]},
        "external": [["V4"]],
        "adjustment": {"z": ["V5"], "zt": []},
        "answer": True,
        "by": ["someone"],
    }

    assert from_record(line).nodes == {f"V{i}" for i in range(6)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"directed": [["X", "Y"]', "line 1, column 25: Expecting ',' delimiter"),
        (
            '{"directd": []}',
            "a graph has no key 'directd'; did you mean 'directed'?",
        ),
        (
            '{"arcs": []}',
            "a graph has no key 'arcs'; it has nodes, directed, bidirected, selection, hidden, "
            "groups",
        ),
        (
            "[1]",
            (
                "the graph must be an object with keys "
                "nodes, directed, bidirected, selection, hidden, groups, found [1]"
            ),
        ),
        (
            '{"directed": "X -> Y"}',
            "key 'directed' of the graph must be a list of pairs of names, found \"X -> Y\"",
        ),
        (
            '{"directed": [["X"]]}',
            'key \'directed\' of the graph must be pairs such as ["X", "Y"], found ["X"]',
        ),
        (
            '{"nodes": [1]}',
            "1 cannot name a node. Write printable text without blanks at its ends.",
        ),
        (
            '{"nodes": {"X": 1}}',
            "key 'nodes' of the graph must be a list of names, found {\"X\": 1}",
        ),
        (
            '{"selection": ["S"]}',
            "key 'selection' of the graph must be one name, found [\"S\"]",
        ),
        ('{"nodes": ["X"], "hidden": ["C"]}', "The graph has no node 'C'. It has X."),
        (
            "[" * 100_000,
            "line 1, column 1: too deep a nesting or too long a number for a graph",
        ),
        ("{}", "The graph is empty: it has no nodes. Write at least one edge, as in 'X -> Y'."),
    ],
)
def test_what_is_no_json_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(GraphError) as refused:
        draft_json(text).make_graph()
    assert str(refused.value) == message


def test_deep_questions_do_not_exhaust_the_stack() -> None:
    question: list[object] = ["X"]
    for _ in range(5_000):
        question = [question]

    assert from_record({"query": question}).nodes == {"X"}


def test_written_json_is_stable() -> None:
    assert json.loads(format_graph(parse("B -> [S]; A <-> B"), "json")) == {
        "nodes": ["A", "B", "S"],
        "directed": [["B", "S"]],
        "bidirected": [["A", "B"]],
        "selection": "S",
        "hidden": [],
    }
