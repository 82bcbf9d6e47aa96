"""Groups in one box, and the paths of a step."""

import re
from html import unescape
from random import Random

import pytest

from boundit.core.formula import StepRecord
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.report.drawing import draw_graph
from boundit.report.highlights import (
    LONGEST_LINE,
    MOST_PATHS,
    find_highlight,
    fold_groups,
    write_edge,
)
from tests.strategies import random_graph

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


def find_captions(text: str, **cut: tuple[str, ...]) -> str:
    found = find_highlight(parse(text), StepRecord("", (("Y",), ("X",)), **cut))
    assert found is not None
    return found.caption


def test_the_paths_are_those_of_the_cut_graph() -> None:
    graph = parse("Z -> X -> Y; Z -> Y; X <-> Y")
    whole = find_highlight(graph, StepRecord("", (("Y",), ("X",)), ("Z",)))
    cut = find_highlight(graph, StepRecord("", (("Y",), ("X",)), ("Z",), out_of=("X",)))
    both = find_highlight(graph, StepRecord("", (("Y",), ("X",)), into=("X",), out_of=("X",)))

    assert whole is not None
    assert cut is not None
    assert both is not None
    assert set(whole.edges) == {"X -> Y", "X <-> Y", "Z -> X", "Z -> Y"}
    assert set(cut.edges) == {"X <-> Y", "Z -> X", "Z -> Y"}
    assert both.edges == ()
    assert (cut.between, cut.given) == ((("Y",), ("X",)), ("Z",))


def test_the_caption_says_which_paths_and_what_blocks_them() -> None:
    assert find_captions("X -> M -> Y; X -> N -> Y", given=("M", "N")) == (
        "Paths between Y and X. Blocked given M, N."
    )
    assert find_captions("X -> M; Y -> M") == "Path between Y and X. Blocked."
    assert find_captions("X -> Y", into=("Y",), out_of=("X",)) == (
        "No path between Y and X without the edges into Y and out of X."
    )
    many = "; ".join(f"X -> M{i} <- Y" for i in range(MOST_PATHS + 1))
    assert find_captions(many).startswith("5 shortest paths between Y and X.")


def test_a_step_without_a_separation_lights_up_nothing() -> None:
    assert find_highlight(parse("X -> Y"), StepRecord("sum over Z")) is None


@pytest.mark.parametrize("part", ["given", "into", "out_of"])
def test_a_step_of_another_graph_lights_up_nothing(part: str) -> None:
    graph, sides = parse("X -> Y"), (("Y",), ("X",))

    assert find_highlight(graph, StepRecord("", (("Y",), ("Q",)))) is None
    assert find_highlight(graph, StepRecord("", sides, **{part: ("Q",)})) is None


def test_names_that_look_like_edges_are_told_apart() -> None:
    assert write_edge("A", "->", "B -> C") != write_edge("A -> B", "->", "C")


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_that_is_lit_up_is_drawn(seed: int) -> None:
    rng = Random(seed)
    plain = random_graph(rng, 7, arrows=0.4, arcs=0.3)
    odd = {name: f"{name} <&\"'> é" for name in plain.nodes}
    graph = CausalGraph.of(
        odd.values(),
        directed=[(odd[a], odd[b]) for a, b in plain.directed],
        bidirected=[(odd[a], odd[b]) for a, b in plain.bidirected],
    )
    found = find_highlight(graph, StepRecord("", ((odd["V0"],), (odd["V6"],))))
    drawn = draw_graph(graph)

    assert found is not None
    edges = set(map(unescape, re.findall(r'data-edge="(.*?)"', drawn)))
    assert edges.issuperset(found.edges)
    assert len(edges) == len(graph.directed) + len(graph.bidirected)
    assert set(map(unescape, re.findall(r'data-name="(.*?)"', drawn))) == graph.nodes
