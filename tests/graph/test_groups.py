import pytest

from boundit.core.errors import QueryError
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.groups import InvalidGroup, NodeGroup
from boundit.graph.implications import implications
from boundit.graph.read import (
    GraphFormat,
    format_graph,
    from_networkx,
    parse_graph,
    to_networkx,
)
from boundit.graph.text import parse

TEXTS = (
    "Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y",
    "Z = {A, B, C}; A -> B; C -> Y; W -> Z; W <-> Y",
    'V = independent {C, D}; Z = {A, B}; "q q" = {K, "l m"}; E -> Z; "q q" -> Z; E <-> V',
    "Z = {A}; Z -> X",
    "no = {A, B}",
    "Z = {A, B}; Z -> [S]; Y <-> Z",
    "Z1 = {A, B}; Z2 = {C, D}; C -> X; Z1 -> Z2; Z1 <-> Z2",
    "Z = independent {A, B, C}; A -> Y; B -> Y",
)


def test_a_group_claims_nothing_about_its_members() -> None:
    graph = parse("Z = {Age, Sex, Income}; Z -> X; Z -> Y; X -> Y")

    assert implications(graph) == ()
    assert len(graph.bidirected) == 3
    assert str(graph) == "Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y"


def test_independence_must_be_written() -> None:
    found = implications(parse("Z = independent {A, B, C}; Z -> Y"))

    assert list(map(str, found)) == ["A _||_ B", "A _||_ C", "B _||_ C"]


def test_what_leads_into_one_member_leads_into_all() -> None:
    graph = parse("Z = {A, B}; W -> A; V <-> B; A -> Y")

    assert {("W", "A"), ("W", "B")} <= graph.directed
    assert {("A", "V"), ("B", "V")} <= graph.bidirected
    assert ("B", "Y") not in graph.directed


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("form", ["text", "dot", "dagitty", "json"])
def test_every_format_keeps_groups(text: str, form: GraphFormat) -> None:
    graph = parse(text)

    assert str(graph) == text
    assert parse_graph(format_graph(graph, form)) == graph


@pytest.mark.parametrize("text", TEXTS)
def test_networkx_keeps_groups(text: str) -> None:
    graph = parse(text)

    assert from_networkx(to_networkx(graph)) == graph


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Z = {A, A}", "'A' is in it twice"),
        ("Z = {A, B}; Z = {C}", "defined twice"),
        ("Z = {A, V}; V = {B}", "'V' is a group itself; name its members instead"),
        ("Z = {A, B}; V = {B, C}", "'B' is in the group 'V' too"),
        ("Z = {A, B}; Z -> A", "joins it with A, which is part of it"),
        ("Z = {A, B}; A <-> Z", "joins it with A, which is part of it"),
        ("Z = {A, B}; Z -> Z", "joins it with Z, which is part of it"),
        ("Z = {A, B}; A -> M -> B", "lead out of it and back"),
        ("Z = {A, B}; V = {C, D}; A -> C; D -> B", "lead out of it and back"),
        ("Z = independent {A, B}; A -> B", "joins A and B, which it calls independent"),
        ("Z = {A, S}; A -> [S]", "'S' is the selection node"),
        ("Z = {A, B}; [Z]", "marked as the selection node"),
        ("Z = {A, U}; U -> Y; hidden U", "'U' is hidden"),
        ("Z = {A, B}; hidden Z", "'Z' is hidden"),
        ('{"groups": [{"name": "X", "members": ["A"]}], "nodes": ["X"]}', "the same name"),
        ('digraph { A [related="X"]; A -> X }', "the same name"),
        ('{"groups": [{"name": "Z", "members": []}]}', "it has no members"),
        ('dag { A [related="Z\n"] }', "its name must be printable text"),
    ],
)
def test_a_group_that_cannot_be_is_refused_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(InvalidGroup) as refused:
        parse_graph(text)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_graph_without_a_groups_edges_is_refused() -> None:
    group = NodeGroup("Z", frozenset("AB"))

    with pytest.raises(InvalidGroup, match="are missing"):
        CausalGraph(frozenset("AB"), frozenset(), frozenset(), None, (group,))
    with pytest.raises(InvalidGroup, match="printable text"):
        CausalGraph.of("A", groups=[NodeGroup("\n", frozenset("A"))])
    with pytest.raises(InvalidGroup, match="is not a node"):
        CausalGraph(frozenset("A"), frozenset(), frozenset(), None, (group,))


def test_parts_of_a_graph_keep_their_groups() -> None:
    graph = parse("Z = {A, B, C}; Z -> X -> Y; V = {D}")

    assert str(graph.induced({"A", "B", "X"})) == "Z = {A, B}; Z -> X"
    assert str(project(graph, {"C", "X", "D"})) == "Z = {A, B}; Z -> Y; Y <-> Z"
    assert graph.without_groups().groups == ()
    assert graph.without_groups().bidirected == graph.bidirected
    assert graph.without_edges_into("A").groups == ()


def test_a_member_is_no_arm_and_a_group_no_variable() -> None:
    graph = parse("Z = {A, B}; V = independent {C, D}; Z -> Y; V -> Y")

    with pytest.raises(QueryError, match="take 'A' out of the group"):
        parse_query("Y | do(A)").require_in(graph)
    with pytest.raises(InvalidGroup, match="it is not a variable; name its members, A, B"):
        parse_query("Y | do(C), Z").require_in(graph)
    parse_query("Y | do(C), A, B").require_in(graph)
