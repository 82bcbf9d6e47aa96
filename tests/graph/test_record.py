import json

import pytest
from hypothesis import given

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import format_graph
from boundit.graph.record import from_record, parse_json, to_record
from boundit.graph.text import parse
from boundit.terms.errors import InvalidGraph
from tests.strategies import graphs, odd_names


@given(graphs() | graphs(names=odd_names))
def test_json_reads_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert parse_json(format_graph(graph, "json")) == graph
    assert from_record(to_record(graph)).make_graph() == graph


def test_hidden_nodes_are_projected() -> None:
    text = '{"directed": [["C", "X"], ["C", "Y"]], "hidden": ["C"]}'

    assert parse_json(text) == parse("X <-> Y")


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
            "1 cannot name a node; a name is printable text without blanks at its ends",
        ),
        (
            '{"nodes": {"X": 1}}',
            "key 'nodes' of the graph must be a list of names, found {\"X\": 1}",
        ),
        (
            '{"selection": ["S"]}',
            "key 'selection' of the graph must be one name, found [\"S\"]",
        ),
        ('{"nodes": ["X"], "hidden": ["C"]}', "the graph has no node 'C'; it has X"),
        (
            "[" * 100_000,
            "line 1, column 1: too deep a nesting or too long a number for a graph",
        ),
        ("{}", "the graph is empty: it has no nodes; write at least one, as in 'X -> Y'"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidGraph) as refused:
        parse_json(text)
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
