from hypothesis import given

from boundit.core.formula import StepRecord
from boundit.graph.text import GraphDraft
from boundit.studio.claims import join_lit, light_edge, light_walk, make_claims, make_lighter
from boundit.studio.drawing import draw_draft, make_draft, make_graph, read_drawing
from boundit.studio.project import Drawing, ProjectQuery
from tests.graph.test_draft import drafts


def claim(text: str, query: ProjectQuery | None = None) -> dict[str, str]:
    found = make_claims(read_drawing(text).graph, query or ProjectQuery())
    assert found.problems == ()
    return {f"{c.tail} {c.kind} {c.head}": c.claim for c in (*found.edges, *found.missing)}


def test_edges_and_missing_edges_are_told_in_plain_words() -> None:
    said = claim("X -> M -> Y; X <-> Y; M -> [S]")

    assert said["X -> M"] == "X may change M directly."
    assert said["X <-> Y"] == "Something that nobody recorded may move both X and Y."
    assert said["M -> S"] == (
        "Rows are kept depending on M: it may have a say in which rows are kept."
    )
    assert said["X -> Y"] == "X changes Y only by way of M, not directly."
    assert said["X -> S"] == "X has a say in which rows are kept only by way of M."
    assert said["Y -> S"] == "Y has no say in which rows are kept."
    assert said["M <-> Y"] == "Nothing that nobody recorded moves both M and Y."
    assert (
        said["M <-> S"] == "Nothing that nobody recorded moves both M and which rows are kept."
    )
    assert not any(key.startswith("S ->") for key in said)


def test_hidden_nodes_are_called_so() -> None:
    said = claim("U -> X; U -> Y; hidden U; Z")

    assert said["U -> X"] == "U (hidden) may change X directly."
    assert said["X <-> Y"] == "Apart from U, nothing that nobody recorded moves both X and Y."
    assert said["U <-> X"] == "Nothing else that nobody recorded moves both U (hidden) and X."
    assert said["Z -> X"] == "Z has no effect on X."


def test_selection_is_one_sentence() -> None:
    def say(text: str) -> str:
        return make_claims(read_drawing(text).graph, ProjectQuery()).selection

    assert say("X -> Y").startswith("No selection node: the log is taken for a fair sample")
    assert (
        say("I1 -> [S]; X -> [S]")
        == "Rows are kept depending on I1 and X, and on nothing else."
    )
    assert say("Y <-> [S]") == (
        "Rows are kept depending on something hidden that also moves Y, and on nothing else."
    )
    assert say("X -> Y; [S]").startswith("S has no causes: rows are kept by chance alone")


def test_every_pair_is_spoken_of() -> None:
    """No silent empty answers: a pair is joined, or its claim is told."""
    text = "A -> B -> C; A <-> C; C -> [S]; U -> A; hidden U"
    found = make_claims(read_drawing(text).graph, ProjectQuery())

    pairs = {frozenset((c.tail, c.head)) for c in (*found.edges, *found.missing)}
    nodes = "ABCSU"
    assert pairs == {frozenset((a, b)) for a in nodes for b in nodes if a < b}


def test_what_is_wrong_is_told_and_lit() -> None:
    found = make_claims(read_drawing("X -> Y -> X; Z").graph, ProjectQuery())
    (problem,) = found.problems
    assert (problem.where, problem.lit.nodes) == ("graph", ("X", "Y"))
    assert {(e.tail, e.head) for e in problem.lit.edges} == {("X", "Y"), ("Y", "X")}
    assert len(found.edges) == 2
    assert found.missing == ()

    (problem,) = make_claims(read_drawing("[S] -> X; Y").graph, ProjectQuery()).problems
    assert problem.lit.nodes == ("S",)
    (problem,) = make_claims(read_drawing("[S]; [T]; X").graph, ProjectQuery()).problems
    assert problem.lit.nodes == ("S", "T")
    (problem,) = make_claims(read_drawing("X -> X").graph, ProjectQuery()).problems
    assert problem.lit.nodes == ("X",)


def test_a_question_that_makes_no_sense_is_a_problem_with_its_place() -> None:
    drawing = read_drawing("U -> X -> Y; hidden U; Y -> [S]").graph
    asked = ProjectQuery(outcome="S", treatments=("U", "X", "nix"), context=("X",))
    found = make_claims(drawing, asked).problems

    assert [problem.where for problem in found] == [
        "query.outcome",
        "query.treatments[0]",
        "query.treatments[2]",
        "query.context[0]",
    ]
    assert "the selection node" in found[0].message
    assert "hidden" in found[1].message
    assert "no node 'nix'" in found[2].message
    assert "at once" in found[3].message


def test_an_empty_drawing_says_what_to_do() -> None:
    (problem,) = make_claims(Drawing(), ProjectQuery()).problems

    assert problem.message == "nothing is drawn yet: add a node, or write a graph as text"


@given(drafts())
def test_claims_never_fail(draft: GraphDraft) -> None:
    found = make_claims(draw_draft(draft), ProjectQuery(outcome="V0", treatments=("V1",)))

    assert len(found.edges) == len(draw_draft(draft).edges)
    assert all(c.claim.endswith(".") for c in (*found.edges, *found.missing))


def test_edges_and_the_question_are_told_as_text_too() -> None:
    query = ProjectQuery(outcome="Y", treatments=("X",), context=("time of day",))
    found = make_claims(read_drawing('X -> Y; Y <-> X; "time of day" -> Y').graph, query)

    assert sorted(each.text for each in found.edges) == [
        '"time of day" -> Y',
        "X -> Y",
        "X <-> Y",
    ]
    assert found.query == 'Y | do(X), "time of day"'
    assert make_claims(read_drawing("X -> Y").graph, ProjectQuery(outcome="Y")).query is None


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
