import pytest

from boundit.bounds.request import NotABanditQuestion, hide_reward, read_bandit_query
from boundit.estimand.query import parse_query
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.terms.bound_errors import ReservedName
from boundit.terms.errors import NotText, OverlappingRoles, UnknownNode
from tests.bounds.exact import questions

GRAPH = parse("Z -> X -> Y; Z -> Y; n -> Y")


def test_text_and_a_query_ask_the_same() -> None:
    assert read_bandit_query(GRAPH, "Y | do(X), Z") == read_bandit_query(
        GRAPH, parse_query("Y | do(X), Z")
    )


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ("Y, Z | do(X)", NotABanditQuestion, "bounds are for one reward, found Y, Z"),
        ("Y | Z", NotABanditQuestion, "has no treatment; write the arms as do"),
        ("Z | do(X), Y", NotABanditQuestion, "the context 'Y' is an effect of the treatments"),
        ("Y | do(Q)", UnknownNode, "no node 'Q'"),
        ("Y | do(Y)", OverlappingRoles, "'Y'"),
        ("Y | do(n)", ReservedName, "cannot be called 'n'"),
        (7, NotText, "a query is read from text"),
    ],
)
def test_a_question_without_arms_and_contexts_is_refused(
    asked: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        read_bandit_query(GRAPH, asked)


def test_a_hidden_reward_causes_nothing_and_follows_what_the_reward_followed() -> None:
    for case in questions(40, 9):
        graph, y = case.model.graph, case.query.outcomes[0]
        drawn = hide_reward(graph, y)

        assert drawn.nodes == graph.nodes
        assert drawn.selection == graph.selection
        assert not drawn.links[y].children
        others = graph.observed - {y}
        if not graph.links[y].children:
            assert drawn == graph
        for other in others:
            # The success is a noisy copy: what the reward is apart from, the success is.
            if open_walk(graph, y, other, given=frozenset()) is None:
                assert open_walk(drawn, y, other, given=frozenset()) is None
