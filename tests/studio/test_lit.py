from boundit.core.formula import StepRecord
from boundit.studio.drawing import make_draft, make_graph, read_drawing
from boundit.studio.lit import join_lit, light_edge, light_walk, make_lighter


def show(lit: object) -> set[str]:
    return {f"{edge.tail} {edge.kind} {edge.head}" for edge in lit.edges}  # type: ignore[attr-defined]


def test_a_step_lights_the_paths_that_it_speaks_of() -> None:
    drawing = read_drawing("X -> Y; Z -> X; Z -> Y; W").graph
    light = make_lighter(drawing, make_graph(drawing))
    lit = light(StepRecord("Rule 2", (("Y",), ("X",)), ("Z",), out_of=("X",)))

    assert lit.nodes == ("X", "Y", "Z")
    assert show(lit) == {"Z -> X", "Z -> Y"}
    assert "Blocked given Z" in lit.caption
    assert light(StepRecord("sum")).nodes == ()


def test_an_edge_that_stands_for_hidden_nodes_is_lit_through_them() -> None:
    draft = make_draft(
        read_drawing("H -> U; U -> X; H -> V; V -> Y; hidden H, U, V; X -> Y").graph
    )

    lit = light_edge(draft, "X <-> Y")
    assert show(lit) == {"H -> U", "U -> X", "H -> V", "V -> Y"}
    assert set(lit.nodes) == {"H", "U", "V", "X", "Y"}


def test_an_arrow_through_hidden_nodes_is_lit_through_them() -> None:
    draft = make_draft(read_drawing("X -> M -> Y; hidden M; Q -> M").graph)

    assert show(light_edge(draft, "X -> Y")) == {"X -> M", "M -> Y"}


def test_drawn_edges_are_lit_as_they_were_drawn() -> None:
    draft = make_draft(read_drawing('Y <-> X; X -> Y; "a b" -> X').graph)

    assert show(light_edge(draft, "X <-> Y")) == {"X <-> Y"}
    assert show(light_edge(draft, '"a b" -> X')) == {"a b -> X"}
    walk = ("a b", "->", "X", "<->", "Y")
    assert show(light_walk(draft, walk)) == {"a b -> X", "X <-> Y"}


def test_a_hidden_cause_of_a_hidden_node_is_lit_too() -> None:
    draft = make_draft(read_drawing("U <-> Y; U -> X; hidden U").graph)

    assert show(light_edge(draft, "X <-> Y")) >= {"U <-> Y"}


def test_groups_are_lit_by_their_members() -> None:
    drawing = read_drawing("Z = {A, B}; Z -> X; Z -> Y; X -> Y").graph
    light = make_lighter(drawing, make_graph(drawing))
    lit = light(StepRecord("Rule 2", (("Y",), ("X",)), ("A", "B"), out_of=("X",)))

    assert {"A", "B"} <= set(lit.nodes)
    assert {"A -> X", "A -> Y"} <= show(lit)


def test_parts_are_joined_in_order() -> None:
    draft = make_draft(read_drawing("X -> Y; Z -> Y").graph)
    joined = join_lit([light_edge(draft, "Z -> Y"), light_edge(draft, "X -> Y")])

    assert joined.nodes == ("X", "Y", "Z")
    assert [edge.tail for edge in joined.edges] == ["X", "Z"]
