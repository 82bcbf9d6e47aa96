from boundit.core.formula import StepRecord
from boundit.graph.text import parse
from boundit.report.graph.folding import LONGEST_LINE, fold_groups
from boundit.report.graph.highlights import find_highlight
from boundit.report.graph.svg import draw_graph

MANY = [f"Covariate {i}" for i in range(15)]
WIDE = parse(
    "Z = {" + ", ".join(f'"{name}"' for name in MANY) + "}; Z -> X; Z -> Y; X -> Y; X <-> Y"
)


def test_fifteen_covariates_are_one_box_that_names_them() -> None:
    drawing = draw_graph(WIDE, treatments="X", outcomes="Y", context=MANY[0])

    assert drawing.count('class="node"') == 3
    assert drawing.count('class="edge"') == 4
    assert "context: Covariate 0<" in drawing
    for name in MANY:
        assert name in drawing.partition("</desc>")[2]


def test_lines_of_a_box_stay_short() -> None:
    lines = fold_groups(WIDE, {MANY[3]: "context"}).labels["Z"]

    assert lines[0] == "Z"
    assert lines[-2:] == ("context: Covariate 3", "related in any way")
    assert max(map(len, lines)) <= LONGEST_LINE


def test_graphs_without_such_groups_are_drawn_as_they_are() -> None:
    for graph in (parse("X -> Y"), parse("Z = independent {A, B}; A -> M -> B")):
        assert fold_groups(graph).graph is graph


def test_what_a_step_lights_up_is_what_is_drawn() -> None:
    graph = parse("Z = {A, B}; Z -> X; Z -> Y; X -> Y")
    step = StepRecord("Rule 2", (("Y",), ("X",)), ("A", "B"), out_of=("X",))
    found = find_highlight(graph, step)

    assert found is not None
    assert set(found.edges) == {"Z -> X", "Z -> Y"}
    assert found.given == ("Z",)
