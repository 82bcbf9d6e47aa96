import pytest

from boundit.estimand.criteria.roles import NoOutcome, read_roles
from boundit.graph.text import parse
from boundit.terms.errors import OverlappingRoles, UnknownNode
from tests.nodes import make_nodes

GRAPH = parse("Z -> X -> Y; Y -> [S]")


def test_roles_come_back_as_sets_in_their_order() -> None:
    assert read_roles(GRAPH, {"a treatment": ["X"], "an outcome": "Y", "given": ()}) == (
        make_nodes("X"),
        make_nodes("Y"),
        make_nodes(),
    )


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
    with pytest.raises(NoOutcome, match="names no outcome; name at least one"):
        read_roles(GRAPH, {"a treatment": "X", "an outcome": ()})
