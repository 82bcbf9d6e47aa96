import random
from itertools import combinations

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.report.graph.layout import GraphLayout, NodeBox, lay_out_graph
from boundit.report.graph.strokes import make_curves
from tests.strategies import random_graph


def drawings() -> list[tuple[CausalGraph, GraphLayout]]:
    rng = random.Random(0)
    graphs = [
        random_graph(rng, n, arrows=min(1, d / n), arcs=min(1, d / 3 / n), selection=n % 2 == 0)
        for n in (1, 2, 3, 5, 8, 13, 21, 30, 40)
        for d in (1, 3)
    ]
    graphs.append(CausalGraph.of(directed=[(f"Cause {i}", "Y") for i in range(39)]))
    graphs.append(parse("X -> Y; X <-> Y; Y -> [S]"))
    return [(graph, lay_out_graph(graph)) for graph in graphs]


DRAWINGS = drawings()


def inside(box: NodeBox, x: float, y: float) -> bool:
    return abs(x - box.x) < box.width / 2 - 1 and abs(y - box.y) < box.height / 2 - 1


def test_no_two_nodes_touch() -> None:
    for _, layout in DRAWINGS:
        for a, b in combinations(layout.boxes.values(), 2):
            apart_x = abs(a.x - b.x) - (a.width + b.width) / 2
            apart_y = abs(a.y - b.y) - (a.height + b.height) / 2
            assert max(apart_x, apart_y) > 5


def test_no_edge_passes_through_a_node() -> None:
    for _, layout in DRAWINGS:
        for way in layout.routes:
            for p, q, r, s in make_curves(way):
                for k in range(21):
                    t = k / 20
                    weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
                    x, y = (
                        sum(
                            w * point[i] for w, point in zip(weights, (p, q, r, s), strict=True)
                        )
                        for i in (0, 1)
                    )
                    assert not any(inside(box, x, y) for box in layout.boxes.values()), way
                    assert y >= 0


def test_every_edge_is_drawn_and_ends_at_its_nodes() -> None:
    for graph, layout in DRAWINGS:
        assert sorted(w.edge for w in layout.routes if not w.bidirected) == sorted(
            graph.directed
        )
        assert sorted(w.edge for w in layout.routes if w.bidirected) == sorted(graph.bidirected)
        for way in layout.routes:
            for (x, y), ends in ((way.points[0], way.edge), (way.points[-1], way.edge)):
                boxes = [layout.boxes[name] for name in ends]
                assert any(
                    abs(x - box.x) <= box.width / 2 and y in {box.top, box.bottom}
                    for box in boxes
                )


def test_arrows_point_down() -> None:
    for _, layout in DRAWINGS:
        for way in layout.routes:
            if not way.bidirected:
                cause, effect = (layout.boxes[name] for name in way.edge)
                assert cause.bottom < effect.top


def test_everything_lies_inside_the_drawing() -> None:
    for _, layout in DRAWINGS:
        for box in layout.boxes.values():
            assert box.x - box.width / 2 >= 0
            assert box.x + box.width / 2 <= layout.width
            assert 0 <= box.top <= box.bottom <= layout.height
        for way in layout.routes:
            assert all(0 <= x <= layout.width for x, _ in way.points)


def test_the_selection_node_says_what_it_is() -> None:
    assert lay_out_graph(parse("X -> [Logged]")).boxes["Logged"].lines == ("Logged", "selected")
