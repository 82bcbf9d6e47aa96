import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.errors import BounditError, OverlappingRoles, QueryError, UnknownNode
from boundit.estimand.query import EffectQuery, parse_query, read_roles
from boundit.graph.text import parse
from tests.nodes import make_nodes
from tests.strategies import odd_names, plain_names


@given(st.lists(plain_names | odd_names, min_size=1, max_size=6, unique=True), st.data())
def test_str_reads_back_as_the_same_query(names: list[str], data: st.DataObject) -> None:
    roles = data.draw(
        st.lists(st.sampled_from("ytc"), min_size=len(names), max_size=len(names))
    )
    split = {
        role: tuple(n for n, r in zip(names, roles, strict=True) if r == role) for role in "ytc"
    }
    if split["y"]:
        query = EffectQuery(split["y"], split["t"], split["c"])

        assert parse_query(str(query)) == query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Y", EffectQuery(("Y",))),
        ("Y | Z", EffectQuery(("Y",), context=("Z",))),
        ("P(Y | do(X))", EffectQuery(("Y",), ("X",))),
        ("Y | do(X1, X2), U1, U2", EffectQuery(("Y",), ("X1", "X2"), ("U1", "U2"))),
        ("Y | B, do(X), A, do(W)", EffectQuery(("Y",), ("X", "W"), ("B", "A"))),
        ("P | do(X)", EffectQuery(("P",), ("X",))),
        ('"a b", Y', EffectQuery(("a b", "Y"))),
    ],
)
def test_queries_read_as_on_paper(text: str, query: EffectQuery) -> None:
    assert parse_query(text) == query


def test_a_lone_string_is_one_name() -> None:
    assert EffectQuery("Y1", "X1") == EffectQuery(("Y1",), ("X1",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Y | do(Y)", "'Y' is an outcome and a treatment at once. Give it one of these roles."),
        ("Y | do(X), X", "'X' is a treatment and context at once. Give it one of these roles."),
        ("Y, Y | do(X)", "'Y' is named twice among the outcomes; name it once"),
        ("Y | do(X, X)", "'X' is named twice among the treatments; name it once"),
        (
            "Y | do(X=1)",
            "query 'Y | do(X=1)', column 9: cannot read '='; variables are named "
            "without values, other names in double quotes; a query reads like 'Y | do(X), Z'",
        ),
        (
            "",
            "query '', column 1: expected an outcome, found the end of the text; "
            "a query reads like 'Y | do(X), Z'",
        ),
        (
            "Y | do X",
            "query 'Y | do X', column 8: expected '(' after do, found 'X'; "
            "a query reads like 'Y | do(X), Z'",
        ),
        (
            "sales (EUR) | do(X)",
            "query 'sales (EUR) | do(X)', column 7: expected ',' or the end, found '('; "
            "names with blanks or signs are written in double quotes; "
            "a query reads like 'Y | do(X), Z'",
        ),
        (
            "P(Y",
            "query 'P(Y', column 4: expected ')', found the end of the text; "
            "a query reads like 'Y | do(X), Z'",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BounditError) as refused:
        parse_query(text)
    assert str(refused.value) == message


def test_the_graph_must_have_what_is_asked_about() -> None:
    graph = parse("X -> Reward; X -> [S]")

    with pytest.raises(UnknownNode, match="Did you mean 'Reward'"):
        parse_query("reward | do(X)").require_in(graph)
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and in the query"):
        parse_query("Reward | do(X), S").require_in(graph)


GRAPH = parse("Z -> X -> Y; Y -> [S]")


def test_roles_come_back_as_sets_in_their_order() -> None:
    assert read_roles(GRAPH, {"a treatment": ["X"], "an outcome": "Y", "given": ()}) == [
        make_nodes("X"),
        make_nodes("Y"),
        make_nodes(),
    ]


def test_a_name_the_graph_lacks_is_refused() -> None:
    with pytest.raises(UnknownNode, match="no node 'W'"):
        read_roles(GRAPH, {"an outcome": "W"})


def test_a_variable_plays_one_role() -> None:
    with pytest.raises(OverlappingRoles, match="'X' is a treatment and given at once"):
        read_roles(GRAPH, {"a treatment": "X", "an outcome": "Y", "given": ["Z", "X"]})


def test_selection_plays_no_role() -> None:
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and a covariate"):
        read_roles(GRAPH, {"an outcome": "Y", "a covariate": "S"})


def test_a_question_has_an_outcome() -> None:
    with pytest.raises(QueryError, match="names no outcome; name at least one"):
        read_roles(GRAPH, {"a treatment": "X", "an outcome": ()})
