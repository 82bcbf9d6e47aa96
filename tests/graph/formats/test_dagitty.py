import pytest
from hypothesis import given

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats.dagitty import parse_dagitty
from boundit.graph.read import format_graph
from boundit.graph.text import parse
from boundit.terms.errors import InvalidGraph
from tests.strategies import graphs, odd_names


@given(graphs() | graphs(names=odd_names))
def test_dagitty_reads_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert parse_dagitty(format_graph(graph, "dagitty")) == graph


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
    assert parse_dagitty(dagitty) == parse(text)


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
                "the graph marks 2 selection nodes, S, T; "
                "a row is logged or not: give one node the parents of all of them"
            ),
        ),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(dagitty: str, message: str) -> None:
    with pytest.raises(InvalidGraph) as refused:
        parse_dagitty(dagitty)
    assert str(refused.value) == message
