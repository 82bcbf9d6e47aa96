import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.errors import BounditError, GraphError, MalformedText
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import END, Tokens, parse, unquote
from tests.strategies import graphs, odd_names


@given(graphs() | graphs(names=odd_names))
def test_str_reads_back_as_the_same_graph(graph: CausalGraph) -> None:
    assert parse(str(graph)) == graph
    assert parse(str(graph).replace("; ", "\n")) == graph


def test_every_piece_of_the_grammar() -> None:
    graph = parse(
        """
        # what we assume
        U1 -> X1 -> I1 -> Y   # a chain
        Y <- U1; U2 -> X2 -> Y
        I1 <- C1 -> Y
        hidden C1
        I1 -> [S]
        Weather
        "time of day" -> Y
        """
    )

    assert str(graph) == (
        "I1 -> [S]; I1 -> Y; U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; "
        '"time of day" -> Y; I1 <-> Y; Weather'
    )


def test_hidden_may_be_said_before_or_after_and_of_several() -> None:
    assert parse("hidden A, B; A -> X; A -> Y; B -> Y; B -> Z") == parse("X <-> Y <-> Z")


def test_one_mark_is_enough_for_the_selection_node() -> None:
    assert parse("X -> S; Y -> [S]") == parse("X -> [S]; Y -> [S]")


def test_a_node_may_be_called_hidden() -> None:
    assert parse('hidden -> Y; "hidden" -> Z').nodes == {"hidden", "Y", "Z"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X -> ", "line 1, column 6: expected a node, found the end of the text"),
        (
            "X -> Y\nX Y",
            "line 2, column 3: expected an edge (->, <- or <->), ';' or a new line, found 'Y'",
        ),
        (
            "X --> Y",
            (
                "line 1, column 3: cannot read '-'; "
                "edges are written ->, <- and <->, other names in double quotes"
            ),
        ),
        ('X -> "Y\n', "line 1, column 6: this quote is never closed"),
        (
            "X -> [S\nY",
            (
                "line 1, column 8: "
                "expected ']' after the selection node, found the end of the line"
            ),
        ),
        (
            "X -> Y; hidden",
            "line 1, column 15: expected a name to hide, found the end of the text",
        ),
        (
            "A -> B -> C -> A",
            "The graph has a cycle (A -> B -> C -> A). Causes precede effects: remove an edge.",
        ),
        (
            "[S] -> Y",
            (
                "The selection node S has an edge to Y. "
                "Remove the edge: being logged happens last and causes nothing."
            ),
        ),
        (
            "X -> [S]; X -> [T]",
            (
                "the graph marks several selection nodes, S, T; "
                "a row is logged or not: give one node the parents of all of them"
            ),
        ),
        ("X -> X", "X has an edge to itself. Remove it."),
        ("C1 -> X; hidden C11", "The graph has no node 'C11'. Did you mean 'C1'?"),
        (
            "# nothing",
            "The graph is empty: it has no nodes. Write at least one edge, as in 'X -> Y'.",
        ),
        (
            "X -> [S]; hidden S",
            (
                "S is marked both hidden and selection; "
                "every logged row shows that it was selected"
            ),
        ),
        (
            '"" -> Y',
            "'' cannot name a node. Write printable text without blanks at its ends.",
        ),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(GraphError) as refused:
        parse(text)
    assert str(refused.value) == message


@given(st.integers(0, 5), st.integers(0, 8))
def test_a_malformed_place_is_where_it_says(lines: int, blanks: int) -> None:
    with pytest.raises(MalformedText) as refused:
        parse("X -> Y\n" * lines + " " * blanks + "?")

    assert (refused.value.line, refused.value.column) == (lines + 1, blanks + 1)


@given(st.text() | st.text(alphabet='XY->[]<;#\n",hidden '))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        graph = parse(text)
    except BounditError as error:
        assert "\n" not in str(error)  # noqa: PT017, either outcome is fine
    else:
        assert parse(str(graph)) == graph


PATTERN = re.compile(r"(?P<skip>\s+)|(?P<name>\w+)|(?P<quoted>\"[^\"]*\")")


def test_tokens_remember_where_they_stood() -> None:
    tokens = Tokens('a "x\ny" b\n  c', PATTERN, hint="")
    places = []
    while tokens.now.kind != END:
        token = tokens.take()
        places.append((token.text, token.line, token.column))

    assert places == [("a", 1, 1), ('"x\ny"', 1, 3), ("b", 2, 4), ("c", 3, 3)]
    assert tokens.take().kind == tokens.take().kind == END


def test_what_the_pattern_does_not_know_is_refused_with_the_hint() -> None:
    tokens = Tokens("a b c\n ?", PATTERN, hint="use letters")
    tokens.take()

    with pytest.raises(MalformedText, match=r"line 2, column 2: cannot read '\?'; use letters"):
        tokens.take()


def test_only_quotes_and_backslashes_are_escaped() -> None:
    assert unquote(r'"a\"b\\c\n"') == r"a\"b\c\n".replace(r"\"", '"')
