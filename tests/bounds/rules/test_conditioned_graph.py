"""What is left of a graph once some variables are given."""

import pytest

from boundit.bounds.rules.conditioned_graph import ConditionedGraph, condition_graph
from boundit.graph.text import parse
from tests.nodes import make_nodes

NONE = make_nodes()


def drawn(
    text: str, inside: str, known: str = "", varied: str = "", done: str = ""
) -> ConditionedGraph:
    roles = {"known": known, "varied": varied, "done": done}
    sets = {role: frozenset(names.split()) for role, names in roles.items()}
    found = condition_graph(parse(text), inside=frozenset(inside.split()), **sets)
    assert found is not None
    return found


def influences(found: ConditionedGraph) -> dict[str, list[str]]:
    return {name: sorted(found.influences[name]) for name in sorted(found.influences)}


@pytest.mark.parametrize("arcs", ["X <-> Y", "Z <-> X <-> Y"])
def test_an_instrument_may_share_luck_with_the_arm(arcs: str) -> None:
    """Section 3.4's example: what X's disturbance tells of Z becomes a response of X to Z."""
    found = drawn(f"Z -> X -> Y; {arcs}", "X Y", varied="Z")

    assert str(found.graph) == "X -> Y; X <-> Y"
    assert influences(found) == {"X": ["Z"], "Y": []}


def test_what_shares_luck_with_the_outcome_is_no_instrument() -> None:
    assert influences(drawn("Z -> X -> Y; X <-> Y; Z <-> Y", "X Y", varied="Z"))["Y"] == ["Z"]
    assert influences(drawn("Z -> X -> Y; X <-> Y; Z -> Y", "X Y", varied="Z"))["Y"] == ["Z"]


def test_a_collider_that_is_given_joins_the_luck_of_its_causes() -> None:
    """``X <-> W <-> Y``: apart until W is known."""
    assert str(drawn("X -> Y; X <-> W <-> Y", "X Y").graph) == "X -> Y"
    assert str(drawn("X -> Y; X <-> W <-> Y", "X Y", known="W").graph) == "X -> Y; X <-> Y"


def test_a_hidden_cause_is_luck_and_a_given_one_is_not() -> None:
    assert str(drawn("W -> X -> Y; W -> Y", "X Y").graph) == "X -> Y; X <-> Y"
    assert str(drawn("W -> X -> Y; W -> Y", "X Y", known="W").graph) == "X -> Y"


def test_what_is_set_by_hand_depends_on_no_disturbance() -> None:
    assert influences(drawn("A -> Y; A <-> Y; X -> Y; X <-> Y", "X Y", done="A"))["Y"] == []


def test_nothing_inside_may_act_on_what_is_given() -> None:
    graph = parse("X -> W; X -> Y")

    assert (
        condition_graph(
            graph, inside=make_nodes("X", "Y"), known=make_nodes("W"), varied=NONE, done=NONE
        )
        is None
    )


def test_what_is_felt_grows_along_those_who_share_luck() -> None:
    """One law of disturbance for all values takes nested sets; two that cross are joined."""
    found = drawn("A <-> X <-> Y <-> B; X -> Y", "X Y", varied="A B")

    assert influences(found) == {"X": ["A"], "Y": ["A", "B"]}


def test_those_who_share_no_luck_do_not_widen_each_other() -> None:
    found = drawn("A <-> X; Y <-> B; X -> Y", "X Y", varied="A B")

    assert influences(found) == {"X": ["A"], "Y": ["B"]}
